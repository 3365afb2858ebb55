#include "harness/lesson.hpp"

#include "emulator/text.hpp"
#include "harness/check.hpp"
#include "harness/detail/observing.hpp"
#include "harness/detail/progress.hpp"
#include "harness/detail/report.hpp"
#include "harness/detail/standard_streams.hpp"
#include "harness/detail/sweep.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"
#include "harness/reduction.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace harness {
namespace {

using emulator::printable; // messages quote arguments

std::size_t free_device_memory() {
    std::size_t free = 0, total = 0;
    HARNESS_CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

/// \throws OutputError
void make_folder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw OutputError(
            fmt::format("--save {}: no such folder can be made: {}", folder.string(), error.message()));
}

std::vector<ChangedOption> told_options(const LessonInfo& info, const Options& options) {
    std::vector<ChangedOption> changed;
    for (const LessonOption& option : info.options) {
        const std::uint64_t value = options.lesson_options.at(option.name);
        // Printed in place of the number of elements.
        const bool is_size = !info.takes_n() && !option.is_flag();
        if (value == option.default_value && !is_size) continue;
        changed.push_back({option.name, option.is_flag() ? std::nullopt : std::optional(value),
                           option.choices.empty() ? "" : option.choices.at(value)});
    }
    return changed;
}

bool can_be_estimated(const Report& report) {
    return report.device.kind == DeviceKind::emulator && !is_observed() &&
           std::all_of(report.kernels.begin(), report.kernels.end(),
                       [](const KernelResult& kernel) { return kernel.verification.passed; });
}

/// Where a person sees it: so no program has to tell estimates from counters.
bool is_estimated_unasked(const Options& options, const Report& report) {
    return isatty(STDOUT_FILENO) && options.format == OutputFormat::text && options.save.empty() &&
           !options.verify_only && !options.changed && can_be_estimated(report);
}

std::size_t threads(const LaunchConfiguration& launch) {
    const auto volume = [](dim3 size) { return std::size_t{size.x} * size.y * size.z; };
    return volume(launch.grid) * volume(launch.block);
}

} // namespace

struct KernelRun::State {
    const char* kernel;
    const Options& options;
    const Device& device;
    std::size_t n;
    std::optional<RandomInts>& input; ///< that the lesson's kernels share
    std::string illustration = {};
    std::optional<KernelResult> result = std::nullopt;
};

const char* KernelRun::kernel() const { return state_.kernel; }
std::size_t KernelRun::n() const { return state_.n; }
unsigned int KernelRun::block() const { return state_.options.block; }
std::uint64_t KernelRun::seed() const { return state_.options.seed; }
const Device& KernelRun::device() const { return state_.device; }
std::uint64_t KernelRun::option(const char* name) const { return state_.options.lesson_options.at(name); }
void KernelRun::illustrate(const char* text) { state_.illustration = text; }

const RandomInts& KernelRun::input(std::size_t offset) { return input(offset, true); }

const RandomInts& KernelRun::input_of_any_values(std::size_t offset) {
    return input(offset, !only_estimates());
}

const RandomInts& KernelRun::input(std::size_t offset, bool filled) {
    std::optional<RandomInts>& input = state_.input;
    if (!input || input->offset() != offset || input->is_filled() < filled) {
        input.reset(); // memory may be too small for both
        const Progress progress(fmt::format("making {} random ints", group_digits(std::uint64_t{n()})));
        input.emplace(n(), seed(), offset, filled);
    }
    return *input;
}

void KernelRun::require_compute_capability(int major, int minor, const char* feature) const {
    const std::string& present = device().compute_capability; // "9.0"
    const std::pair have(std::stoi(present), std::stoi(present.substr(present.find('.') + 1)));
    if (have >= std::pair(major, minor)) return;
    throw UnsupportedKernel(fmt::format("{} is left out: {} need compute capability {}.{}, and {} has {} "
                                        "(cudaErrorNoKernelImageForDevice)",
                                        kernel(), feature, major, minor, device().name, present));
}

void KernelRun::measure(LaunchConfiguration configuration, const RunSteps& steps) {
    if (state_.result) throw std::logic_error(fmt::format("{} was measured twice in one run", kernel()));
    const Progress progress(fmt::format("running {}", kernel()));
    const Options& options = state_.options;
    state_.result = harness::measure(device(), {.verify_only = options.verify_only, .runs = options.repeat},
                                     kernel(), configuration, steps);
}

void KernelRun::measure_reduction(ReductionShape shape, LaunchPass launch) {
    Reduction reduction(kernel(), input_of_any_values(shape.input_offset), block(), shape, launch);
    const auto launch_rest = [&] { reduction.launch_rest(); };
    const bool has_rest = reduction.launch_configuration().passes > 1 && !shape.in_place;
    measure(reduction.launch_configuration(), {.prepare = [&] { reduction.prepare(); },
                                               .launch = [&] { reduction.launch_first(); },
                                               .verify = [&] { return reduction.finish(); },
                                               .launch_rest = has_rest ? Step(launch_rest) : nullptr});
}

Lesson::Lesson(LessonInfo info) : info_(std::move(info)) {
    if (info_.sweep) info_.options.push_back(sweep_option(info_.name));
}

void Lesson::add_reduction(const char* name, ReductionShape shape, void (*launch)(const Pass&)) {
    kernels_.push_back({.name = name, .run_kernel = nullptr, .shape = shape, .launch = launch});
}

void Lesson::add_kernel(const char* name, void (*run_kernel)(KernelRun&), const char* only_with) {
    if (only_with != nullptr) info_.optional_kernels.push_back({name, only_with});
    kernels_.push_back({.name = name, .run_kernel = run_kernel});
}

bool Lesson::has_turn(const Kernel& kernel, const Options& options) const {
    const char* const needed = info_.option_for(kernel.name);
    if (needed != nullptr && !options.named_kernels) {
        return std::any_of(info_.options.begin(), info_.options.end(), [&](const LessonOption& option) {
            return option.name == std::string_view(needed) &&
                   options.lesson_options.at(option.name) != option.default_value;
        });
    }
    return std::find(options.kernels.begin(), options.kernels.end(), kernel.name) != options.kernels.end();
}

int Lesson::run(int argc, char** argv) const {
    const auto fail = [&](ExitStatus status, const std::string& message) {
        write_message(info_.name, message);
        return static_cast<int>(status);
    };
    try {
        return static_cast<int>(run_or_throw(argc, argv));
    } catch (const UsageError& error) {
        return fail(ExitStatus::usage,
                    fmt::format("{}\nTry: {} --help", printable(error.what()), printable(argv[0])));
    } catch (const OutputError& error) {
        return fail(ExitStatus::usage, printable(error.what()));
    } catch (const DeviceError& error) {
        return fail(ExitStatus::device, printable(error.what()));
    } catch (const std::bad_alloc&) {
        return fail(ExitStatus::device, "too little host memory");
    } catch (const std::exception& error) {
        return fail(ExitStatus::device, fmt::format("internal error: {}", error.what()));
    }
}

ExitStatus Lesson::run_or_throw(int argc, char** argv) const {
    prepare_standard_streams();
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels_) names.push_back(kernel.name);
    const Options options = parse_options(argc, argv, info_, names);
    if (!options.answer.empty()) {
        write_output(options.answer);
        return ExitStatus::verified;
    }
    if (!options.note.empty()) write_message(info_.name, options.note);
    if (!options.emulate.empty()) become_emulate(info_.name, options.emulate, options.arguments, argv[0]);

    const bool sweeps = info_.sweep && options.lesson_options.at("--sweep") != 0;
    if (sweeps) check_sweep_options(options);

    Report report{.lesson = info_.name,
                  .title = info_.title,
                  .device = choose_device(options.device, argv),
                  .elements = 0,
                  .element_type =
                      info_.element_type ? info_.element_type(options.lesson_options) : ElementType(),
                  .seed = info_.random_input ? std::optional(options.seed) : std::nullopt,
                  .options = told_options(info_, options),
                  .verified_only = options.verify_only,
                  .estimated_only = only_estimates(),
                  .explain = options.explain,
                  .changed_only = options.changed,
                  .color = options.color,
                  .kernels = {}};
    if (!options.save.empty()) make_folder(options.save); // fails before the kernels run, not after
    if (sweeps) {
        const std::size_t largest =
            options.n ? *options.n : default_largest_swept(report.device, free_device_memory());
        return run_sweep(swept_kernels(options, report.device), largest, options, report)
                   ? ExitStatus::verified
                   : ExitStatus::wrong_result;
    }
    if (info_.count_elements) {
        report.elements = info_.count_elements(options.lesson_options);
    } else if (info_.random_input) {
        report.elements = options.n ? *options.n
                                    : std::min(default_elements(report.device, free_device_memory()),
                                               info_.largest_n.value_or(SIZE_MAX));
        if (!options.n && info_.default_n) report.elements = *info_.default_n;
    }

    std::optional<RandomInts> input;
    ExitStatus status = ExitStatus::verified;
    for (const Kernel& kernel : kernels_) {
        if (!has_turn(kernel, options)) continue;
        try {
            report.kernels.push_back(run_kernel(kernel, options, report.device, report.elements, input));
        } catch (const UnsupportedKernel& error) {
            write_message(info_.name, error.what());
            status = ExitStatus::device;
        }
    }
    if (report.kernels.empty() && status != ExitStatus::verified) return status;
    if (!info_.random_input && !report.kernels.empty())
        report.elements = threads(report.kernels.front().launch);

    // A lesson with a size of its own is about that size.
    const bool takes_large_n =
        info_.takes_n() && !info_.default_n && info_.largest_n.value_or(SIZE_MAX) >= large_n;
    if (options.changed && can_be_estimated(report))
        add_estimates(report, options.arguments, takes_large_n && !options.n);
    write_output(format_report(report, options.format));
    if (is_estimated_unasked(options, report)) {
        add_estimates(report, options.arguments, takes_large_n);
        if (const std::string estimates = format_estimates(report); !estimates.empty())
            write_output("\n" + estimates);
    }
    if (isatty(STDOUT_FILENO) && options.format == OutputFormat::text && !options.verify_only)
        write_output(ladder_line(report));
    if (!options.save.empty()) {
        const std::filesystem::path folder = options.save;
        write_file(folder / fmt::format("{}.json", info_.name), format_json(report));
        write_file(folder / fmt::format("{}.csv", info_.name), format_csv(report));
    }
    for (const KernelResult& kernel : report.kernels) {
        if (kernel.verification.passed) continue;
        tell_wrong_result(info_.name, kernel);
        status = ExitStatus::wrong_result;
    }
    return status;
}

KernelResult Lesson::run_kernel(const Kernel& kernel, const Options& options, const Device& device,
                                std::size_t n, std::optional<RandomInts>& input) {
    KernelRun::State state{kernel.name, options, device, n, input};
    KernelRun run(state);
    if (kernel.run_kernel != nullptr)
        kernel.run_kernel(run);
    else
        run.measure_reduction(kernel.shape, kernel.launch);
    if (!state.result) throw std::logic_error(fmt::format("{} was not measured in its run", kernel.name));
    state.result->illustration = state.illustration;
    return *state.result;
}

std::vector<SweptKernel> Lesson::swept_kernels(const Options& options, const Device& device) const {
    std::vector<SweptKernel> swept;
    for (const Kernel& kernel : kernels_) {
        if (!has_turn(kernel, options)) continue;
        swept.push_back({kernel.name, [&](std::size_t n, std::optional<RandomInts>& input) {
                             return run_kernel(kernel, options, device, n, input);
                         }});
    }
    return swept;
}

std::size_t default_elements(const Device& device, std::size_t free_bytes) {
    if (device.kind == DeviceKind::emulator) return std::size_t{1} << 22;
    std::size_t elements = std::max(std::size_t{1} << 25, std::bit_ceil(4 * device.l2_bytes / sizeof(int)));
    while (elements > 1 && elements * sizeof(int) > free_bytes / 2) elements /= 2;
    return elements;
}

} // namespace harness
