// Which cases this build has, and the transactions of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/scenarios.h"

namespace driver {

struct Case {
  std::string name;
  const char* mode;
  const char* group;
  const char* execution;
  const char* schedule;  ///< of imitated streams; real devices ignore it
  std::uint32_t width;   ///< 0: several
  CopyPlan plan;
  Scenario scenario;
  std::vector<Transaction> (*transactions)(std::uint32_t width);
};

/// All cases in a stable order: for each copy mode the sweep, then the edges.
std::vector<Case> all_cases();

}  // namespace driver
