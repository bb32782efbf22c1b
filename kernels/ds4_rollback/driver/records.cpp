#include "driver/records.h"

#include <cerrno>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "driver/json.h"
#include "driver/options.h"

namespace driver {
namespace {

json::Object device_object(const gpu::DeviceInfo& device, json::Object object) {
  object.number("index", static_cast<std::uint64_t>(device.index)).text("name", device.name);
  object.text("arch", device.arch);
  if (!device.uuid.empty()) object.text("uuid", device.uuid);
  if (!device.pci.empty()) object.text("pci", device.pci);
  object.number("memory_bytes", device.memory_bytes);
  return object;
}

std::string digest_text(std::uint64_t digest) {
  char text[24];
  std::snprintf(text, sizeof text, "\"0x%016" PRIx64 "\"", digest);
  return text;
}

std::string hexadecimal(const void* data, std::size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto* at = static_cast<const unsigned char*>(data);
  std::string text = "\"";
  for (std::size_t i = 0; i < bytes; ++i) {
    text += kDigits[at[i] >> 4];
    text += kDigits[at[i] & 15];
  }
  return text + "\"";
}

}  // namespace

Records::Records(const std::optional<std::string>& path) {
  if (!path) return;
  path_ = *path;
  file_.reset(std::fopen(path_.c_str(), "w"));
  if (file_ == nullptr) {
    throw UsageError("--json " + path_ + ": cannot be written: " + std::strerror(errno));
  }
}

void Records::begin(const Case& chosen) {
  const char* nonce = std::getenv("HARNESS_NONCE");
  json::Object object;
  object.text("type", "begin").number("schema", 1).text("case", chosen.name).text("mode", chosen.mode);
  object.text("backend", gpu::backend_name).text("execution", chosen.execution);
  object.text("nonce", nonce != nullptr ? nonce : "");
  line(object.done());
}

void Records::device(const gpu::DeviceInfo& device, const gpu::DeviceList& list) {
  json::Object object;
  object.text("type", "device");
  object = device_object(device, object);
  if (!list.driver_version.empty()) object.text("driver_version", list.driver_version);
  if (!list.runtime_version.empty()) object.text("runtime_version", list.runtime_version);
  line(object.done());
}

void Records::buffer(const rollback::BufferObservation& buffer) {
  // One status stands for three questions: the first that failed, else the last.
  const gpu::PointerAnswer* status = &buffer.last;
  for (const gpu::PointerAnswer* answer : {&buffer.last, &buffer.first, &buffer.before}) {
    if (answer->status != 0) status = answer;
  }
  json::Object object;
  object.text("type", "buffer").text("role", "staging").text("requested", word(buffer.requested));
  object.text("recorded", word(buffer.recorded)).text("kind", word(buffer.first.kind));
  object.text("kind_last", word(buffer.last.kind)).text("kind_before", word(buffer.before.kind));
  object.raw("status", std::to_string(status->status)).text("status_name", status->status_name);
  object.number("bytes", buffer.bytes);
  line(object.done());
}

void Records::transaction(const Transaction& transaction, const Outcome& outcome) {
  std::vector<std::string> digests;
  digests.reserve(outcome.digests.size());
  for (const std::uint64_t digest : outcome.digests) digests.push_back(digest_text(digest));
  json::Object object;
  object.text("type", "transaction").text("key", transaction.key()).text("recorded", outcome.recorded);
  object.raw("digests", json::list(digests));
  line(object.done());
}

void Records::mismatch(const Transaction& transaction, const Mismatch& mismatch) {
  json::Object object;
  object.text("type", "mismatch").text("key", transaction.key()).text("tensor", mismatch.tensor);
  object.number("row", mismatch.row).number("column", mismatch.column);
  object.text("expected", mismatch.expected).text("got", mismatch.got);
  object.text("text", described(transaction, mismatch));
  line(object.done());
}

void Records::state(const Transaction& transaction, const HostState& state,
                    const rollback::Counters& counters, const rollback::Shape& shape) {
  std::vector<std::string> tensors;
  for (std::uint32_t array = 0; array < rollback::kArrays; ++array) {
    tensors.push_back(hexadecimal(state.data(array), shape.bytes(array)));
  }
  const auto counts = listed(counters);
  tensors.push_back(hexadecimal(counts.data(), sizeof counts));
  json::Object object;
  object.text("type", "state").text("key", transaction.key()).raw("tensors", json::list(tensors));
  line(object.done());
}

void Records::end(std::uint64_t transactions, std::uint64_t failed, std::uint64_t mismatches) {
  json::Object object;
  object.text("type", "end").number("transactions", transactions).number("failed", failed);
  object.number("mismatches", mismatches);
  line(object.done());
}

void Records::line(const std::string& text) {
  if (file_ == nullptr) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() &&
                       std::fputc('\n', file_.get()) != EOF && std::fflush(file_.get()) == 0;
  if (!written) throw UsageError("--json " + path_ + ": cannot be written: " + std::strerror(errno));
}

std::string described(const Transaction& transaction, const Mismatch& mismatch) {
  return transaction.joined(' ') + " tensor=" + mismatch.tensor + " row=" + std::to_string(mismatch.row) +
         " column=" + std::to_string(mismatch.column) + " expected=" + mismatch.expected +
         " got=" + mismatch.got;
}

std::string device_json(const gpu::DeviceInfo& device) {
  return device_object(device, json::Object()).done();
}

}  // namespace driver
