#include "emulator/cli/report.hpp"

#include <fstream>
#include <iterator>
#include <utility>

namespace emulate {
namespace {

bool are_of_one_launch(const Json& a, const Json& b) {
    return a.at("launch") == b.at("launch") && a.at("process") == b.at("process");
}

/// What was estimated of a launch, or counted of it beside its counters, becomes part of its record.
void add_to_launch(std::vector<Json>& launches, const Json& record) {
    for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
        if (!are_of_one_launch(*launch, record)) continue;
        launch->update(record);
        return;
    }
}

/// Records come in the order in which launches end. Those that take turns may have begun in another.
void add_in_order(std::vector<Json>& launches, Json record) {
    auto place = launches.end();
    while (place != launches.begin() && std::prev(place)->at("process") == record.at("process") &&
           std::prev(place)->at("launch") > record.at("launch"))
        --place;
    launches.insert(place, std::move(record));
}

} // namespace

Report read_report(const std::filesystem::path& file) {
    Report report;
    emulator::Findings findings;
    const std::pair<const char*, std::vector<Json>*> lists[] = {
        {"process", &report.processes}, {"accesses", &report.accesses}, {"replay", &report.replays}};
    std::vector<Json> running;
    std::ifstream records(file);
    for (std::string line; std::getline(records, line);) {
        Json record = Json::parse(line, nullptr, /*allow_exceptions=*/false);
        if (record.is_discarded()) continue;
        const std::string kind = record.at("record");
        record.erase("record");
        if (kind == "finding") findings.add(record.get<emulator::Finding>());
        if (kind == "error") report.errors.push_back(record.at("text"));
        if (kind == "refused launch") ++report.rejected_launches;
        if (kind == "refusal") {
            const std::string function = record.at("function");
            if (function.empty())
                ++report.refused_launches;
            else
                report.refused_functions.insert(function);
        }
        if (kind == "cut off") report.is_complete = false;
        const bool is_end = kind == "launch" || kind == "other launch";
        if (is_end || kind == "running")
            std::erase_if(running, [&](const Json& one) { return are_of_one_launch(one, record); });
        if (kind == "running") running.push_back(record);
        if (is_end) {
            add_in_order(kind == "launch" ? report.launches : report.other_launches, std::move(record));
            continue;
        }
        if (kind == "time" || kind == "machine code") {
            add_machine_code(report.lines, record, report.launches);
            record.erase("lines_sm_90");
            add_to_launch(report.launches, record);
        }
        if (kind == "peers") add_to_launch(report.launches, record);
        if (kind == "copies")
            report.copies.insert(report.copies.end(), record.at("copies").begin(), record.at("copies").end());
        if (kind == "lines") add_lines(report.lines, record, report.launches);
        for (const auto& [name, list] : lists) {
            if (kind != name) continue;
            list->push_back(std::move(record));
            break;
        }
    }
    if (!running.empty()) report.running = running.back();
    report.findings = findings.take();
    return report;
}

} // namespace emulate
