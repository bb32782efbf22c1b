// Running one case and writing what happened.
#pragma once

#include "driver/cases.h"
#include "driver/options.h"

namespace driver {

/// The exit status: 0 passed, 1 failed, 77 no device.  Throws UsageError and gpu::Error.
int run_case(const Options& options);

/// The case of that name; throws UsageError with the names that there are.
Case find_case(const std::string& name);

}  // namespace driver
