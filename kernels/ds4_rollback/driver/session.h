// One device, one cache, and the steps that every case is made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/rollback.h"
#include "driver/data.h"
#include "driver/reference.h"

namespace driver {

/// One place that is not as it must be.
struct Mismatch {
  std::string tensor;  ///< "0" to "7", "raw", "hc", "counters", "compressed0" to "3", or a statement's name
  std::uint32_t row;
  std::uint32_t column;
  std::string expected;
  std::string got;
};

/// What is known after a transaction.
struct Outcome {
  std::string recorded;
  std::array<std::uint64_t, kDigests> digests{};
  std::vector<Mismatch> mismatches;
};

class Session {
 public:
  explicit Session(const rollback::Shape& shape);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Queues the upload of the transaction's initial image, so that a save that does not wait for what
  /// was queued before it saves the wrong bytes.
  void start(const Transaction& transaction);
  /// Queues the making of the candidate tokens on the device.
  void make_tokens();
  /// Computes the candidate tokens here and uploads them.
  void bring_tokens();
  /// Queues a save and notes the mode that it recorded.
  void save(const rollback::CopyRequest& request);
  /// Queues the writing of all candidates, as a verifier does.
  void write();
  /// Queues the commit of `accepted` tokens and looks at the counters the moment it returns.
  void commit(std::uint32_t accepted);
  /// Notes that a statement about the transaction does not hold.
  void require(bool holds, const std::string& statement, const std::string& expected, const std::string& got);
  /// The one synchronisation: then everything is fetched and compared.
  Outcome finish();

  /// Replaces the saver by one that never saved; pending work is done first.
  void renew_rollback();

  rollback::Rollback& rollback() { return *rollback_; }
  gpu::Stream& side_stream() { return side_; }
  const Transaction& transaction() const { return transaction_; }
  const HostState& state() const { return got_; }
  const rollback::Counters& counters() const { return observed_; }
  const std::string& recorded() const { return recorded_; }
  /// Everything that was observed of staging buffers; call when nothing is pending.
  std::vector<rollback::BufferObservation> buffers() const;

 private:
  void compare_arrays(std::vector<Mismatch>& found) const;
  void compare_counters(std::vector<Mismatch>& found) const;
  void compare_pooled(std::vector<Mismatch>& found);

  rollback::Shape shape_;
  gpu::Stream main_;
  gpu::Stream side_;
  rollback::Cache cache_;
  std::unique_ptr<rollback::Rollback> rollback_;
  Transaction transaction_;
  HostState image_;
  Reference reference_;
  HostState got_;
  rollback::Counters observed_;
  std::string recorded_;
  std::vector<Mismatch> statements_;
  std::vector<rollback::BufferObservation> buffers_;
};

}  // namespace driver
