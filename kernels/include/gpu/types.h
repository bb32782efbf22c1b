// What every backend of the portability layer answers with.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpu {

/// A call of the runtime that failed: its numeric status and the runtime's own name for it.
class Error : public std::runtime_error {
 public:
  Error(const std::string& call, int status, std::string status_name)
      : std::runtime_error(call + ": " + status_name + " (" + std::to_string(status) + ")"),
        status_(status),
        status_name_(std::move(status_name)) {}

  int status() const noexcept { return status_; }
  const std::string& status_name() const noexcept { return status_name_; }

 private:
  int status_;
  std::string status_name_;
};

/// Which side of a copy is the device; copies between two places of one side are not needed here.
enum class Direction { to_device, to_host };

/// The kind of memory that the runtime says an address has.
enum class MemoryKind { page_locked, unregistered, device, managed, not_asked, unknown };

/// The word of docs/driver.md for a kind.
inline const char* word(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::page_locked: return "page-locked";
    case MemoryKind::unregistered: return "unregistered";
    case MemoryKind::device: return "device";
    case MemoryKind::managed: return "managed";
    case MemoryKind::not_asked: return "not-asked";
    case MemoryKind::unknown: break;
  }
  return "unknown";
}

/// The runtime's answer about one address, with the status of the question itself.
struct PointerAnswer {
  MemoryKind kind = MemoryKind::unknown;
  int status = 0;
  const char* status_name = "";  ///< the runtime's own text, which outlives the program
};

/// One device as the runtime describes it; `uuid` and `pci` are empty where it gives none.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string arch;
  std::string uuid;
  std::string pci;
  std::uint64_t memory_bytes = 0;
};

/// All devices, or why there are none.
struct DeviceList {
  int status = 0;
  std::string status_name;
  std::string driver_version;
  std::string runtime_version;
  std::vector<DeviceInfo> devices;
};

/// Allocations that shall fail, so that what happens then can be tested on any machine.
struct Faults {
  unsigned host_allocations = 0;  ///< how many of the next page-locked allocations fail
};

inline Faults& faults() noexcept {
  static Faults instance;
  return instance;
}

/// True if the next page-locked allocation has to fail; counts it.
inline bool take_host_allocation_fault() noexcept {
  if (faults().host_allocations == 0) return false;
  --faults().host_allocations;
  return true;
}

}  // namespace gpu
