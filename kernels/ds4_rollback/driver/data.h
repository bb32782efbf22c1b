// Where all bytes of a transaction come from, and the digests that stand for them (README.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/cache.h"

namespace driver {

/// One verification: `width` tokens from `pos` on, of which `accepted` stay.  `first` is the number of
/// tokens that an earlier, larger commit keeps, where a case commits twice.
struct Transaction {
  std::uint64_t pos = 0;
  std::uint32_t width = 0;
  std::uint32_t accepted = 0;
  std::uint32_t first = 0;
  bool twice = false;

  std::string joined(char separator) const;
  std::string key() const { return joined(','); }
};

inline constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15U;

/// The finaliser of splitmix64: a bijection of 64 bits.
__host__ __device__ inline std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The generator's key of a transaction.
inline std::uint64_t data_key(const Transaction& transaction) {
  std::uint64_t key = 0x6473345f726f6c6cU;
  for (const std::uint64_t part : {transaction.pos, std::uint64_t{transaction.width},
                                   std::uint64_t{transaction.accepted}}) {
    key = mix(key + (part + 1) * kGamma);
  }
  return key;
}

/// What the generator is asked for: the initial image of array `a` is stream a, token rows are stream
/// kTokenStream + a with the token's number as the row.
inline constexpr std::uint32_t kTokenStream = 16;

__host__ __device__ inline std::uint64_t element(std::uint64_t key, std::uint32_t stream, std::uint32_t row,
                                                 std::uint32_t column) noexcept {
  const std::uint64_t counter =
      (std::uint64_t{stream} << 48) | (std::uint64_t{row} << 24) | std::uint64_t{column};
  return mix(key + (counter + 1) * kGamma);
}

/// The bits of a finite half: the upper 16 bits, with the upper exponent bit cleared if all five are set.
__host__ __device__ inline std::uint16_t half_bits(std::uint64_t random) noexcept {
  const auto bits = static_cast<std::uint32_t>(random >> 48);
  return static_cast<std::uint16_t>((bits & 0x7c00U) == 0x7c00U ? bits ^ 0x4000U : bits);
}

/// A float in [-8, 8): the upper 24 bits as a signed multiple of 2^-20; exact.
__host__ __device__ inline float single_value(std::uint64_t random) noexcept {
  return static_cast<float>(static_cast<std::int32_t>(random >> 40) - (1 << 23)) * 0x1p-20F;
}

/// The ten arrays in host memory: element `[row * columns + column]` of array 2i is in half[i], of array
/// 2i+1 in single[i].
struct HostState {
  explicit HostState(const rollback::Shape& shape);

  std::array<std::vector<std::uint16_t>, rollback::kArrays / 2> half;
  std::array<std::vector<float>, rollback::kArrays / 2> single;

  void* data(std::uint32_t array);
  const void* data(std::uint32_t array) const;
  /// The bits of one element.
  std::uint32_t bits(std::uint32_t array, std::size_t at) const;
};

/// Fills the state with the initial image of a key.
void generate_image(HostState& state, const rollback::Shape& shape, std::uint64_t key);

/// Queues a kernel that fills the first `count` candidate tokens.
void generate_tokens(const rollback::TokensView& tokens, const rollback::Shape& shape, std::uint64_t key,
                     std::uint32_t count, gpu::Stream& stream);

/// The same tokens, computed on the host and uploaded; blocks.
void upload_tokens(const rollback::TokensView& tokens, const rollback::Shape& shape, std::uint64_t key,
                   std::uint32_t count, gpu::Stream& stream);

/// Position and counts as a list of three.
std::array<std::uint64_t, 3> listed(const rollback::Counters& counters);

inline constexpr std::uint32_t kDigests = rollback::kArrays + 1;

/// Digests of the ten arrays and of the counters, in this order.
std::array<std::uint64_t, kDigests> digests(const HostState& state, const rollback::Counters& counters);

}  // namespace driver
