#include "emulator/session/records.hpp"

#include "emulator/session/recorders.hpp"

#include <nlohmann/json.hpp>

namespace emulator {
namespace {

/// Calls `field(name, member)` for each member of a Party or a Finding.
template <class SomeParty, class Field> void for_each_field_of_party(SomeParty& party, Field field) {
    field("role", party.role);
    field("block", party.block);
    field("thread", party.thread);
    field("where", party.where);
    field("ptx", party.ptx);
    field("operation", party.operation);
}

template <class SomeFinding, class Field> void for_each_field_of_finding(SomeFinding& finding, Field field) {
    field("checker", finding.checker);
    field("kind", finding.kind);
    field("message", finding.message);
    field("kernel", finding.kernel);
    field("parties", finding.parties);
    field("allocation", finding.allocation);
    field("cause", finding.cause);
    field("count", finding.count);
}

Counters counters_of(const Json& json) {
    Counters counters;
    for (std::size_t i = 0; i < metric_count; ++i)
        counters.values[i] = json.value(metric_name(static_cast<Metric>(i)), std::uint64_t{0});
    return counters;
}

} // namespace

void to_json(Json& json, const Dim3& extents) { json = Json::array({extents.x, extents.y, extents.z}); }

void from_json(const Json& json, Dim3& extents) {
    json.at(0).get_to(extents.x);
    json.at(1).get_to(extents.y);
    json.at(2).get_to(extents.z);
}

void to_json(Json& json, const Counters& counters) {
    json = Json::object();
    for (std::size_t i = 0; i < metric_count; ++i)
        json[metric_name(static_cast<Metric>(i))] = counters.values[i];
}

Json nonzero(const Counters& counters) {
    Json json = Json::object();
    for (std::size_t i = 0; i < metric_count; ++i)
        if (counters.values[i] != 0) json[metric_name(static_cast<Metric>(i))] = counters.values[i];
    return json;
}

void to_json(Json& json, const Party& party) {
    json = Json::object();
    for_each_field_of_party(party, [&](const char* name, const auto& member) { json[name] = member; });
}

void to_json(Json& json, const Finding& finding) {
    json = Json::object();
    for_each_field_of_finding(finding, [&](const char* name, const auto& member) { json[name] = member; });
}

void from_json(const Json& json, Party& party) {
    for_each_field_of_party(party, [&](const char* name, auto& member) { json.at(name).get_to(member); });
}

void from_json(const Json& json, Finding& finding) {
    for_each_field_of_finding(finding, [&](const char* name, auto& member) { json.at(name).get_to(member); });
}

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
