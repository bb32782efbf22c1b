#include "driver/reference.h"

#include <algorithm>
#include <cmath>

namespace driver {

using rollback::kHyperConnection;
using rollback::kRawRing;
using rollback::kTensors;

void Reference::start(const Transaction& transaction, const HostState& image) {
  key_ = data_key(transaction);
  state_ = image;
  counters_.position = transaction.pos;
  counters_.compressed = {transaction.pos / 4, transaction.pos / 128};
  pooled_.clear();
}

void Reference::write(std::uint32_t token) {
  const std::uint64_t position = counters_.position;
  for (std::uint32_t array = 0; array < 4; ++array) write_row(array, 4 + position % 4, token);
  for (std::uint32_t array = 4; array < kTensors; ++array) write_row(array, position % 128, token);
  write_row(kRawRing, position % shape_.raw_rows, token);
  auto& hyper = state_.single[kHyperConnection / 2];
  for (std::uint32_t column = 0; column < shape_.hyper_connection; ++column) {
    const float input = single_value(element(key_, kTokenStream + kHyperConnection, token, column));
    hyper[column] = hyper[column] / 2 + input;
  }
  ++counters_.position;
  if (position % 4 == 3) {
    for (std::uint32_t compressor : {0U, 1U}) pool(compressor, position / 4);
    for (std::uint32_t array = 0; array < 4; ++array) shift_window(array);
    ++counters_.compressed[0];
  }
  if (position % 128 == 127) {
    for (std::uint32_t compressor : {2U, 3U}) pool(compressor, position / 128);
    ++counters_.compressed[1];
  }
}

void Reference::write_row(std::uint32_t array, std::uint64_t row, std::uint32_t token) {
  const std::uint32_t columns = shape_.columns(array);
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::uint64_t random = element(key_, kTokenStream + array, token, column);
    if (array % 2 == 0) {
      state_.half[array / 2][row * columns + column] = half_bits(random);
    } else {
      state_.single[array / 2][row * columns + column] = single_value(random);
    }
  }
}

void Reference::pool(std::uint32_t compressor, std::uint64_t number) {
  const auto& kv = state_.half[compressor];
  const auto& score = state_.single[compressor];
  const std::uint32_t columns = shape_.columns(2 * compressor);
  const std::uint32_t rows = shape_.rows(2 * compressor);
  for (std::uint32_t column = 0; column < columns; ++column) {
    double greatest = score[column];
    for (std::uint32_t row = 1; row < rows; ++row) {
      greatest = std::max(greatest, double{score[row * columns + column]});
    }
    double weights = 0;
    double sum = 0;
    double magnitude = 0;
    for (std::uint32_t row = 0; row < rows; ++row) {
      const double weight = std::exp(score[row * columns + column] - greatest);
      const double value = gpu::half_to_float(kv[row * columns + column]);
      weights += weight;
      sum += weight * value;
      magnitude += weight * std::abs(value);
    }
    const double tolerance = (2.0 * rows + 32.0) * 0x1p-24 * magnitude / weights;
    pooled_.push_back({compressor, number, column, sum / weights, tolerance});
  }
}

void Reference::shift_window(std::uint32_t array) {
  const std::size_t half_window = std::size_t{4} * shape_.columns(array);
  const auto shift = [half_window](auto& elements) {
    std::copy_n(elements.begin() + static_cast<std::ptrdiff_t>(half_window), half_window, elements.begin());
  };
  if (array % 2 == 0) {
    shift(state_.half[array / 2]);
  } else {
    shift(state_.single[array / 2]);
  }
}

}  // namespace driver
