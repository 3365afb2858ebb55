/// \file
/// A card's description: the constants of the clock, each with its unit, source and range.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emulator::timing {

class Card {
public:
    /// \param text JSON, as in cards/h200.json \throws std::runtime_error if it is none
    explicit Card(std::string_view text);

    const std::string& id() const { return id_; }     ///< "h200"
    const std::string& name() const { return name_; } ///< "NVIDIA H200"
    /// \throws std::runtime_error if there is no such constant
    double operator[](std::string_view constant) const;

    /// Cycles that a load from memory takes longer than on an idle card, while the card moves so many GB/s.
    double loaded_latency(double bandwidth) const;

    /// Lanes of atomics per nanosecond, if they are spread over so many words.
    double atomic_rate(double words) const;

private:
    std::string id_, name_;
    std::map<std::string, double, std::less<>> constants_;
    std::vector<std::pair<double, double>> loaded_latencies_; ///< by bandwidth
};

/// The card called `id`, of those in cards/. \throws std::runtime_error if it is none
const Card& find_card(std::string_view id);

} // namespace emulator::timing
