#include "harness/detail/sweep.hpp"

#include "harness/detail/standard_streams.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace harness {
namespace {

std::string grouped(std::size_t value) { return group_digits(std::uint64_t{value}); }

/// All kernels at one size. \param report says which size; the results go there
/// \return whether every result was right; a wrong one is the last
bool sweep_size(const std::vector<SweptKernel>& kernels, const Options& options, Sweep& sweep,
                Report& report) {
    // Made before the first kernel's time is taken.
    std::optional<RandomInts> input(std::in_place, report.elements, options.seed);
    for (const SweptKernel& kernel : kernels) {
        if (sweep.leaves_out(kernel.name)) continue;
        const auto start = std::chrono::steady_clock::now();
        try {
            report.kernels.push_back(kernel.run_kernel(report.elements, input));
        } catch (const UnsupportedKernel& error) {
            if (report.elements == smallest_swept) write_message(report.lesson, error.what());
            continue;
        }
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        sweep.took(kernel.name, report.elements, taken.count());
        if (report.kernels.back().verification.passed) continue;
        tell_wrong_result(report.lesson, report.kernels.back());
        return false;
    }
    return true;
}

} // namespace

LessonOption sweep_option(const char* lesson) {
    return {.name = "--sweep",
            .value = "",
            .help = kept(fmt::format("measures the kernels over n = 2^10, 2^11, ... up to --n (default:\n"
                                     "2^26 on the emulator, 2^30 on a GPU), and writes a table,\n"
                                     "{}_sweep.csv, in the folder that --save names or the\n"
                                     "current one. scripts/plot_sweep draws it",
                                     lesson))};
}

void check_sweep_options(const Options& options) {
    if (options.verify_only)
        throw UsageError("--sweep measures, and --verify does not: leave one of them out.");
    if (options.format != OutputFormat::text || options.changed)
        throw UsageError(fmt::format("--sweep writes a CSV, and prints no report: leave {} out.",
                                     options.changed ? "--changed" : "--format"));
    if (options.n && *options.n < smallest_swept)
        throw UsageError(
            fmt::format("--n {}: --sweep begins with {} ints and ends with --n. Write a larger --n.",
                        *options.n, grouped(smallest_swept)));
}

std::size_t default_largest_swept(const Device& device, std::size_t free_bytes) {
    std::size_t largest = std::size_t{1} << (device.kind == DeviceKind::emulator ? 26 : 30);
    while (largest > smallest_swept && 2 * largest * sizeof(int) > free_bytes / 10 * 9) largest /= 2;
    return largest;
}

std::vector<std::size_t> swept_sizes(std::size_t largest) {
    std::vector<std::size_t> sizes;
    for (std::size_t n = smallest_swept; n <= largest && n != 0; n *= 2) sizes.push_back(n);
    return sizes;
}

void Sweep::took(const std::string& kernel, std::size_t elements, double seconds) {
    if (seconds > most_seconds_a_turn && elements < largest) left_out.push_back({kernel, elements, seconds});
}

bool Sweep::leaves_out(const std::string& kernel) const {
    return std::any_of(left_out.begin(), left_out.end(),
                       [&](const LeftOut& entry) { return entry.kernel == kernel; });
}

std::string describe(const Sweep::LeftOut& left_out) {
    return fmt::format("{} is left out beyond {} ints: they took {:.0f} s", left_out.kernel,
                       grouped(left_out.elements), left_out.seconds);
}

std::string format_csv(const Sweep& sweep) {
    std::string text;
    for (const Sweep::LeftOut& entry : sweep.left_out) text += fmt::format("# {}\n", describe(entry));
    for (const Report& report : sweep.reports) {
        const std::string csv = format_csv(report);
        text += &report == &sweep.reports.front() ? csv : csv.substr(csv.find('\n') + 1);
    }
    return text;
}

bool run_sweep(const std::vector<SweptKernel>& kernels, std::size_t largest, const Options& options,
               Report report) {
    const std::vector<std::size_t> sizes = swept_sizes(largest);
    Sweep sweep{.largest = sizes.back()};
    for (const std::size_t n : sizes) {
        report.elements = n;
        report.kernels.clear();
        if (!sweep_size(kernels, options, sweep, report)) return false;
        if (report.kernels.empty()) break; // all are left out
        write_message(report.lesson,
                      fmt::format("{} ints: {} kernels verified", grouped(n), report.kernels.size()));
        sweep.reports.push_back(report);
    }

    for (const Sweep::LeftOut& entry : sweep.left_out) write_message(report.lesson, describe(entry));
    const std::filesystem::path file = std::filesystem::path(options.save) / (report.lesson + "_sweep.csv");
    write_file(file, format_csv(sweep));
    write_output(fmt::format("written: {0}\nTo draw it: scripts/plot_sweep {0}\n", file.string()));
    return true;
}
} // namespace harness
