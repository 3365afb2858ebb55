#include "emulator/session/request.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <stdexcept>

namespace emulator {
namespace {

using Json = nlohmann::ordered_json;

/// Calls `field(name, member)` for every member: the one list of them.
template <class SomeRequest, class Field> void for_each_field(SomeRequest& request, Field field) {
    field("kernel", request.kernel);
    field("launch", request.launch);
    field("lines", request.lines);
    field("check", request.check);
    field("leaks", request.leaks);
    field("global_races", request.global_races);
    field("draw", request.draw);
    field("line", request.line);
    field("values", request.values);
    field("time", request.time);
    field("time_only", request.time_only);
    field("ptxas", request.ptxas);
    field("nvdisasm", request.nvdisasm);
    field("at_most", request.at_most);
    field("replay", request.replay);
    field("schedule", request.schedule);
    field("ptx", request.ptx);
}

template <class T> void read(const Json& value, T& member) { value.get_to(member); }
template <class T> void read(const Json& value, std::optional<T>& member) { member = value.get<T>(); }

template <class T> bool is_asked_for(const T& member) { return member != T{}; }
template <class T> Json written(const T& member) { return member; }
template <class T> Json written(const std::optional<T>& member) { return *member; }

} // namespace

bool Request::checks(std::string_view checker) const {
    return std::find(check.begin(), check.end(), checker) != check.end();
}

std::function<bool(const std::string&)> kernel_filter(const std::string& pattern) {
    return [expression = std::regex(pattern)](const std::string& name) {
        return std::regex_search(name, expression);
    };
}

std::string to_text(const Request& request) {
    Json json = Json::object();
    for_each_field(request, [&](const char* name, const auto& member) {
        if (is_asked_for(member)) json[name] = written(member);
    });
    return json.dump();
}

Request parse_request(std::string_view text) {
    const Json json = Json::parse(text);
    if (!json.is_object()) throw std::invalid_argument("it is no object");
    Request request;
    std::size_t known = 0;
    for_each_field(request, [&](const char* name, auto& member) {
        if (!json.contains(name)) return;
        read(json[name], member);
        ++known;
    });
    if (known != json.size()) throw std::invalid_argument("it asks for something unknown");
    return request;
}

} // namespace emulator
