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

} // namespace

LineCounts& operator+=(LineCounts& sum, const LineCounts& other) {
    sum.counted += other.counted;
    sum.ideal += other.ideal;
    return sum;
}

void add_lines(std::vector<KernelCounts>& kernels, const Json& record, const std::vector<Json>& launches) {
    const auto launch = std::find_if(launches.rbegin(), launches.rend(), [&](const Json& one) {
        return one.at("process") == record.at("process") && one.at("launch") == record.at("launch");
    });
    if (launch == launches.rend() || !launch->contains("counters")) return;

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

} // namespace emulate
