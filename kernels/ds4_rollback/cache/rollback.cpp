#include "cache/rollback.h"

#include <string>

namespace rollback {

CopyMode Rollback::save(std::uint64_t pos, std::uint32_t width, const CopyRequest& request) {
  if (width > kMaxWidth) {
    throw Refused("save of " + std::to_string(width) + " tokens: at most " + std::to_string(kMaxWidth));
  }
  if (pos != cache_.counters().position) {
    throw Refused("save at " + std::to_string(pos) + ": the position is " +
                  std::to_string(cache_.counters().position));
  }
  gpu::Stream* stream = request.stream != nullptr ? request.stream : &cache_.stream();
  prepare_staging(request.mode, stream);
  saved_ = Saved{pos, width, staging_->recorded(), stream};
  move(spans_at_risk(cache_.arrays(), layout_, pos, width), gpu::Direction::to_host);
  return saved_->mode;
}

void Rollback::apply(std::uint64_t commit) {
  if (!saved_) throw Refused("apply before any save");
  const auto [pos, width, mode, stream] = *saved_;
  if (commit < pos || commit > pos + width) {
    throw Refused("apply of " + std::to_string(commit) + ": the transaction is " + std::to_string(pos) +
                  " to " + std::to_string(pos + width));
  }
  if (width > kMaxNarrow && commit != pos && commit != pos + width) {
    throw Refused("apply inside a transaction of " + std::to_string(width) + " tokens, which share rows");
  }
  move(spans_to_restore(cache_.arrays(), layout_, pos, width, commit), gpu::Direction::to_device);
  // What was put back is the state before the first token: the accepted ones change it once more.
  const auto again = commit != pos + width ? static_cast<std::uint32_t>(commit - pos) : 0;
  for (std::uint32_t token = 0; token < again; ++token) cache_.advance_hyper_connection(token);
  cache_.set_position(commit);
}

void Rollback::commit_prefix(std::uint32_t accepted) {
  if (!saved_) throw Refused("commit before any save");
  const auto [pos, width, mode, stream] = *saved_;
  if (width <= kMaxNarrow || accepted == width) {
    apply(pos + accepted);
    return;
  }
  if (accepted > width) throw Refused("commit of more tokens than were saved");
  apply(pos);
  for (std::uint32_t token = 0; token < accepted; ++token) cache_.write(token);
}

void Rollback::prepare_staging(CopyMode mode, gpu::Stream* stream) {
  const bool other_staging = staging_ != nullptr && staging_->requested() != mode;
  const bool other_stream = saved_ && saved_->stream != stream;
  if (other_staging || other_stream) saved_->stream->synchronize();
  if (other_staging) {
    released_.push_back(staging_->observe());
    staging_.reset();
  }
  if (staging_ == nullptr) staging_ = std::make_unique<Staging>(layout_.bytes(), mode);
}

/// Every copy of every mode is made here, on the stream that the save recorded.
void Rollback::move(const SpanList& spans, gpu::Direction direction) {
  gpu::Stream& main = cache_.stream();
  gpu::Stream& stream = *saved_->stream;
  const bool elsewhere = &stream != &main;
  if (elsewhere) {
    before_copies_.record(main);
    stream.wait(before_copies_);
  }
  for (const Span& span : spans) {
    std::byte* staged = staging_->data() + span.offset;
    const bool to_host = direction == gpu::Direction::to_host;
    void* to = to_host ? staged : span.device;
    const void* from = to_host ? span.device : staged;
    if (saved_->mode == CopyMode::sync) {
      gpu::copy(to, from, span.bytes, direction, stream);
    } else {
      gpu::copy_async(to, from, span.bytes, direction, stream);
    }
  }
  if (elsewhere) {
    after_copies_.record(stream);
    main.wait(after_copies_);
  }
}

std::vector<BufferObservation> Rollback::buffers() const {
  std::vector<BufferObservation> all = released_;
  if (staging_ != nullptr) all.push_back(staging_->observe());
  return all;
}

}  // namespace rollback
