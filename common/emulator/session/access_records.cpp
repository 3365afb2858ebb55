#include "emulator/session/recorders.hpp"
#include "emulator/session/records.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

namespace emulator {

NLOHMANN_JSON_SERIALIZE_ENUM(AccessKind, {{AccessKind::load, "load"},
                                          {AccessKind::store, "store"},
                                          {AccessKind::atom, "atom"},
                                          {AccessKind::red, "red"}})
namespace ptx {
NLOHMANN_JSON_SERIALIZE_ENUM(Space, {{Space::global, "global"}, {Space::shared, "shared"}})
}

namespace {

/// Runs of touched words as pairs: the first word, and their number.
Json runs_of(const std::vector<bool>& touched) {
    Json runs = Json::array();
    for (std::size_t word = 0; word < touched.size(); ++word) {
        if (!touched[word]) continue;
        const std::size_t first = word;
        while (word < touched.size() && touched[word]) ++word;
        runs.push_back({first, word - first});
    }
    return runs;
}

std::vector<bool> words_of(std::size_t count, const Json& runs) {
    std::vector<bool> touched(count);
    for (const Json& run : runs)
        for (std::size_t k = 0; k < run.at(1).get<std::size_t>(); ++k)
            touched.at(run.at(0).get<std::size_t>() + k) = true;
    return touched;
}

template <class T, class Member> constexpr auto member(const char* name, Member T::*place) {
    return std::pair(name, place);
}

} // namespace

// The members of each record.

auto members_of(const TracedPlace*) {
    return std::tuple(member("path", &TracedPlace::path), member("line", &TracedPlace::line),
                      member("ptx", &TracedPlace::ptx));
}
auto members_of(const TracedRequest*) {
    return std::tuple(member("warp", &TracedRequest::warp), member("turn", &TracedRequest::turn),
                      member("active", &TracedRequest::active), member("cost", &TracedRequest::cost),
                      member("ideal", &TracedRequest::ideal), member("addresses", &TracedRequest::addresses));
}
auto members_of(const TracedAccess*) {
    return std::tuple(member("place", &TracedAccess::place), member("space", &TracedAccess::space),
                      member("kind", &TracedAccess::kind), member("bytes", &TracedAccess::bytes),
                      member("requests", &TracedAccess::requests), member("cost", &TracedAccess::cost),
                      member("ideal", &TracedAccess::ideal), member("worst", &TracedAccess::worst));
}
auto members_of(const TracedWrite*) {
    return std::tuple(member("word", &TracedWrite::word), member("value", &TracedWrite::value));
}
auto members_of(const TracedStep*) {
    return std::tuple(member("place", &TracedStep::place), member("what", &TracedStep::what),
                      member("is_load", &TracedStep::is_load), member("barriers", &TracedStep::barriers),
                      member("active", &TracedStep::active), member("writes", &TracedStep::writes),
                      member("requests", &TracedStep::requests));
}
auto members_of(const TracedVariable*) {
    return std::tuple(member("name", &TracedVariable::name), member("address", &TracedVariable::address),
                      member("bytes", &TracedVariable::bytes));
}
auto members_of(const AccessTrace*) {
    return std::tuple(
        member("name", &AccessTrace::kernel), member("grid", &AccessTrace::grid),
        member("block", &AccessTrace::block), member("index", &AccessTrace::index),
        member("ran", &AccessTrace::ran), member("accesses", &AccessTrace::accesses),
        member("steps", &AccessTrace::steps), member("steps_left_out", &AccessTrace::steps_left_out),
        member("shared", &AccessTrace::shared), member("allocations", &AccessTrace::allocations));
}

template <class T>
concept Described = requires(const T* value) {
    members_of(value);
};

template <Described T> void write_members(Json& json, const T& value) {
    json = Json::object();
    std::apply([&](const auto&... each) { ((json[each.first] = value.*each.second), ...); },
               members_of(&value));
}

template <Described T> void read_members(const Json& json, T& value) {
    std::apply([&](const auto&... each) { (json.at(each.first).get_to(value.*each.second), ...); },
               members_of(&value));
}

template <Described T> void to_json(Json& json, const T& value) { write_members(json, value); }
template <Described T> void from_json(const Json& json, T& value) { read_members(json, value); }

void to_json(Json& json, const AccessTrace& trace) {
    write_members(json, trace);
    json["shared_words"] = trace.touched.size();
    json["touched"] = runs_of(trace.touched);
}

void from_json(const Json& json, AccessTrace& trace) {
    read_members(json, trace);
    trace.touched = words_of(json.at("shared_words").get<std::size_t>(), json.at("touched"));
}

} // namespace emulator
