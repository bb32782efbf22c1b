// The record file: one JSON object a line, flushed line by line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "cache/staging.h"
#include "driver/cases.h"
#include "driver/session.h"

namespace driver {

/// The file of a run; without a path nothing is written.
class Records {
 public:
  /// Throws UsageError if the file cannot be written.
  explicit Records(const std::optional<std::string>& path);

  void begin(const Case& chosen);
  void device(const gpu::DeviceInfo& device, const gpu::DeviceList& list);
  void buffer(const rollback::BufferObservation& buffer);
  void transaction(const Transaction& transaction, const Outcome& outcome);
  void mismatch(const Transaction& transaction, const Mismatch& mismatch);
  void state(const Transaction& transaction, const HostState& state, const rollback::Counters& counters,
             const rollback::Shape& shape);
  void end(std::uint64_t transactions, std::uint64_t failed, std::uint64_t mismatches);

 private:
  struct Close {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };

  void line(const std::string& text);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The line for people: `pos=0 q=1 accepted=0 tensor=0 row=4 column=2 expected=0x3c00 got=0x0000`.
std::string described(const Transaction& transaction, const Mismatch& mismatch);

/// A device as an object, without what the runtime does not give.
std::string device_json(const gpu::DeviceInfo& device);

}  // namespace driver
