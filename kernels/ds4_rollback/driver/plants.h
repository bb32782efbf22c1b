// Deliberate defects: what a sanitizer that is really on must report, and where.
#pragma once

#include <string_view>
#include <vector>

namespace driver {

struct Plant {
  const char* name;
  const char* sanitizer;
  const char* report;  ///< part of the sanitizer's report
  int line;            ///< line of plants.cpp that the report must name
  void (*commit)();
};

inline constexpr const char* kPlantFile = "plants.cpp";

const std::vector<Plant>& plants();

}  // namespace driver
