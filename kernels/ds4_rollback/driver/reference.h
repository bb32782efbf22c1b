// What the state must be: accepted tokens written one after the other, in plain host code.
//
// It shares the data generator with the code under test and nothing else.  Its only purpose is that
// a driver can name the first wrong byte by itself; the proof is the independent oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/data.h"

namespace driver {

/// One pooled value and how far a correct F32 computation may be from it (README.md).
struct Pooled {
  std::uint32_t compressor;
  std::uint64_t number;
  std::uint32_t column;
  double value;
  double tolerance;
};

class Reference {
 public:
  explicit Reference(const rollback::Shape& shape) : shape_(shape), state_(shape) {}

  /// Starts from the initial image of a transaction.
  void start(const Transaction& transaction, const HostState& image);
  /// Writes token `token` of the transaction at the next position.
  void write(std::uint32_t token);

  const HostState& state() const { return state_; }
  const rollback::Counters& counters() const { return counters_; }
  /// What was pooled since `start`, in the order of writing.
  const std::vector<Pooled>& pooled() const { return pooled_; }

 private:
  void write_row(std::uint32_t array, std::uint64_t row, std::uint32_t token);
  void pool(std::uint32_t compressor, std::uint64_t number);
  void shift_window(std::uint32_t array);

  rollback::Shape shape_;
  HostState state_;
  rollback::Counters counters_;
  std::uint64_t key_ = 0;
  std::vector<Pooled> pooled_;
};

}  // namespace driver
