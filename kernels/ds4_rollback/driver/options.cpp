#include "driver/options.h"

#include <charconv>
#include <set>
#include <string_view>

#include "cache/arrays.h"

namespace driver {
namespace {

constexpr const char* kCommands = "--list, --devices, --run CASE or --plant DEFECT";

std::uint64_t number(const std::string& option, const std::string& text, std::uint64_t least,
                     std::uint64_t most) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < least || value > most) {
    throw UsageError(option + " " + text + ": a number from " + std::to_string(least) + " to " +
                     std::to_string(most) + " is needed");
  }
  return value;
}

std::string mode(const std::string& text) {
  if (text == "sync" || text == "async" || text == "pinned") return text;
  throw UsageError("--mode " + text + ": sync, async or pinned is needed");
}

/// Arguments in order; every option at most once.
class Reader {
 public:
  Reader(int count, const char* const* arguments)
      : next_(arguments + (count > 0 ? 1 : 0)), end_(arguments + count) {}

  bool more() const { return next_ != end_; }

  std::string option() {
    std::string name = *next_++;
    if (!seen_.insert(name).second) throw UsageError(name + " is given twice");
    return name;
  }

  std::string value(const std::string& option) {
    if (!more()) throw UsageError(option + " needs a value");
    return *next_++;
  }

 private:
  const char* const* next_;
  const char* const* end_;
  std::set<std::string> seen_;
};

/// The options that each command takes beside itself.
std::set<std::string> allowed(Command command) {
  if (command == Command::list) return {"--mode", "--width"};
  if (command == Command::run) return {"--json", "--device", "--only", "--dump", "--max-failures"};
  return {};
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

Options parse_options(int count, const char* const* arguments) {
  Options options;
  std::string command;
  std::set<std::string> given;
  const auto choose = [&](const std::string& name, Command chosen) {
    if (!command.empty()) throw UsageError(command + " and " + name + ": one of " + kCommands + " is needed");
    command = name;
    options.command = chosen;
  };
  Reader reader(count, arguments);
  while (reader.more()) {
    const std::string name = reader.option();
    if (name == "--list") {
      choose(name, Command::list);
      continue;
    }
    if (name == "--devices") {
      choose(name, Command::devices);
      continue;
    }
    if (name == "--run" || name == "--plant") {
      choose(name, name == "--run" ? Command::run : Command::plant);
      options.subject = reader.value(name);
      continue;
    }
    given.insert(name);
    if (name == "--mode") {
      options.mode = mode(reader.value(name));
    } else if (name == "--width") {
      options.width = static_cast<std::uint32_t>(number(name, reader.value(name), 1, rollback::kMaxWidth));
    } else if (name == "--json") {
      options.json = reader.value(name);
    } else if (name == "--device") {
      options.device = reader.value(name);
    } else if (name == "--only") {
      options.only = reader.value(name);
    } else if (name == "--dump") {
      options.dump = true;
    } else if (name == "--max-failures") {
      options.max_failures = number(name, reader.value(name), 0, UINT32_MAX);
    } else {
      throw UsageError(name + " is not an option; " + kCommands + " is needed");
    }
  }
  if (command.empty()) throw UsageError(std::string(kCommands) + " is needed");
  const std::set<std::string> may = allowed(options.command);
  for (const std::string& name : given) {
    if (may.count(name) != 0) continue;
    throw UsageError(name + " does not go with " + command + "; allowed: " + joined(may));
  }
  if (options.dump && !options.only) throw UsageError("--dump needs --only KEY");
  if (options.dump && !options.json) throw UsageError("--dump needs --json FILE");
  return options;
}

}  // namespace driver
