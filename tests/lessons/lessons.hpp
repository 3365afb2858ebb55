/// \file
/// The lessons, for tests that hold for each of them.
#pragma once

#include <sstream>
#include <string>
#include <vector>

/// "lesson00", "lesson01", …
inline std::vector<std::string> lessons() {
    std::istringstream names(LESSONS);
    std::vector<std::string> result;
    for (std::string name; names >> name;) result.push_back(name);
    return result;
}
