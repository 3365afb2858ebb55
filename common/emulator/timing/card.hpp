/// A card's description: the constants of the clock, each with its unit, source and range.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator::timing {

/// How far off the estimates of such kernels were, in percent: docs/data/nvidia-h200/clock.csv.
struct FoundError {
    double median = 0, most = 0;
};

/// Of a load of one line from memory, in cycles.
struct LineLatency {
    double latency = 0;
    double spread = 0; ///< from the first to the last of eight warps that load at once
};

class Card {
public:
    /// \param text JSON, as in cards/h200.json \throws std::runtime_error if it is none
    explicit Card(std::string_view text);

    const std::string& id() const { return id_; }     ///< "h200"
    const std::string& name() const { return name_; } ///< "NVIDIA H200"
    /// \throws std::runtime_error if there is no such constant
    double operator[](std::string_view constant) const;
    bool has(std::string_view constant) const { return constants_.contains(constant); }

    /// While the card loads so many GB/s from memory, and stores so many.
    LineLatency line_latency(double loaded, double stored) const;

    /// Sectors that the L2 adds to in a nanosecond, if there are so many different ones.
    double atomic_rate(double sectors, bool floats = false) const;

    /// Stores per nanosecond that the L2 takes to so few sectors.
    double hot_store_rate(double sectors) const;

    /// What it costs to store pieces of so many bytes, against a copy in order. 0: it is in order.
    double piece_cost(double bytes) const;

    /// The error found for kernels of this kind; null: none was looked for.
    const FoundError* error_of(const std::string& kind) const;

private:
    using Points = std::vector<std::pair<double, double>>; ///< by GB/s
    struct Curves {
        Points latency, spread;
    };

    std::map<std::string, FoundError> errors_;
    std::string id_, name_;
    std::map<std::string, double, std::less<>> constants_;
    Curves loading_, copying_; ///< copying: half of the bytes are stored
    Points piece_costs_;       ///< by bytes
};

/// The card called `id`, of those in cards/. \throws std::runtime_error if it is none
const Card& find_card(std::string_view id);

} // namespace emulator::timing
