// Arithmetic that kernels need, written out: the same source on every backend, no device library.
#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/gpu.h"

namespace gpu {

/// The float with these bits.
__host__ __device__ inline float float_of(std::uint32_t bits) noexcept {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// A finite IEEE half, given by its bits, as a float; exact, subnormals included.
__host__ __device__ inline float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fU;
  const std::uint32_t mantissa = half & 0x3ffU;
  if (exponent != 0) return float_of(sign | ((exponent + 112U) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

/// exp(x) for x <= 0, and 0 below -87; relative error under 2^-22 (tests/kernels measures it).
///
/// x = n ln 2 + r with |r| <= 0.35, where ln 2 is split so that n times its first part is exact;
/// exp(r) is its Taylor polynomial of degree 7, whose remainder is below 2^-27.
__host__ __device__ inline float exp_nonpositive(float x) noexcept {
  if (!(x >= -87.0F)) return 0.0F;
  const int n = static_cast<int>(x * 1.44269504F - 0.5F);
  const float steps = static_cast<float>(n);
  const float r = (x - steps * 0.693359375F) + steps * 2.12194440e-4F;
  float sum = 1.0F / 5040.0F;
  sum = sum * r + 1.0F / 720.0F;
  sum = sum * r + 1.0F / 120.0F;
  sum = sum * r + 1.0F / 24.0F;
  sum = sum * r + 1.0F / 6.0F;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  return sum * float_of(static_cast<std::uint32_t>(n + 127) << 23);
}

}  // namespace gpu
