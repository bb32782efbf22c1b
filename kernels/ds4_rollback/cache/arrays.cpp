#include "cache/arrays.h"

#include <utility>

namespace rollback {
namespace {

template <std::size_t... Index>
std::array<gpu::DeviceMemory, kArrays> allocate_arrays(const Shape& shape, std::index_sequence<Index...>) {
  return {gpu::DeviceMemory(shape.bytes(static_cast<std::uint32_t>(Index)))...};
}

template <std::size_t... Index>
std::array<gpu::DeviceMemory, kCompressors> allocate_compressed(const Shape& shape,
                                                                std::index_sequence<Index...>) {
  return {gpu::DeviceMemory(kCompressedRows * sizeof(float) *
                            shape.compressor_columns(static_cast<std::uint32_t>(Index)))...};
}

}  // namespace

StateArrays::StateArrays(const Shape& shape)
    : shape_(shape),
      arrays_(allocate_arrays(shape, std::make_index_sequence<kArrays>())),
      compressed_(allocate_compressed(shape, std::make_index_sequence<kCompressors>())) {}

StateView StateArrays::view() const {
  StateView view{};
  for (std::uint32_t c = 0; c < kCompressors; ++c) {
    view.compressor[c] = {static_cast<std::uint16_t*>(arrays_[2 * c].data()),
                          static_cast<float*>(arrays_[2 * c + 1].data()), compressed(c),
                          shape_.rows(2 * c), shape_.columns(2 * c)};
  }
  view.raw = static_cast<std::uint16_t*>(arrays_[kRawRing].data());
  view.hyper_connection = static_cast<float*>(arrays_[kHyperConnection].data());
  view.raw_rows = shape_.raw_rows;
  view.raw_columns = shape_.raw;
  view.hyper_columns = shape_.hyper_connection;
  return view;
}

Tokens::Tokens(const Shape& shape)
    : halves_(shape.token_halves()),
      floats_(shape.token_floats()),
      half_(kMaxWidth * halves_ * sizeof(std::uint16_t)),
      single_(kMaxWidth * floats_ * sizeof(float)) {}

TokensView Tokens::view() const {
  return {static_cast<std::uint16_t*>(half_.data()), static_cast<float*>(single_.data()), halves_, floats_};
}

}  // namespace rollback
