#include "emulator/session/records.hpp"

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

} // namespace emulator
