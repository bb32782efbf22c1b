// Which bytes a save captures and which of them an apply puts back: decisions only, no copies.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "cache/arrays.h"

namespace rollback {

/// Every span starts at a multiple of this many bytes of the staging memory.
inline constexpr std::size_t kSpanAlignment = 64;

/// Bytes that move as one: `bytes` of the device at `device`, `offset` bytes into the staging memory.
struct Span {
  std::byte* device;
  std::size_t offset;
  std::size_t bytes;
};

/// The spans of one save or one apply, in the order in which they are copied; never allocates.
class SpanList {
 public:
  void add(const Span& span) {
    assert(count_ < spans_.size());
    spans_[count_++] = span;
  }
  const Span* begin() const { return spans_.data(); }
  const Span* end() const { return spans_.data() + count_; }
  std::size_t size() const { return count_; }

 private:
  // ratio 4: one previous half and a row a token; ratio 128 and the raw ring: a row a token
  static constexpr std::size_t kMost = kTensors / 2 * (1 + 2 * kMaxWidth) + kMaxWidth + 1;
  std::array<Span, kMost> spans_;
  std::size_t count_ = 0;
};

/// Where the staging memory keeps what: fixed by the shape, so that it is never moved.
class StagingLayout {
 public:
  explicit StagingLayout(const Shape& shape);

  std::size_t bytes() const { return bytes_; }
  std::size_t array(std::uint32_t array) const { return start_[array]; }
  /// Place of the row of `array` that token `token` puts at risk (ratio 128 and raw ring).
  std::size_t token_row(std::uint32_t array, std::uint32_t token) const {
    return start_[array] + token * stride_[array];
  }

 private:
  std::array<std::size_t, kArrays> start_ = {};
  std::array<std::size_t, kArrays> stride_ = {};
  std::size_t bytes_ = 0;
};

/// Whether the window that `pos` is in closes at a rejected token of the transaction.
bool crosses_rejected_boundary(std::uint64_t pos, std::uint32_t width, std::uint64_t commit);

/// All rows that `width` tokens from `pos` on put at risk.
SpanList spans_at_risk(const StateArrays& arrays, const StagingLayout& layout, std::uint64_t pos,
                       std::uint32_t width);

/// The part of `spans_at_risk` that undoes all tokens from `commit` on; none if there are none.
SpanList spans_to_restore(const StateArrays& arrays, const StagingLayout& layout, std::uint64_t pos,
                          std::uint32_t width, std::uint64_t commit);

}  // namespace rollback
