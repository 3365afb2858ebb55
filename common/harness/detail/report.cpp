#include "harness/detail/report.hpp"

#include "harness/detail/observing.hpp"
#include "harness/detail/progress.hpp"
#include "harness/detail/standard_streams.hpp"
#include "harness/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace harness {
namespace {

using Json = nlohmann::ordered_json; // keeps the keys in the order of insertion

template <class Value> Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json extent(dim3 size) { return Json::array({size.x, size.y, size.z}); }

const char* kind_name(DeviceKind kind) { return kind == DeviceKind::gpu ? "gpu" : "emulator"; }

std::optional<double> peak_fraction(const Report& report, const KernelResult& kernel) {
    const std::optional<double> bandwidth = kernel.bandwidth_gbs();
    if (!bandwidth || !report.device.peak_bandwidth_gbs) return std::nullopt;
    return *bandwidth / *report.device.peak_bandwidth_gbs;
}

Json times_json(const std::optional<Times>& times) {
    if (!times) return nullptr;
    return {{"median", times->median}, {"min", times->min}, {"runs", times->runs}};
}

Json counters_json(const std::optional<Counters>& counters) {
    if (!counters) return nullptr;
    Json object = Json::object();
    for (const auto& [name, value] : *counters) object[name] = value;
    return object;
}

/// A number that is a text is a number in JSON, too: 0.1, but not nan.
Json number_or_text(std::int64_t number, const std::string& text) {
    if (text.empty()) return number;
    const char* const end = text.data() + text.size();
    double value = 0;
    if (std::from_chars(text.data(), end, number).ptr == end) return number;
    return std::from_chars(text.data(), end, value).ptr == end && std::isfinite(value) ? Json(value)
                                                                                       : Json(text);
}

Json kernel_json(const Report& report, const KernelResult& kernel) {
    Json json{{"name", kernel.name},
              {"grid", extent(kernel.launch.grid)},
              {"block", extent(kernel.launch.block)},
              {"dynamic_shared_bytes", kernel.launch.dynamic_shared_bytes},
              {"verified", kernel.verification.passed},
              {"expected", number_or_text(kernel.verification.expected, kernel.verification.expected_text)},
              {"actual", number_or_text(kernel.verification.actual, kernel.verification.actual_text)},
              {"bytes", kernel.launch.bytes},
              {"time_us", times_json(kernel.times)},
              {"complete_time_us", times_json(kernel.times_of_all_passes())},
              {"bandwidth_gbs", or_null(kernel.bandwidth_gbs())},
              {"peak_fraction", or_null(peak_fraction(report, kernel))},
              {"counters", counters_json(kernel.counters)}};
    if (report.estimated_only)
        for (const char* unknown : {"verified", "expected", "actual"}) json[unknown] = nullptr;
    if (kernel.estimate) json.update(Json::parse(kernel.estimate->json));
    return json;
}

/// {"--offset": 3, "--type": "half"}; a flag is true.
Json options_json(const std::vector<ChangedOption>& options) {
    Json object = Json::object();
    for (const ChangedOption& option : options)
        object[option.name] = !option.choice.empty() ? Json(option.choice)
                              : option.value         ? Json(*option.value)
                                                     : Json(true);
    return object;
}

/// "--offset 3", as on the command line.
std::string options_text(const Json& options) {
    std::vector<std::string> words;
    for (const auto& [name, value] : options.items()) {
        words.push_back(name);
        if (!value.is_boolean()) words.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
    return fmt::format("{}", fmt::join(words, " "));
}

Json report_json(const Report& report) {
    Json kernels = Json::array();
    for (const KernelResult& kernel : report.kernels) kernels.push_back(kernel_json(report, kernel));
    return {{"lesson", report.lesson},
            {"title", report.title},
            {"device",
             {{"kind", kind_name(report.device.kind)},
              {"name", report.device.name},
              {"compute_capability", report.device.compute_capability},
              {"peak_bandwidth_gbs", or_null(report.device.peak_bandwidth_gbs)}}},
            {"elements", report.elements},
            {"seed", or_null(report.seed)},
            {"options", options_json(report.options)},
            {"kernels", std::move(kernels)}};
}

/// RFC 4180: a field with a comma or a quote is quoted, and its quotes are doubled.
std::string csv_field(const Json& value) {
    if (value.is_null()) return "";
    if (!value.is_string()) return value.dump();
    std::string text = value.get<std::string>();
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    for (std::size_t i = 0; (i = text.find('"', i)) != std::string::npos; i += 2) text.insert(i, 1, '"');
    return '"' + text + '"';
}

using Row = std::vector<std::pair<std::string, Json>>;

/// One kernel's columns, as pairs of name and value.
Row csv_row(const Json& report, const Json& kernel) {
    Row row;
    const auto add = [&](const std::string& name, const Json& value) { row.emplace_back(name, value); };
    const Json& device = report.at("device");
    add("lesson", report.at("lesson"));
    add("title", report.at("title"));
    add("device_kind", device.at("kind"));
    add("device_name", device.at("name"));
    add("compute_capability", device.at("compute_capability"));
    add("peak_bandwidth_gbs", device.at("peak_bandwidth_gbs"));
    add("elements", report.at("elements"));
    add("seed", report.at("seed"));
    add("options", options_text(report.at("options")));
    add("name", kernel.at("name"));
    for (const char* size : {"grid", "block"}) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            add(fmt::format("{}_{}", size, "xyz"[axis]), kernel.at(size)[axis]);
    }
    for (const char* name : {"dynamic_shared_bytes", "verified", "expected", "actual", "bytes"})
        add(name, kernel.at(name));
    for (const char* name : {"median", "min", "runs"}) {
        const Json& times = kernel.at("time_us");
        add(fmt::format("time_us_{}", name), times.is_null() ? Json(nullptr) : times.at(name));
    }
    const Json& complete = kernel.at("complete_time_us");
    add("complete_time_us_median", complete.is_null() ? Json(nullptr) : complete.at("median"));
    add("bandwidth_gbs", kernel.at("bandwidth_gbs"));
    add("peak_fraction", kernel.at("peak_fraction"));
    for (const KnownCounter& counter : known_counters()) {
        const Json& counters = kernel.at("counters");
        const std::string name = counter.name;
        add(name, counters.is_null() || !counters.contains(name) ? Json(nullptr) : counters.at(name));
    }
    return row;
}

} // namespace

std::string format_report(const Report& report, OutputFormat format) {
    switch (format) {
    case OutputFormat::json: return format_json(report);
    case OutputFormat::csv: return format_csv(report);
    case OutputFormat::text: break;
    }
    return format_text(report);
}

std::string format_json(const Report& report) {
    std::string text = report_json(report).dump(2) + "\n";
    // Puts a grid's three numbers on one line. Only arrays begin so: JSON escapes newlines in strings.
    for (std::size_t at = 0; (at = text.find("[\n", at)) != std::string::npos; ++at) {
        const std::size_t end = text.find_first_of("{]", at);
        if (text[end] == '{') continue; // an array of objects
        std::string line;
        for (const char c : text.substr(at, end - at))
            if (c != '\n' && c != ' ') line += c == ',' ? ", " : std::string(1, c);
        text.replace(at, end - at, line);
    }
    return text;
}

std::string format_csv(const Report& report) {
    const Json json = report_json(report);
    std::string text;
    for (const Json& kernel : json.at("kernels")) {
        std::vector<std::string> names, fields;
        for (const auto& [name, value] : csv_row(json, kernel)) {
            names.push_back(name);
            fields.push_back(csv_field(value));
        }
        if (text.empty()) text = fmt::format("{}\n", fmt::join(names, ","));
        text += fmt::format("{}\n", fmt::join(fields, ","));
    }
    return text;
}

void add_estimates(Report& report, std::vector<std::string> arguments, bool at_large_n) {
    const bool asked = report.changed_only;
    const Progress progress("estimating the time on a card");
    const auto for_each_estimate = [&](auto use) {
        const Json estimated = Json::parse(estimates_as_json(arguments, asked), nullptr, false);
        if (!estimated.is_object()) return false;
        for (const Json& one : estimated.at("kernels"))
            for (KernelResult& kernel : report.kernels)
                if (one.at("name") == kernel.name) {
                    auto estimate = parse_estimate(one.dump());
                    if (estimate) estimate->json = "{}"; // it was another run's
                    use(kernel, std::move(estimate));
                }
        return true;
    };
    std::erase(arguments, "--changed");
    arguments.emplace_back("--format=json");
    const bool is_known =
        for_each_estimate([](KernelResult& kernel, auto estimate) { kernel.estimate = std::move(estimate); });
    if (!is_known || !at_large_n || report.elements == large_n) return;
    arguments.emplace_back(fmt::format("--n={}", large_n));
    for_each_estimate(
        [](KernelResult& kernel, auto estimate) { kernel.large_estimate = std::move(estimate); });
}

void tell_wrong_result(const std::string& lesson, const KernelResult& kernel) {
    const Verification& verification = kernel.verification;
    write_message(lesson, fmt::format("{}: wrong result: expected {}, got {}", kernel.name,
                                      expected_text(verification), actual_text(verification)));
    for (const std::string& place : verification.wrong_places)
        write_message(lesson, fmt::format("{}: {}", kernel.name, place));
}

} // namespace harness
