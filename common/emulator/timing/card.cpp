#include "emulator/timing/card.hpp"

#include <cards.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace emulator::timing {
namespace {

using Points = std::vector<std::pair<double, double>>;

/// The value at `x` on the line through the points; beyond its ends that of the end.
double interpolated(const Points& points, double x) {
    const auto above =
        std::find_if(points.begin(), points.end(), [&](const auto& point) { return point.first >= x; });
    if (above == points.begin()) return points.front().second;
    if (above == points.end()) return points.back().second;
    const auto below = above - 1;
    return below->second +
           (above->second - below->second) * (x - below->first) / (above->first - below->first);
}

} // namespace

Card::Card(std::string_view text) {
    const auto json = nlohmann::json::parse(text);
    json.at("card").get_to(id_);
    json.at("name").get_to(name_);
    for (const auto& [constant, description] : json.at("constants").items())
        constants_[constant] = description.at("value");
    for (const auto& [name, curve] :
         {std::pair("line_latency", &loading_), std::pair("line_latency_copying", &copying_)})
        for (const auto& point : json.at(name)) {
            curve->latency.emplace_back(point.at("bandwidth"), point.at("latency"));
            curve->spread.emplace_back(point.at("bandwidth"), point.at("spread"));
        }
    for (const auto& point : json.at("stored_pieces"))
        piece_costs_.emplace_back(point.at("bytes"), point.at("cost"));
    const auto errors = json.value("errors", nlohmann::json::object());
    for (const auto& [kind, error] : errors.items())
        errors_[kind] = {.median = error.at("median"), .most = error.at("most")};
    if (loading_.latency.empty() || copying_.latency.empty())
        throw std::runtime_error(id_ + ": line_latency is empty");
}

double Card::operator[](std::string_view constant) const {
    const auto found = constants_.find(constant);
    if (found == constants_.end())
        throw std::runtime_error("the description of " + id_ + " has no " + std::string(constant));
    return found->second;
}

const FoundError* Card::error_of(const std::string& kind) const {
    const auto found = errors_.find(kind);
    return found == errors_.end() ? nullptr : &found->second;
}

LineLatency Card::line_latency(double loaded, double stored) const {
    const double all = loaded + stored, copied = all > 0 ? std::min(1.0, 2 * stored / all) : 0;
    const auto between = [&](const Points& loading, const Points& copying) {
        return (1 - copied) * interpolated(loading, all) + copied * interpolated(copying, all);
    };
    return {.latency = between(loading_.latency, copying_.latency),
            .spread = between(loading_.spread, copying_.spread)};
}

double Card::hot_store_rate(double sectors) const {
    return std::max((*this)["hot_stores_1"], (*this)["hot_stores_256"] * sectors / 256);
}

double Card::piece_cost(double bytes) const { return bytes == 0 ? 1 : interpolated(piece_costs_, bytes); }

double Card::atomic_rate(double sectors, bool floats) const {
    // Measured by lanes. Of 32 at random words of 256, so many are not the only ones in their sector.
    constexpr double sectors_of_256 = 22.26 / 32;
    const double of_256 = (*this)["atomics_256"] * sectors_of_256;
    // The L2 adds to each sector on its own, and 256 words lie in 32.
    if (sectors > 32) return std::min((*this)["atomics_65536"], of_256 * sectors / 32);
    const Points rates{{0, std::log((*this)[floats ? "atomics_1_float" : "atomics_1"])},
                       {5, std::log(of_256)}};
    return std::exp(interpolated(rates, std::log2(std::max(sectors, 1.0))));
}

const Card& find_card(std::string_view id) {
    static const std::vector<Card> cards(std::begin(card_descriptions), std::end(card_descriptions));
    const auto card = std::find_if(cards.begin(), cards.end(), [&](const Card& c) { return c.id() == id; });
    if (card != cards.end()) return *card;
    throw std::runtime_error("there is no card " + std::string(id));
}

} // namespace emulator::timing
