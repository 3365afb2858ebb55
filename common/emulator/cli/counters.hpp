/// \file
/// The counters of launches as tables.
#pragma once

#include "emulator/cli/report.hpp"

#include <string>

namespace emulate {

/// One table per launch. Equal launches in a row share one. \param explain add the counters' names in Nsight
/// Compute
std::string counters_as_text(const Report& report, bool explain = false);

/// A row for each launch and counter.
std::string counters_as_csv(const Report& report);

} // namespace emulate
