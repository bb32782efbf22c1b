// The command line of docs/driver.md.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace driver {

/// A call that is wrong; the message is one line that says what is allowed.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Command { list, devices, run, plant };

struct Options {
  Command command = Command::list;
  std::string subject;  ///< the case of --run, the defect of --plant
  std::optional<std::string> mode;
  std::optional<std::uint32_t> width;
  std::optional<std::string> json;
  std::optional<std::string> device;
  std::optional<std::string> only;
  bool dump = false;
  std::uint64_t max_failures = 0;
};

/// Throws UsageError.
Options parse_options(int count, const char* const* arguments);

}  // namespace driver
