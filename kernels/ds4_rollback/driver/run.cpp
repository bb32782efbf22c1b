#include "driver/run.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "driver/records.h"

namespace driver {
namespace {

constexpr std::uint64_t kMismatchesWritten = 20;
constexpr int kNoDevice = 77;

std::string lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

/// The device that was asked for, or nullptr after one line that says why there is none.
const gpu::DeviceInfo* choose_device(const gpu::DeviceList& list, const std::optional<std::string>& asked) {
  if (list.devices.empty()) {
    std::fprintf(stderr, "no %s device: %s (%d)\n", gpu::backend_name, list.status_name.c_str(), list.status);
    return nullptr;
  }
  if (!asked) return &list.devices.front();
  for (const gpu::DeviceInfo& device : list.devices) {
    const bool same = (!device.pci.empty() && lower(device.pci) == lower(*asked)) ||
                      (!device.uuid.empty() && lower(device.uuid) == lower(*asked));
    if (same) return &device;
  }
  std::fprintf(stderr, "no %s device %s among the %zu that the runtime has\n", gpu::backend_name,
               asked->c_str(), list.devices.size());
  return nullptr;
}

std::vector<Transaction> chosen_transactions(const Case& chosen, const std::optional<std::string>& only) {
  std::vector<Transaction> all = chosen.transactions(chosen.width);
  if (!only) return all;
  for (const Transaction& transaction : all) {
    if (transaction.key() == *only) return {transaction};
  }
  throw UsageError("--only " + *only + ": " + chosen.name + " has no such transaction; its first is " +
                   all.front().key());
}

/// The counts of a run, and how they are told.
class Tally {
 public:
  explicit Tally(Records& records) : records_(records) {}

  void add(const Transaction& transaction, const Outcome& outcome) {
    ++transactions_;
    if (!outcome.mismatches.empty()) ++failed_;
    records_.transaction(transaction, outcome);
    for (const Mismatch& mismatch : outcome.mismatches) {
      if (++mismatches_ > kMismatchesWritten) continue;
      records_.mismatch(transaction, mismatch);
      std::printf("%s\n", described(transaction, mismatch).c_str());
    }
  }

  void end() { records_.end(transactions_, failed_, mismatches_); }
  std::uint64_t failed() const { return failed_; }

 private:
  Records& records_;
  std::uint64_t transactions_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t mismatches_ = 0;
};

}  // namespace

Case find_case(const std::string& name) {
  const std::vector<Case> cases = all_cases();
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const Case& each) { return each.name == name; });
  if (found == cases.end()) {
    throw UsageError("--run " + name + ": no such case; " + cases.front().name +
                     " is one, --list names all " + std::to_string(cases.size()));
  }
  return *found;
}

int run_case(const Options& options) {
  const Case chosen = find_case(options.subject);
  const std::vector<Transaction> transactions = chosen_transactions(chosen, options.only);
  Records records(options.json);
  const gpu::DeviceList list = gpu::list_devices();
  const gpu::DeviceInfo* device = choose_device(list, options.device);
  if (device == nullptr) return kNoDevice;
  gpu::use_device(device->index);
  gpu::use_schedule(chosen.schedule);
  records.begin(chosen);
  records.device(*device, list);

  const rollback::Shape shape;
  Session session(shape);
  Tally tally(records);
  for (const Transaction& transaction : transactions) {
    session.start(transaction);
    chosen.scenario(session, chosen.plan);
    tally.add(transaction, session.finish());
    if (options.dump) records.state(transaction, session.state(), session.counters(), shape);
    if (options.max_failures != 0 && tally.failed() >= options.max_failures) break;
  }
  for (const rollback::BufferObservation& buffer : session.buffers()) records.buffer(buffer);
  tally.end();
  return tally.failed() == 0 ? 0 : 1;
}

}  // namespace driver
