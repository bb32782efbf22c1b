// The state machine: tokens go in one after the other, windows are pooled and rotate.
#pragma once

#include <array>
#include <cstdint>

#include "cache/arrays.h"

namespace rollback {

/// What the host knows of the state without asking the device.
struct Counters {
  std::uint64_t position = 0;                          ///< committed and speculative tokens so far
  std::array<std::uint64_t, kLayers> compressed = {};  ///< pooled rows of each layer

  static Counters at(std::uint64_t position) {
    return {position, {position / kRatios[0], position / kRatios[1]}};
  }
};

/// The state of one sequence, on one device.
class Cache {
 public:
  Cache(const Shape& shape, gpu::Stream& stream) : stream_(stream), arrays_(shape), tokens_(shape) {}

  /// Queues the writing of candidate `token` at the current position, which advances by one.
  void write(std::uint32_t token);

  /// Queues just the change that candidate `token` makes to the hyper-connection state.
  void advance_hyper_connection(std::uint32_t token);

  /// Sets position and counts, at once.
  void set_position(std::uint64_t position) { counters_ = Counters::at(position); }

  const Counters& counters() const { return counters_; }
  const StateArrays& arrays() const { return arrays_; }
  const Tokens& tokens() const { return tokens_; }
  gpu::Stream& stream() const { return stream_; }

 private:
  gpu::Stream& stream_;
  StateArrays arrays_;
  Tokens tokens_;
  Counters counters_;
};

}  // namespace rollback
