#include "emulator/check/sites.hpp"

#include "emulator/program/source_location.hpp"

namespace emulator {

Site Sites::of_line(Site site) {
    const auto [known, is_new] = of_line_.try_emplace(site, site);
    if (!is_new) return known->second;
    const std::string line = source_line(code(site), pc(site));
    if (!line.empty()) known->second = first_of_line_.try_emplace(line, site).first->second;
    return known->second;
}

} // namespace emulator
