// The shape of the state and its memory on the device.
//
// The state is ten arrays.  The first eight are the compressors' tensors in the order that names
// failures: ratio 4 attention kv, attention score, index kv, index score, then the same for ratio
// 128.  Array 8 is the raw ring, array 9 the hyper-connection state.  Even arrays hold IEEE halves
// (as bits), odd ones floats; all are row-major.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu/gpu.h"

namespace rollback {

inline constexpr std::uint32_t kCompressors = 4;
inline constexpr std::uint32_t kTensors = 2 * kCompressors;
inline constexpr std::uint32_t kRawRing = 8;
inline constexpr std::uint32_t kHyperConnection = 9;
inline constexpr std::uint32_t kArrays = 10;

inline constexpr std::uint32_t kLayers = 2;
inline constexpr std::array<std::uint32_t, kLayers> kRatios = {4, 128};

inline constexpr std::uint32_t kMaxWidth = 6;      ///< tokens of one transaction that staging holds
inline constexpr std::uint32_t kMaxNarrow = 4;     ///< beyond it two tokens share a row of the window
inline constexpr std::uint32_t kCompressedRows = 4;  ///< newest pooled rows kept of each compressor

/// Columns of the arrays; the defaults make every row of the sweep differ in bytes from its neighbours.
struct Shape {
  std::uint32_t attention = 8;
  std::uint32_t index = 3;
  std::uint32_t raw_rows = 10;
  std::uint32_t raw = 5;
  std::uint32_t hyper_connection = 12;

  std::uint32_t compressor_columns(std::uint32_t compressor) const {
    return compressor % 2 == 0 ? attention : index;
  }
  std::uint32_t rows(std::uint32_t array) const {
    if (array == kRawRing) return raw_rows;
    if (array == kHyperConnection) return 1;
    return array < kTensors / 2 ? 2 * kRatios[0] : kRatios[1];
  }
  std::uint32_t columns(std::uint32_t array) const {
    if (array == kRawRing) return raw;
    if (array == kHyperConnection) return hyper_connection;
    return compressor_columns(array / 2);
  }
  static constexpr std::size_t element_bytes(std::uint32_t array) { return array % 2 == 0 ? 2 : 4; }
  std::size_t row_bytes(std::uint32_t array) const { return columns(array) * element_bytes(array); }
  std::size_t bytes(std::uint32_t array) const { return rows(array) * row_bytes(array); }

  /// Halves, or floats, of one token: its row of every even, or odd, array.
  std::uint32_t token_halves() const { return 2 * (attention + index) + raw; }
  std::uint32_t token_floats() const { return 2 * (attention + index) + hyper_connection; }
};

/// One compressor as kernels see it.
struct CompressorView {
  std::uint16_t* kv;
  float* score;
  float* compressed;  ///< [kCompressedRows][columns], addressed by number modulo kCompressedRows
  std::uint32_t rows;
  std::uint32_t columns;
};

/// The state as kernels see it.
struct StateView {
  CompressorView compressor[kCompressors];
  std::uint16_t* raw;
  float* hyper_connection;
  std::uint32_t raw_rows;
  std::uint32_t raw_columns;
  std::uint32_t hyper_columns;
};

/// Candidate tokens as kernels see them: [kMaxWidth][halves] and [kMaxWidth][floats], where a token's
/// rows of the even, or odd, arrays follow each other in the order of the arrays.
struct TokensView {
  std::uint16_t* half;
  float* single;
  std::uint32_t halves;
  std::uint32_t floats;
};

/// The arrays in device memory, each an allocation of its own, so that a row too many is seen.
class StateArrays {
 public:
  explicit StateArrays(const Shape& shape);

  std::byte* data(std::uint32_t array) const { return static_cast<std::byte*>(arrays_[array].data()); }
  std::byte* row(std::uint32_t array, std::uint32_t row) const {
    return data(array) + row * shape_.row_bytes(array);
  }
  float* compressed(std::uint32_t compressor) const {
    return static_cast<float*>(compressed_[compressor].data());
  }
  const Shape& shape() const { return shape_; }
  StateView view() const;

 private:
  Shape shape_;
  std::array<gpu::DeviceMemory, kArrays> arrays_;
  std::array<gpu::DeviceMemory, kCompressors> compressed_;
};

/// Room for the candidate tokens of one transaction in device memory.
class Tokens {
 public:
  explicit Tokens(const Shape& shape);
  TokensView view() const;

 private:
  std::uint32_t halves_;
  std::uint32_t floats_;
  gpu::DeviceMemory half_;
  gpu::DeviceMemory single_;
};

}  // namespace rollback
