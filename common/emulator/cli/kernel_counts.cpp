#include "emulator/cli/kernel_counts.hpp"

#include "emulator/machine/dim3.hpp"
#include "emulator/session/recorders.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>

namespace emulate {

using emulator::FunctionLines;

namespace {

void add(std::vector<FunctionLines>& sum, std::vector<FunctionLines> launch) {
    for (FunctionLines& function : launch) {
        const auto known = std::find_if(sum.begin(), sum.end(), [&](const FunctionLines& other) {
            return other.function == function.function && other.path == function.path &&
                   other.first_line == function.first_line;
        });
        if (known == sum.end())
            sum.push_back(std::move(function));
        else // a function has the same lines in every launch
            for (std::size_t i = 0; i < known->lines.size(); ++i) known->lines[i] += function.lines.at(i);
    }
}

/// The launch of the record, if it has ended well.
const Json* launch_of(const Json& record, const std::vector<Json>& launches) {
    const auto launch = std::find_if(launches.rbegin(), launches.rend(), [&](const Json& one) {
        return one.at("process") == record.at("process") && one.at("launch") == record.at("launch");
    });
    return launch == launches.rend() || !launch->contains("counters") ? nullptr : &*launch;
}

/// The counts of a line. Where no PTX of it was executed, those of the kernel's first one.
LineCounts& line_in(std::vector<FunctionLines>& functions, const std::string& name, const std::string& path,
                    std::uint32_t number) {
    for (FunctionLines& function : functions)
        for (LineCounts& line : function.lines)
            if (line.line == number && function.function == name && function.path == path) return line;
    return functions.front().lines.front();
}

} // namespace

LineCounts& operator+=(LineCounts& sum, const LineCounts& other) {
    sum.counted += other.counted;
    sum.ideal += other.ideal;
    sum.machine_instructions += other.machine_instructions;
    sum.data_pipe_passes += other.data_pipe_passes;
    return sum;
}

void add_lines(std::vector<KernelCounts>& kernels, const Json& record, const std::vector<Json>& launches) {
    const Json* const launch = launch_of(record, launches);
    if (!launch) return;

    const std::string name = record.at("name");
    auto kernel = std::find_if(kernels.begin(), kernels.end(),
                               [&](const KernelCounts& known) { return known.name == name; });
    if (kernel == kernels.end()) {
        kernels.push_back({.kernel = record.at("kernel"), .name = name});
        kernel = kernels.end() - 1;
    }
    ++kernel->launches;
    const std::string shape =
        fmt::format("grid {}, block {}", emulator::triple(launch->at("grid").get<emulator::Dim3>()),
                    emulator::triple(launch->at("block").get<emulator::Dim3>()));
    if (std::find(kernel->shapes.begin(), kernel->shapes.end(), shape) == kernel->shapes.end())
        kernel->shapes.push_back(shape);
    add(kernel->functions, record.at("functions").get<std::vector<FunctionLines>>());
}

void add_machine_code(std::vector<KernelCounts>& kernels, const Json& record,
                      const std::vector<Json>& launches) {
    const Json* const launch = launch_of(record, launches);
    if (!launch) return;
    for (KernelCounts& kernel : kernels) {
        if (kernel.name != launch->at("name")) continue;
        if (!record.contains("lines_sm_90")) {
            kernel.no_machine_code = record.value("no_sm_90", record.value("no_estimate", ""));
            return;
        }
        for (const Json& line : record.at("lines_sm_90")) {
            LineCounts& counts = line_in(kernel.functions, line.at(0), line.at(1), line.at(2));
            counts.machine_instructions += line.at(3).get<std::uint64_t>();
            counts.data_pipe_passes += line.at(4).get<std::uint64_t>();
        }
    }
}

} // namespace emulate
