#include "cache/spans.h"

namespace rollback {
namespace {

constexpr std::uint32_t kWindowTensors = kTensors / 2;  // arrays 0-3 belong to ratio 4, 4-7 to 128

std::size_t aligned(std::size_t bytes) {
  return (bytes + kSpanAlignment - 1) / kSpanAlignment * kSpanAlignment;
}

/// Row of a ratio-128 tensor or of the raw ring that the token at `position` writes.
std::uint32_t ring_row(const Shape& shape, std::uint32_t array, std::uint64_t position) {
  return static_cast<std::uint32_t>(position % shape.rows(array));
}

void add_ring_rows(SpanList& spans, const StateArrays& arrays, const StagingLayout& layout,
                   std::uint32_t array, std::uint64_t pos, std::uint32_t first, std::uint32_t width) {
  const Shape& shape = arrays.shape();
  for (std::uint32_t token = first; token < width; ++token) {
    spans.add({arrays.row(array, ring_row(shape, array, pos + token)), layout.token_row(array, token),
               shape.row_bytes(array)});
  }
}

}  // namespace

StagingLayout::StagingLayout(const Shape& shape) {
  for (std::uint32_t array = 0; array < kArrays; ++array) {
    const bool by_token = array == kRawRing || (array >= kWindowTensors && array < kTensors);
    start_[array] = bytes_;
    stride_[array] = aligned(shape.row_bytes(array));
    bytes_ += by_token ? kMaxWidth * stride_[array] : aligned(shape.bytes(array));
  }
}

bool crosses_rejected_boundary(std::uint64_t pos, std::uint32_t width, std::uint64_t commit) {
  const std::uint64_t boundary = pos + 3 - pos % 4;
  return boundary < pos + width && boundary >= commit;
}

SpanList spans_at_risk(const StateArrays& arrays, const StagingLayout& layout, std::uint64_t pos,
                       std::uint32_t width) {
  const Shape& shape = arrays.shape();
  SpanList spans;
  for (std::uint32_t tensor = 0; tensor < kWindowTensors; ++tensor) {
    spans.add({arrays.data(tensor), layout.array(tensor), shape.bytes(tensor)});
  }
  for (std::uint32_t tensor = kWindowTensors; tensor < kTensors; ++tensor) {
    add_ring_rows(spans, arrays, layout, tensor, pos, 0, width);
  }
  add_ring_rows(spans, arrays, layout, kRawRing, pos, 0, width);
  spans.add({arrays.data(kHyperConnection), layout.array(kHyperConnection), shape.bytes(kHyperConnection)});
  return spans;
}

SpanList spans_to_restore(const StateArrays& arrays, const StagingLayout& layout, std::uint64_t pos,
                          std::uint32_t width, std::uint64_t commit) {
  const Shape& shape = arrays.shape();
  const auto accepted = static_cast<std::uint32_t>(commit - pos);
  const bool previous = crosses_rejected_boundary(pos, width, commit);
  SpanList spans;
  for (std::uint32_t tensor = 0; tensor < kWindowTensors; ++tensor) {
    const std::size_t row_bytes = shape.row_bytes(tensor);
    if (previous) spans.add({arrays.data(tensor), layout.array(tensor), 4 * row_bytes});
    for (std::uint32_t token = accepted; token < width; ++token) {
      const auto row = 4 + static_cast<std::uint32_t>((pos + token) % 4);
      spans.add({arrays.row(tensor, row), layout.array(tensor) + row * row_bytes, row_bytes});
    }
  }
  for (std::uint32_t tensor = kWindowTensors; tensor < kTensors; ++tensor) {
    add_ring_rows(spans, arrays, layout, tensor, pos, accepted, width);
  }
  add_ring_rows(spans, arrays, layout, kRawRing, pos, accepted, width);
  if (accepted < width) {
    spans.add({arrays.data(kHyperConnection), layout.array(kHyperConnection), shape.bytes(kHyperConnection)});
  }
  return spans;
}

}  // namespace rollback
