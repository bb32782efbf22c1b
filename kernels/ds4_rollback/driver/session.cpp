#include "driver/session.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace driver {
namespace {

using rollback::kArrays;
using rollback::kCompressedRows;

std::string hexadecimal(std::uint32_t bits, std::size_t bytes) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*" PRIx32, static_cast<int>(2 * bytes), bits);
  return text;
}

std::string decimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string tensor_name(std::uint32_t array) {
  if (array == rollback::kRawRing) return "raw";
  if (array == rollback::kHyperConnection) return "hc";
  return std::to_string(array);
}

}  // namespace

Session::Session(const rollback::Shape& shape)
    : shape_(shape),
      cache_(shape, main_),
      rollback_(std::make_unique<rollback::Rollback>(cache_)),
      image_(shape),
      reference_(shape),
      got_(shape) {}

/// Queued work must not outlive the memory that it uses, also where an error ends the run.
Session::~Session() {
  try {
    gpu::synchronize_device();
  } catch (const gpu::Error&) {
    return;  // the error that ended the run has already been reported
  }
}

void Session::start(const Transaction& transaction) {
  transaction_ = transaction;
  recorded_ = "none";
  statements_.clear();
  generate_image(image_, shape_, data_key(transaction));
  for (std::uint32_t array = 0; array < kArrays; ++array) {
    gpu::copy_async(cache_.arrays().data(array), image_.data(array), shape_.bytes(array),
                    gpu::Direction::to_device, main_);
  }
  reference_.start(transaction, image_);
  for (std::uint32_t token = 0; token < transaction.accepted; ++token) reference_.write(token);
  cache_.set_position(transaction.pos);
  observed_ = cache_.counters();
}

void Session::make_tokens() {
  generate_tokens(cache_.tokens().view(), shape_, data_key(transaction_), transaction_.width, main_);
}

void Session::bring_tokens() {
  upload_tokens(cache_.tokens().view(), shape_, data_key(transaction_), transaction_.width, main_);
}

void Session::save(const rollback::CopyRequest& request) {
  recorded_ = word(rollback_->save(transaction_.pos, transaction_.width, request));
}

void Session::write() {
  for (std::uint32_t token = 0; token < transaction_.width; ++token) cache_.write(token);
}

void Session::commit(std::uint32_t accepted) {
  gpu::before_restore();
  rollback_->commit_prefix(accepted);
  observed_ = cache_.counters();
}

void Session::require(bool holds, const std::string& statement, const std::string& expected,
                      const std::string& got) {
  if (!holds) statements_.push_back({statement, 0, 0, expected, got});
}

Outcome Session::finish() {
  gpu::synchronize_device();
  for (std::uint32_t array = 0; array < kArrays; ++array) {
    gpu::copy(got_.data(array), cache_.arrays().data(array), shape_.bytes(array), gpu::Direction::to_host,
              main_);
  }
  Outcome outcome;
  outcome.recorded = recorded_;
  outcome.digests = digests(got_, observed_);
  compare_arrays(outcome.mismatches);
  compare_counters(outcome.mismatches);
  compare_pooled(outcome.mismatches);
  for (Mismatch& statement : statements_) outcome.mismatches.push_back(std::move(statement));
  return outcome;
}

void Session::renew_rollback() {
  gpu::synchronize_device();
  buffers_ = buffers();
  rollback_ = std::make_unique<rollback::Rollback>(cache_);
}

std::vector<rollback::BufferObservation> Session::buffers() const {
  std::vector<rollback::BufferObservation> all = buffers_;
  for (const rollback::BufferObservation& seen : rollback_->buffers()) all.push_back(seen);
  return all;
}

void Session::compare_arrays(std::vector<Mismatch>& found) const {
  const HostState& expected = reference_.state();
  for (std::uint32_t array = 0; array < kArrays; ++array) {
    if (std::memcmp(expected.data(array), got_.data(array), shape_.bytes(array)) == 0) continue;
    const std::size_t bytes = rollback::Shape::element_bytes(array);
    for (std::uint32_t row = 0; row < shape_.rows(array); ++row) {
      for (std::uint32_t column = 0; column < shape_.columns(array); ++column) {
        const std::size_t at = std::size_t{row} * shape_.columns(array) + column;
        const std::uint32_t want = expected.bits(array, at);
        const std::uint32_t have = got_.bits(array, at);
        if (want == have) continue;
        found.push_back(
            {tensor_name(array), row, column, hexadecimal(want, bytes), hexadecimal(have, bytes)});
      }
    }
  }
}

void Session::compare_counters(std::vector<Mismatch>& found) const {
  const auto expected = listed(reference_.counters());
  const auto got = listed(observed_);
  for (std::uint32_t column = 0; column < expected.size(); ++column) {
    if (expected[column] == got[column]) continue;
    found.push_back(
        {"counters", 0, column, std::to_string(expected[column]), std::to_string(got[column])});
  }
}

void Session::compare_pooled(std::vector<Mismatch>& found) {
  std::vector<float> rows;
  std::uint32_t fetched = rollback::kCompressors;
  for (const Pooled& pooled : reference_.pooled()) {
    const std::uint32_t columns = shape_.compressor_columns(pooled.compressor);
    if (pooled.compressor != fetched) {
      fetched = pooled.compressor;
      rows.resize(std::size_t{kCompressedRows} * columns);
      gpu::copy(rows.data(), cache_.arrays().compressed(fetched), rows.size() * sizeof rows[0],
                gpu::Direction::to_host, main_);
    }
    const auto row = static_cast<std::uint32_t>(pooled.number % kCompressedRows);
    const double got = rows[row * columns + pooled.column];
    // Written so that a NaN is a mismatch.
    if (std::abs(got - pooled.value) <= pooled.tolerance) continue;
    found.push_back({"compressed" + std::to_string(pooled.compressor), row, pooled.column,
                     decimal(pooled.value), decimal(got)});
  }
}

}  // namespace driver
