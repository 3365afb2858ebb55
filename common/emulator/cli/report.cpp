#include "emulator/cli/report.hpp"

#include <fstream>
#include <utility>

namespace emulate {
namespace {

/// What was estimated of a launch, or counted of it beside its counters, becomes part of its record.
void add_to_launch(std::vector<Json>& launches, const Json& record) {
    for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
        if (launch->at("launch") != record.at("launch") || launch->at("process") != record.at("process"))
            continue;
        launch->update(record);
        return;
    }
}

} // namespace

Report read_report(const std::filesystem::path& file) {
    Report report;
    emulator::Findings findings;
    const std::pair<const char*, std::vector<Json>*> lists[] = {{"process", &report.processes},
                                                                {"launch", &report.launches},
                                                                {"other launch", &report.other_launches},
                                                                {"accesses", &report.accesses},
                                                                {"replay", &report.replays}};
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
        if (is_end && report.running && report.running->at("launch") == record.at("launch") &&
            report.running->at("process") == record.at("process"))
            report.running.reset();
        if (kind == "running") report.running = record;
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
    report.findings = findings.take();
    return report;
}

} // namespace emulate
