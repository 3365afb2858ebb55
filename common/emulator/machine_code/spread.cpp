#include "emulator/machine_code/spread.hpp"

#include <algorithm>
#include <cstdlib>

namespace emulator::machine_code {
namespace {

/// Neighbors that memory delivers together lie in two sectors at most: a longer run of them is no single place.
constexpr std::size_t longest_alone = 2;
/// Rows of an array are as far apart as others, but for where in a sector they begin.
constexpr std::int64_t tolerance = 2;

/// Longer pieces take no longer than all in order: that is as far as it was measured.
constexpr double longest_piece = 1024;

/// Sectors side by side.
struct Run {
    std::size_t first = 0, count = 0; ///< of the places
};

void sort(std::vector<Place>& places) {
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.sector < b.sector; });
    const auto is_same = [](const Place& a, const Place& b) { return a.sector == b.sector; };
    places.erase(std::unique(places.begin(), places.end(), is_same), places.end());
}

std::vector<Run> runs_of(const std::vector<Place>& places) {
    std::vector<Run> runs;
    for (std::size_t k = 0; k < places.size(); ++k) {
        if (k > 0 && places[k].sector == places[k - 1].sector + 1)
            ++runs.back().count;
        else
            runs.push_back({k, 1});
    }
    return runs;
}

} // namespace

void add_spread(Spreads& spreads, std::vector<Place>& places) {
    sort(places);
    const std::vector<Run> runs = runs_of(places);
    const auto gap = [&](std::size_t k) { // behind a run
        return static_cast<std::int64_t>(places[runs[k + 1].first].sector - places[runs[k].first].sector);
    };
    for (std::size_t k = 0; k < runs.size(); ++k) {
        const bool is_inner = k > 0 && k + 1 < runs.size();
        const bool is_scattered =
            is_inner && runs[k].count <= longest_alone && std::abs(gap(k) - gap(k - 1)) > tolerance;
        for (std::size_t place = runs[k].first; place < runs[k].first + runs[k].count; ++place) {
            Spread& spread = spreads[places[place].instruction];
            ++spread.sectors;
            spread.scattered += is_scattered ? 1 : 0;
        }
    }
}

double stored_piece_bytes(std::vector<Place> by_block, std::vector<Place> by_next) {
    sort(by_block);
    const auto pieces = static_cast<double>(runs_of(by_block).size());
    if (by_block.empty() || by_next.empty()) return 0;
    const double bytes = static_cast<double>(by_block.size()) * 32 / pieces;
    by_next.insert(by_next.end(), by_block.begin(), by_block.end());
    sort(by_next);
    const bool is_filled = static_cast<double>(runs_of(by_next).size()) < 1.5 * pieces;
    return is_filled || bytes >= longest_piece ? 0 : bytes;
}

} // namespace emulator::machine_code
