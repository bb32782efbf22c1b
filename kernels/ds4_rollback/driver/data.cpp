#include "driver/data.h"

#include <cstring>

namespace driver {
namespace {

using rollback::kArrays;
using rollback::Shape;
using rollback::TokensView;

/// Where in a token's halves, or floats, the element `at` belongs: array and column.
struct Place {
  std::uint32_t array;
  std::uint32_t column;
};

__host__ __device__ inline Place place(const Shape& shape, bool single, std::uint32_t at) {
  std::uint32_t array = single ? 1 : 0;
  for (std::uint32_t c = 0; c < rollback::kCompressors; ++c, array += 2) {
    const std::uint32_t columns = c % 2 == 0 ? shape.attention : shape.index;
    if (at < columns) return {array, at};
    at -= columns;
  }
  return {array, at};
}

__host__ __device__ inline void fill_element(const TokensView& tokens, const Shape& shape, std::uint64_t key,
                                             std::uint32_t count, std::uint32_t at) {
  const std::uint32_t halves = count * tokens.halves;
  if (at < halves) {
    const std::uint32_t token = at / tokens.halves;
    const Place where = place(shape, false, at % tokens.halves);
    tokens.half[at] = half_bits(element(key, kTokenStream + where.array, token, where.column));
    return;
  }
  at -= halves;
  if (at >= count * tokens.floats) return;
  const std::uint32_t token = at / tokens.floats;
  const Place where = place(shape, true, at % tokens.floats);
  tokens.single[at] = single_value(element(key, kTokenStream + where.array, token, where.column));
}

__global__ void fill_tokens(TokensView tokens, Shape shape, std::uint64_t key, std::uint32_t count) {
  fill_element(tokens, shape, key, count, gpu::global_index());
}

template <class Element>
std::uint64_t digest(const Element* elements, std::size_t count) {
  std::uint64_t sum = 0;
  std::uint64_t place_key = 0;
  for (std::size_t at = 0; at < count; ++at) {
    place_key += kGamma;
    sum += mix(place_key ^ std::uint64_t{elements[at]});
  }
  return sum;
}

std::uint64_t digest(const std::vector<float>& elements) {
  std::uint64_t sum = 0;
  std::uint64_t place_key = 0;
  for (const float value : elements) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    place_key += kGamma;
    sum += mix(place_key ^ std::uint64_t{bits});
  }
  return sum;
}

}  // namespace

std::string Transaction::joined(char separator) const {
  std::string text = "pos=" + std::to_string(pos) + separator + "q=" + std::to_string(width) + separator;
  if (twice) text += "first=" + std::to_string(first) + separator;
  return text + "accepted=" + std::to_string(accepted);
}

HostState::HostState(const Shape& shape) {
  for (std::uint32_t array = 0; array < kArrays; ++array) {
    const std::size_t elements = std::size_t{shape.rows(array)} * shape.columns(array);
    if (array % 2 == 0) {
      half[array / 2].resize(elements);
    } else {
      single[array / 2].resize(elements);
    }
  }
}

void* HostState::data(std::uint32_t array) {
  return array % 2 == 0 ? static_cast<void*>(half[array / 2].data()) : single[array / 2].data();
}

const void* HostState::data(std::uint32_t array) const {
  return array % 2 == 0 ? static_cast<const void*>(half[array / 2].data()) : single[array / 2].data();
}

std::uint32_t HostState::bits(std::uint32_t array, std::size_t at) const {
  if (array % 2 == 0) return half[array / 2][at];
  std::uint32_t bits;
  std::memcpy(&bits, &single[array / 2][at], sizeof bits);
  return bits;
}

void generate_image(HostState& state, const Shape& shape, std::uint64_t key) {
  for (std::uint32_t array = 0; array < kArrays; ++array) {
    const std::uint32_t rows = shape.rows(array);
    const std::uint32_t columns = shape.columns(array);
    std::uint16_t* half = array % 2 == 0 ? state.half[array / 2].data() : nullptr;
    float* single = array % 2 == 0 ? nullptr : state.single[array / 2].data();
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t column = 0; column < columns; ++column) {
        const std::uint64_t random = element(key, array, row, column);
        if (half != nullptr) {
          *half++ = half_bits(random);
        } else {
          *single++ = single_value(random);
        }
      }
    }
  }
}

void generate_tokens(const TokensView& tokens, const Shape& shape, std::uint64_t key, std::uint32_t count,
                     gpu::Stream& stream) {
  gpu::launch<fill_tokens>(stream, count * (tokens.halves + tokens.floats), tokens, shape, key, count);
}

void upload_tokens(const TokensView& tokens, const Shape& shape, std::uint64_t key, std::uint32_t count,
                   gpu::Stream& stream) {
  std::vector<std::uint16_t> half(std::size_t{count} * tokens.halves);
  std::vector<float> single(std::size_t{count} * tokens.floats);
  const TokensView host{half.data(), single.data(), tokens.halves, tokens.floats};
  for (std::uint32_t at = 0; at < count * (tokens.halves + tokens.floats); ++at) {
    fill_element(host, shape, key, count, at);
  }
  gpu::copy(tokens.half, half.data(), half.size() * sizeof half[0], gpu::Direction::to_device, stream);
  gpu::copy(tokens.single, single.data(), single.size() * sizeof single[0], gpu::Direction::to_device,
            stream);
}

std::array<std::uint64_t, 3> listed(const rollback::Counters& counters) {
  return {counters.position, counters.compressed[0], counters.compressed[1]};
}

std::array<std::uint64_t, kDigests> digests(const HostState& state, const rollback::Counters& counters) {
  std::array<std::uint64_t, kDigests> all{};
  for (std::uint32_t array = 0; array < kArrays; ++array) {
    const auto& half = state.half[array / 2];
    all[array] = array % 2 == 0 ? digest(half.data(), half.size()) : digest(state.single[array / 2]);
  }
  const std::array<std::uint64_t, 3> counts = listed(counters);
  all[kArrays] = digest(counts.data(), counts.size());
  return all;
}

}  // namespace driver
