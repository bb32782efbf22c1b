#include "driver/cases.h"

namespace driver {
namespace {

using rollback::CopyMode;
using rollback::kMaxWidth;

/// Phases around the starts and ends of windows and of the ring.
constexpr std::uint64_t kSmokePhases[] = {0, 1, 2, 3, 123, 124, 125, 126, 127};

Transaction plain(std::uint64_t pos, std::uint32_t width, std::uint32_t accepted) {
  Transaction transaction;
  transaction.pos = pos;
  transaction.width = width;
  transaction.accepted = accepted;
  return transaction;
}

void add_prefixes(std::vector<Transaction>& all, std::uint64_t pos, std::uint32_t width) {
  for (std::uint32_t accepted = 0; accepted <= width; ++accepted) all.push_back(plain(pos, width, accepted));
}

std::vector<Transaction> sweep(std::uint32_t width) {
  std::vector<Transaction> all;
  for (std::uint64_t phase = 0; phase < 128; ++phase) add_prefixes(all, phase, width);
  return all;
}

std::vector<Transaction> smoke_from(std::uint64_t start) {
  std::vector<Transaction> all;
  for (const std::uint64_t phase : kSmokePhases) {
    for (std::uint32_t width = 1; width <= kMaxWidth; ++width) add_prefixes(all, start + phase, width);
  }
  return all;
}

std::vector<Transaction> smoke(std::uint32_t) { return smoke_from(0); }

std::vector<Transaction> high_positions(std::uint32_t) {
  std::vector<Transaction> all;
  // The last start is one ring below 2^31, so that its upper phases cross into the 32nd bit.
  for (const std::uint64_t start : {std::uint64_t{1} << 20, (std::uint64_t{1} << 31) - 128}) {
    for (const Transaction& transaction : smoke_from(start)) all.push_back(transaction);
  }
  return all;
}

std::vector<Transaction> pairs_of_commits(std::uint32_t) {
  std::vector<Transaction> all;
  for (const std::uint64_t phase : kSmokePhases) {
    for (std::uint32_t width = 1; width <= kMaxWidth; ++width) {
      for (std::uint32_t first = 1; first <= width; ++first) {
        for (std::uint32_t accepted = 0; accepted < first; ++accepted) {
          Transaction transaction = plain(phase, width, accepted);
          transaction.first = first;
          transaction.twice = true;
          all.push_back(transaction);
        }
      }
    }
  }
  return all;
}

std::vector<Transaction> one_of_each_phase(std::uint32_t width) {
  std::vector<Transaction> all;
  for (const std::uint64_t phase : kSmokePhases) all.push_back(plain(phase, width, 0));
  return all;
}

std::vector<Transaction> no_tokens(std::uint32_t) { return one_of_each_phase(0); }
std::vector<Transaction> too_many_tokens(std::uint32_t) { return one_of_each_phase(kMaxWidth + 1); }

std::vector<Transaction> narrow_and_wide(std::uint32_t) {
  std::vector<Transaction> all;
  for (const std::uint64_t phase : kSmokePhases) {
    for (const std::uint32_t width : {4U, 6U}) all.push_back(plain(phase, width, 1));
  }
  return all;
}

struct Edge {
  const char* name;
  Scenario scenario;
  std::vector<Transaction> (*transactions)(std::uint32_t);
};

constexpr Edge kEdges[] = {
    {"apply-twice", commit_twice, pairs_of_commits},
    {"apply-before-save", apply_before_save, no_tokens},
    {"no-tokens", save_write_commit, no_tokens},
    {"too-many-tokens", save_too_many, too_many_tokens},
    {"high-positions", save_write_commit, high_positions},
    {"uploaded-tokens", bring_tokens_instead, smoke},
    {"back-to-back", back_to_back, smoke},
    {"mode-switch", switch_mode, smoke},
    {"stream-switch", switch_stream, smoke},
};

/// An order of queued work: its name, and whether copies go to a stream of their own, which is where
/// an order of streams can show anything.
struct Order {
  const char* name;
  bool side_stream;
};

std::vector<Order> orders(CopyMode mode) {
  if (gpu::has_page_locked_memory || mode == CopyMode::sync) return {{"", false}};
  return {{"lazy", true}, {"lazy-reversed", true}, {"split", false}};
}

Case make_case(CopyMode mode, const std::string& rest, const char* group, const Order& order) {
  Case made{};
  made.mode = word(mode);
  made.name = word(mode);
  made.name += '/';
  made.name += rest;
  made.group = group;
  made.execution = "real";
  made.schedule = "eager";
  made.plan = {mode, order.side_stream};
  if (*order.name != '\0') {
    made.name += '/';
    made.name += order.name;
    made.execution = "emulated";
    made.schedule = order.name;
  }
  return made;
}

void add_sweep(std::vector<Case>& cases, CopyMode mode) {
  for (std::uint32_t width = 1; width <= kMaxWidth; ++width) {
    for (const Order& order : orders(mode)) {
      Case made = make_case(mode, "width" + std::to_string(width), "sweep", order);
      made.width = width;
      made.scenario = save_write_commit;
      made.transactions = sweep;
      cases.push_back(std::move(made));
    }
  }
}

void add_edge(std::vector<Case>& cases, CopyMode mode, const Edge& edge, bool side_stream) {
  for (Order order : orders(mode)) {
    order.side_stream = order.side_stream || side_stream;
    Case made = make_case(mode, std::string("edge/") + edge.name, "edge", order);
    made.scenario = edge.scenario;
    made.transactions = edge.transactions;
    cases.push_back(std::move(made));
  }
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<CopyMode> modes = {CopyMode::sync, CopyMode::async};
  if (gpu::has_page_locked_memory) modes.push_back(CopyMode::pinned);
  // A CPU asks for page-locked memory in mode async: it can only be refused there.
  const CopyMode falls_back = modes.back();
  std::vector<Case> cases;
  for (const CopyMode mode : modes) {
    add_sweep(cases, mode);
    for (const Edge& edge : kEdges) add_edge(cases, mode, edge, false);
    if (mode != CopyMode::sync) {
      add_edge(cases, mode, {"side-stream", save_write_commit, smoke}, true);
    }
    if (mode == falls_back) {
      add_edge(cases, mode, {"allocation-failure", fail_allocation, narrow_and_wide}, false);
    }
  }
  return cases;
}

}  // namespace driver
