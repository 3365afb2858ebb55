#include "emulator/session/line_recorder.hpp"
#include "emulator/session/records.hpp"

#include <nlohmann/json.hpp>

namespace emulator {

namespace {

Counters counters_of(const Json& json) {
    Counters counters;
    for (std::size_t i = 0; i < metric_count; ++i)
        counters.values[i] = json.value(metric_name(static_cast<Metric>(i)), std::uint64_t{0});
    return counters;
}

} // namespace

void to_json(Json& json, const FunctionLines& function) {
    json = {{"function", function.function}, {"path", function.path}, {"first_line", function.first_line}};
    json["lines"] = Json::array();
    for (const LineCounts& line : function.lines)
        json["lines"].push_back(
            {{"line", line.line}, {"counted", nonzero(line.counted)}, {"ideal", nonzero(line.ideal)}});
    json["ptx"] = function.ptx;
}

void from_json(const Json& json, FunctionLines& function) {
    json.at("function").get_to(function.function);
    json.at("path").get_to(function.path);
    json.at("first_line").get_to(function.first_line);
    for (const Json& line : json.at("lines"))
        function.lines.push_back({.line = line.at("line"),
                                  .counted = counters_of(line.at("counted")),
                                  .ideal = counters_of(line.at("ideal"))});
    json.at("ptx").get_to(function.ptx);
}

} // namespace emulator
