#include "emulator/cli/report_forms.hpp"

#include "emulator/counter_legend.hpp"
#include "emulator/machine/dim3.hpp"
#include "emulator/text.hpp"

#include <counter_catalogue.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace emulate {
namespace {

/// Two counters of one kind.
struct Row {
    const char* group;
    const char* label;
    const char* first; ///< a counter's name; null: none
    const char* second;
};

/// Rows whose columns mean the same.
struct CounterTable {
    const char* first_column;
    const char* second_column;
    std::vector<Row> rows;
    bool only_if_any = false; ///< most kernels have none of them
};

const std::vector<CounterTable>& tables() {
    static const std::vector<CounterTable> tables{
        {.first_column = "loads",
         .second_column = "stores",
         .rows = {{"global memory", "sectors", counter_name::global_load_sectors,
                   counter_name::global_store_sectors},
                  {"", "requests", counter_name::global_load_requests, counter_name::global_store_requests},
                  {"shared memory", "wavefronts", counter_name::shared_load_wavefronts,
                   counter_name::shared_store_wavefronts},
                  {"", "bank conflicts", counter_name::shared_load_bank_conflicts,
                   counter_name::shared_store_bank_conflicts}}},
        {.first_column = "result used",
         .second_column = "unused",
         .rows = {{"global atomics", "sectors", counter_name::global_atom_sectors,
                   counter_name::global_red_sectors}},
         .only_if_any = true},
        {.first_column = "atomics",
         .second_column = "loads",
         .rows = {{"shared memory", "instructions", counter_name::shared_atomics, nullptr},
                  {"local memory", "instructions", nullptr, counter_name::local_loads}},
         .only_if_any = true},
        {.first_column = "cp.async",
         .second_column = "bulk",
         .rows = {{"async copies", "instructions", counter_name::copy_instructions,
                   counter_name::bulk_instructions},
                  {"", "wavefronts", counter_name::copy_wavefronts, nullptr},
                  {"", "sectors", nullptr, counter_name::bulk_sectors}},
         .only_if_any = true},
        {.first_column = "per warp",
         .second_column = "per thread",
         .rows = {{"executed (PTX)", "instructions", counter_name::warp_instructions,
                   counter_name::thread_instructions},
                  {"", "divergent branches", counter_name::divergent_branches, nullptr},
                  {"", "barriers", nullptr, counter_name::thread_barriers}}}};
    return tables;
}

/// What --time adds: counts of the machine code.
constexpr std::array<const char*, 3> machine_code[] = {
    {"machine code", "instructions (sm_90)", "instructions_sm_90"},
    {"", "data pipe passes", "data_pipe_passes"},
};

constexpr const char* ptx_note = "\n(PTX): counted on PTX; the GPU's own machine code may differ.\n";

std::uint64_t value_of(const Json& counters, const char* name) {
    return name ? counters.value(name, std::uint64_t{0}) : 0;
}

bool has_any(const CounterTable& table, const Json& counters) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
        return value_of(counters, row.first) + value_of(counters, row.second) > 0;
    });
}

std::string row(std::string_view group, const std::string& label, const Json& first, const Json& second) {
    return fmt::format("  {:<16}{:<20}{:>16}{:>16}\n", group, label,
                       emulator::thousands(first.get<std::uint64_t>()),
                       emulator::thousands(second.get<std::uint64_t>()));
}

/// Sectors of the memory of other devices, and of the host.
std::string peers_as_text(const Json& peers) {
    std::string text, of_host, atomics;
    for (const Json& peer : peers) {
        const bool is_host = peer.at("device").is_null();
        const std::string label =
            is_host ? "sectors" : fmt::format("sectors, device {}", peer.at("device").get<int>());
        (is_host ? of_host : text) += row(is_host        ? "host memory"
                                          : text.empty() ? "peer memory"
                                                         : "",
                                          label, peer.at("load_sectors"), peer.at("store_sectors"));
        if (const std::uint64_t count = peer.at("atomic_sectors"); count != 0)
            atomics += fmt::format("  {:<16}{:<20}{:>16}\n", is_host ? "host atomics" : "peer atomics", label,
                                   emulator::thousands(count));
    }
    return fmt::format("{:>54}{:>16}\n", "loads", "stores") + text + of_host + atomics;
}

/// Between memories, with several devices.
std::string copies_as_text(const Json& copies) {
    if (copies.empty()) return "";
    const auto place = [](const Json& device) {
        return device.is_null() ? std::string("host") : fmt::format("device {}", device.get<int>());
    };
    std::string text = fmt::format("{:>54}{:>16}\n", "copies", "bytes");
    for (const Json& one : copies)
        text += row(one.at("through_host").get<bool>() ? "through host" : "",
                    fmt::format("{} to {}", place(one.at("from")), place(one.at("to"))), one.at("count"),
                    one.at("bytes"));
    return "\n" + text;
}

std::string as_text(const Json& launch) {
    const Json& counters = launch.at("counters");
    std::string text;
    for (const CounterTable& table : tables()) {
        if (table.only_if_any && !has_any(table, counters)) continue;
        text += fmt::format("{:>54}{:>16}\n", table.first_column, table.second_column);
        for (const Row& row : table.rows) {
            const auto cell = [&](const char* name) {
                return name ? emulator::thousands(value_of(counters, name)) : "";
            };
            std::string line = fmt::format("  {:<16}{:<20}{:>16}{:>16}", row.group, row.label,
                                           cell(row.first), cell(row.second));
            line.erase(line.find_last_not_of(' ') + 1);
            text += line + "\n";
        }
    }
    if (launch.contains("peers")) text += peers_as_text(launch.at("peers"));
    for (const auto& [group, label, name] : machine_code)
        if (launch.contains(name))
            text += fmt::format("  {:<16}{:<20}{:>16}\n", group, label, emulator::thousands(launch.at(name)));
    return text;
}

/// Whether the two differ in their number only.
bool are_alike(Json a, Json b) {
    a.erase("launch");
    b.erase("launch");
    return a == b;
}

std::string heading(const Json& first, const Json& last, bool several_processes) {
    const std::uint64_t from = first["launch"], to = last["launch"];
    const auto extents = [&](const char* what) {
        return emulator::triple(first[what].get<emulator::Dim3>());
    };
    std::string text =
        from == to ? fmt::format("launch {}", from) : fmt::format("launches {} to {}, each", from, to);
    if (several_processes) text += fmt::format(" of process {}", first["process"].get<int>());
    if (first.contains("device")) text += fmt::format(" on device {}", first["device"].get<int>());
    text += fmt::format(": {}\n  grid {}, block {}", first["name"].get<std::string>(), extents("grid"),
                        extents("block"));
    if (const std::uint64_t bytes = first["dynamic_shared_bytes"]; bytes > 0)
        text += fmt::format(", {} of dynamic shared memory", emulator::byte_count(bytes));
    return text + "\n";
}

std::string indented(const std::string& lines) {
    std::string text = "  ";
    for (const char c : lines) {
        text += c;
        if (c == '\n') text += "  ";
    }
    return text + "\n";
}

/// As a field between commas.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) result.append(c == '"' ? 2 : 1, c);
    return result + "\"";
}

} // namespace

std::string counters_as_text(const Report& report, bool explain) {
    const auto& launches = report.launches;
    if (launches.empty()) return "no kernel ran to its end\n";
    std::string text;
    for (auto first = launches.begin(); first != launches.end();) {
        const auto next = std::find_if_not(first, launches.end(),
                                           [&](const Json& other) { return are_alike(*first, other); });
        if (!text.empty()) text += "\n";
        text += heading(*first, *(next - 1), report.processes.size() > 1);
        text +=
            first->contains("counters") ? as_text(*first) : indented(first->at("error").get<std::string>());
        first = next;
    }
    if (std::none_of(launches.begin(), launches.end(),
                     [](const Json& launch) { return launch.contains("counters"); }))
        return text;
    return text + copies_as_text(report.copies) + ptx_note +
           (explain ? emulator::counter_legend()
                    : "--explain prints the counters' names in Nsight Compute.\n");
}

std::string counters_as_csv(const Report& report) {
    const bool has_devices = std::any_of(report.launches.begin(), report.launches.end(),
                                         [](const Json& launch) { return launch.contains("device"); });
    std::string text = fmt::format("process,launch,{}kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,"
                                   "dynamic_shared_bytes,counter,value\n",
                                   has_devices ? "device," : "");
    for (const Json& launch : report.launches) {
        if (!launch.contains("counters")) continue;
        std::string start =
            fmt::format("{},{},", launch["process"].get<int>(), launch["launch"].get<std::uint64_t>());
        if (has_devices) start += fmt::format("{},", launch["device"].get<int>());
        start += quoted(launch["name"]) + ",";
        for (const char* dim : {"grid", "block"})
            for (const Json& extent : launch[dim]) start += fmt::format("{},", extent.get<std::uint32_t>());
        start += fmt::format("{},", launch["dynamic_shared_bytes"].get<std::uint64_t>());
        for (const auto& [counter, value] : launch["counters"].items())
            text += fmt::format("{}{},{}\n", start, counter, value.get<std::uint64_t>());
        for (const Json& peer : launch.value("peers", Json::array())) {
            const Json& device = peer.at("device");
            const std::string where =
                device.is_null() ? "of_host" : fmt::format("of_device_{}", device.get<int>());
            for (const char* const sectors : {"load_sectors", "store_sectors", "atomic_sectors"})
                text +=
                    fmt::format("{}{}_{},{}\n", start, sectors, where, peer.at(sectors).get<std::uint64_t>());
        }
    }
    return text;
}

} // namespace emulate
