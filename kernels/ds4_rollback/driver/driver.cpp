// The driver of docs/driver.md for the suite ds4_rollback.

#include <cstdio>
#include <exception>
#include <string>

#include "driver/json.h"
#include "driver/plants.h"
#include "driver/records.h"
#include "driver/run.h"

namespace driver {
namespace {

constexpr int kUsage = 2;
constexpr int kNoDevice = 77;
constexpr int kRuntimeFailed = 70;

/// Prints an answer; a reader that is gone or a full disk must not look like success.
int print(const json::Object& answer, int status) {
  if (std::printf("%s\n", answer.done().c_str()) < 0 || std::fflush(stdout) != 0) {
    throw UsageError("standard output cannot be written");
  }
  return status;
}

std::string case_json(const Case& each) {
  json::Object object;
  object.text("name", each.name).text("mode", each.mode).text("group", each.group);
  object.text("execution", each.execution).number("transactions", each.transactions(each.width).size());
  return object.done();
}

std::string plant_json(const Plant& plant) {
  json::Object object;
  object.text("name", plant.name).text("sanitizer", plant.sanitizer).text("report", plant.report);
  object.text("file", kPlantFile).number("line", static_cast<std::uint64_t>(plant.line));
  return object.done();
}

int list(const Options& options) {
  std::vector<std::string> cases;
  for (const Case& each : all_cases()) {
    const bool wanted = (!options.mode || each.mode == *options.mode) &&
                        (!options.width || each.width == *options.width);
    if (wanted) cases.push_back(case_json(each));
  }
  std::vector<std::string> defects;
  for (const Plant& plant : plants()) defects.push_back(plant_json(plant));
  json::Object answer;
  answer.number("schema", 1).text("suite", HARNESS_SUITE).text("backend", gpu::backend_name);
  answer.text("arch", HARNESS_ARCH).raw("cases", json::list(cases)).raw("plants", json::list(defects));
  return print(answer, 0);
}

int devices() {
  const gpu::DeviceList list = gpu::list_devices();
  std::vector<std::string> found;
  for (const gpu::DeviceInfo& device : list.devices) found.push_back(device_json(device));
  json::Object answer;
  answer.number("schema", 1).text("backend", gpu::backend_name);
  answer.raw("status", std::to_string(list.status)).text("status_name", list.status_name);
  if (!list.driver_version.empty()) answer.text("driver_version", list.driver_version);
  if (!list.runtime_version.empty()) answer.text("runtime_version", list.runtime_version);
  answer.raw("devices", json::list(found));
  return print(answer, found.empty() ? kNoDevice : 0);
}

int commit_plant(const std::string& name) {
  std::string names;
  for (const Plant& plant : plants()) {
    if (plant.name == name) {
      plant.commit();
      std::fprintf(stderr, "%s: committed, and nothing reported it\n", plant.name);
      return 0;
    }
    names += (names.empty() ? "" : ", ") + std::string(plant.name);
  }
  throw UsageError("--plant " + name + ": " + names + " are the defects that there are");
}

int obey(const Options& options) {
  switch (options.command) {
    case Command::list: return list(options);
    case Command::devices: return devices();
    case Command::run: return run_case(options);
    case Command::plant: break;
  }
  return commit_plant(options.subject);
}

}  // namespace
}  // namespace driver

int main(int count, char** arguments) {
  try {
    return driver::obey(driver::parse_options(count, arguments));
  } catch (const driver::UsageError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return driver::kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stopped: %s\n", error.what());
    return driver::kRuntimeFailed;
  }
}
