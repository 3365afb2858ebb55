/// \file
/// The page of --export, in which a browser runs the recorded launches again.
#pragma once

#include "emulator/cli/report.hpp"
#include "emulator/cli/sources.hpp"

#include <string>

namespace emulate {

/// The page without launches, as `make playground` made it.
/// \throws CommandError if it is not there
std::string page_without_launches();

struct ExportedPage {
    std::string html;
    std::string about; ///< "2 launches, 1.4 MB", and what to know of them
};

/// \throws CommandError if a page cannot run them
ExportedPage export_page(const Report& report, const ReadSource& read_source);

} // namespace emulate
