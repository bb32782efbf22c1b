#include "cache/cache.h"

namespace rollback {
namespace {

/// Row of the ratio-4 window, or of the ring, that the token at `position` writes.
__device__ inline std::uint32_t row_of(std::uint32_t layer, std::uint64_t position) {
  return layer == 0 ? 4 + static_cast<std::uint32_t>(position % 4)
                    : static_cast<std::uint32_t>(position % 128);
}

/// One thread a column of one token's rows: compressors, raw ring, hyper-connection state.
__global__ void write_token(StateView state, TokensView tokens, std::uint32_t token,
                            std::uint64_t position) {
  std::uint32_t column = gpu::global_index();
  const std::uint16_t* half = tokens.half + token * tokens.halves;
  const float* single = tokens.single + token * tokens.floats;
  for (std::uint32_t c = 0; c < kCompressors; ++c) {
    const CompressorView& compressor = state.compressor[c];
    if (column < compressor.columns) {
      const std::uint32_t at = row_of(c / 2, position) * compressor.columns + column;
      compressor.kv[at] = half[column];
      compressor.score[at] = single[column];
      return;
    }
    column -= compressor.columns;
    half += compressor.columns;
    single += compressor.columns;
  }
  if (column < state.raw_columns) {
    const auto row = static_cast<std::uint32_t>(position % state.raw_rows);
    state.raw[row * state.raw_columns + column] = half[column];
    return;
  }
  column -= state.raw_columns;
  // Halving is exact, so that a fused multiply-add gives the same bits as two operations.
  if (column < state.hyper_columns) {
    state.hyper_connection[column] = 0.5F * state.hyper_connection[column] + single[column];
  }
}

__global__ void advance(StateView state, TokensView tokens, std::uint32_t token) {
  const std::uint32_t column = gpu::global_index();
  if (column >= state.hyper_columns) return;
  const float* single = tokens.single + (token + 1) * tokens.floats - state.hyper_columns;
  state.hyper_connection[column] = 0.5F * state.hyper_connection[column] + single[column];
}

/// One thread a column: softmax of the scores over the rows, applied to kv (README: error bound).
__global__ void pool(CompressorView compressor, std::uint32_t number) {
  const std::uint32_t column = gpu::global_index();
  if (column >= compressor.columns) return;
  float greatest = compressor.score[column];
  for (std::uint32_t row = 1; row < compressor.rows; ++row) {
    const float score = compressor.score[row * compressor.columns + column];
    if (score > greatest) greatest = score;
  }
  float weights = 0.0F;
  float sum = 0.0F;
  for (std::uint32_t row = 0; row < compressor.rows; ++row) {
    const std::uint32_t at = row * compressor.columns + column;
    const float weight = gpu::exp_nonpositive(compressor.score[at] - greatest);
    weights += weight;
    sum += weight * gpu::half_to_float(compressor.kv[at]);
  }
  compressor.compressed[(number % kCompressedRows) * compressor.columns + column] = sum / weights;
}

/// One thread an element of the current window: rows 4-7 become rows 0-3 and keep their own bytes.
__global__ void rotate(CompressorView compressor) {
  const std::uint32_t element = gpu::global_index();
  const std::uint32_t half_window = compressor.rows / 2 * compressor.columns;
  if (element >= half_window) return;
  compressor.kv[element] = compressor.kv[half_window + element];
  compressor.score[element] = compressor.score[half_window + element];
}

}  // namespace

void Cache::write(std::uint32_t token) {
  const Shape& shape = arrays_.shape();
  const StateView state = arrays_.view();
  const std::uint64_t position = counters_.position;
  const std::uint32_t columns = 2 * (shape.attention + shape.index) + shape.raw + shape.hyper_connection;
  gpu::launch<write_token>(stream_, columns, state, tokens_.view(), token, position);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    if (position % kRatios[layer] != kRatios[layer] - 1) continue;
    const auto number = static_cast<std::uint32_t>(position / kRatios[layer]);
    for (std::uint32_t c = 2 * layer; c < 2 * layer + 2; ++c) {
      const CompressorView& compressor = state.compressor[c];
      gpu::launch<pool>(stream_, compressor.columns, compressor, number);
      if (layer == 0) gpu::launch<rotate>(stream_, compressor.rows / 2 * compressor.columns, compressor);
    }
  }
  counters_ = Counters::at(position + 1);
}

void Cache::advance_hyper_connection(std::uint32_t token) {
  gpu::launch<advance>(stream_, arrays_.shape().hyper_connection, arrays_.view(), tokens_.view(), token);
}

}  // namespace rollback
