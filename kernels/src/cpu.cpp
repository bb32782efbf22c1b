#include "gpu/cpu.h"

#include <unistd.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace gpu {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

emulated::Queues& queues() {
  static emulated::Queues instance;
  return instance;
}

void use_schedule(std::string_view name) {
  std::unique_ptr<emulated::Schedule> schedule = emulated::make_schedule(name);
  if (schedule == nullptr) throw std::invalid_argument("no schedule " + std::string(name));
  queues().use(std::move(schedule));
}

DeviceList list_devices() {
  DeviceInfo device;
  device.name = processor_name();
#if defined(__x86_64__)
  device.arch = "x86-64";
#elif defined(__aarch64__)
  device.arch = "aarch64";
#else
  device.arch = "unknown";
#endif
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page_bytes > 0) {
    device.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  DeviceList list;
  list.status_name = "success";
  list.devices.push_back(std::move(device));
  return list;
}

}  // namespace gpu
