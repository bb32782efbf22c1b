// Save before the verifier writes, put back what it wrote in vain.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cache/cache.h"
#include "cache/spans.h"
#include "cache/staging.h"

namespace rollback {

/// A request that the state machine does not grant; the state is as it was.
class Refused : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// How a save shall move its bytes: mode, and the stream for its copies (nullptr: the cache's own).
struct CopyRequest {
  CopyMode mode = CopyMode::sync;
  gpu::Stream* stream = nullptr;
};

/// Saves and restores one cache.  Nothing here waits for the device, except in mode `sync` and when
/// a save changes mode or stream, which first drains what the old one still has to do.
class Rollback {
 public:
  explicit Rollback(Cache& cache) : cache_(cache), layout_(cache.arrays().shape()) {}

  /// Queues the capture of all that `width` tokens from `pos` on put at risk.  Returns the mode that
  /// is really used, which every later `apply` derives its own copies from.  Throws Refused for a
  /// position that is not the cache's or a width above kMaxWidth.
  CopyMode save(std::uint64_t pos, std::uint32_t width, const CopyRequest& request);

  /// Queues the undoing of all tokens from `commit` on.  May be repeated: staging keeps its bytes.
  /// Throws Refused before any save, for a `commit` outside of the transaction, and for one inside of
  /// a transaction wider than kMaxNarrow, whose rows cannot be told apart (`commit_prefix` can).
  void apply(std::uint64_t commit);

  /// Keeps the first `accepted` tokens of the saved transaction, whatever its width.
  void commit_prefix(std::uint32_t accepted);

  /// What was observed of every staging buffer so far, the present one included; call after a
  /// synchronisation.
  std::vector<BufferObservation> buffers() const;

 private:
  struct Saved {
    std::uint64_t pos;
    std::uint32_t width;
    CopyMode mode;
    gpu::Stream* stream;
  };

  void prepare_staging(CopyMode mode, gpu::Stream* stream);
  void move(const SpanList& spans, gpu::Direction direction);

  Cache& cache_;
  StagingLayout layout_;
  std::unique_ptr<Staging> staging_;
  std::optional<Saved> saved_;
  gpu::Event before_copies_;
  gpu::Event after_copies_;
  std::vector<BufferObservation> released_;
};

}  // namespace rollback
