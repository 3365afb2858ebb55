/// \file
/// What a lesson's main.cu uses: it names the kernels, shows how each is launched, and runs them.
#pragma once

#include "harness/detail/measure.hpp"
#include "harness/detail/options.hpp"
#include "harness/exit_status.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace harness {

struct SweptKernel;

/// One kernel's run within a lesson: its input, its options, and measure().
class KernelRun {
public:
    const std::string& kernel() const { return kernel_; }
    std::size_t n() const { return n_; }
    unsigned int block() const { return options_.block; }
    std::uint64_t seed() const { return options_.seed; } ///< for a lesson that makes its own random input
    const Device& device() const { return device_; }

    /// The value of one of the lesson's own options: "--offset".
    std::uint64_t option(const std::string& name) const { return options_.lesson_options.at(name); }

    /// Prints a map or a table of this kernel above the counters or times. \param text lines of at most 100
    /// characters
    void illustrate(std::string text) { illustration_ = std::move(text); }

    /// n random ints in device memory, the same for every kernel of the lesson, `offset` ints into their
    /// allocation. A kernel that writes to its input has to copy them.
    const RandomInts& input(std::size_t offset = 0);

    /// Call it in the run of a kernel that not every device can run. \param feature what it needs: "bulk
    /// copies" \throws UnsupportedKernel if the device's compute capability is lower
    void require_compute_capability(int major, int minor, const std::string& feature) const;

    /// Runs and verifies the kernel, and counts or times it. Call it once per run.
    /// \throws DeviceError if the device cannot run it
    void measure(LaunchConfiguration configuration, const RunSteps& steps);

    /// The same for a kernel that leaves one partial sum per block. Calls `launch` once per pass, until one
    /// sum is left.
    void measure_reduction(ReductionShape shape, const LaunchPass& launch);

private:
    friend class Lesson;
    using SharedInput = std::optional<RandomInts>;
    KernelRun(std::string kernel, const Options& options, const Device& device, std::size_t n,
              SharedInput& input)
        : kernel_(std::move(kernel)), options_(options), device_(device), n_(n), input_(input) {}

    std::string kernel_;
    const Options& options_;
    const Device& device_;
    std::size_t n_;
    SharedInput& input_;
    std::string illustration_;
    std::optional<KernelResult> result_;
};

/// A lesson's program. Add the kernels, then run it from main:
/// \code
///     harness::Lesson lesson({.name = "lesson02", .title = "Sequential addressing"});
///     lesson.add_reduction("reduce2", {.elements_per_thread = 1}, [](const harness::Pass& pass) {
///         reduce2<<<pass.grid, pass.block, pass.shared_bytes>>>(pass.input, pass.partial_sums, pass.n);
///     });
///     return lesson.run(argc, argv);
/// \endcode
class Lesson {
public:
    explicit Lesson(LessonInfo info);

    /// Adds a kernel whose run is KernelRun::measure_reduction with this shape.
    void add_reduction(std::string name, ReductionShape shape, LaunchPass launch);

    /// Adds any other kernel. `run_kernel` prepares what the kernel needs and calls KernelRun::measure or
    /// KernelRun::measure_reduction. \param only_with one of the lesson's own options: the kernel runs only
    /// if that option is given, or --kernel names it
    void add_kernel(std::string name, std::function<void(KernelRun&)> run_kernel, std::string only_with = "");

    /// Reads the command line, chooses the device, runs each kernel, and prints the report. Errors go to
    /// stderr. May restart the program (see choose_device).
    /// \return the program's exit status, one of ExitStatus
    int run(int argc, char** argv) const;

private:
    struct Kernel {
        std::string name;
        std::function<void(KernelRun&)> run_kernel;
    };

    bool has_turn(const Kernel& kernel, const Options& options) const;

    ExitStatus run_or_throw(int argc, char** argv) const;
    static KernelResult run_kernel(const Kernel& kernel, const Options& options, const Device& device,
                                   std::size_t n, std::optional<RandomInts>& input);
    std::vector<SweptKernel> swept_kernels(const Options& options, const Device& device) const;

    LessonInfo info_;
    std::vector<Kernel> kernels_;
};

/// The number of elements if neither the command line nor the lesson sets one: on a GPU several times the
/// size of the L2 cache, so that kernels load from memory, but at most half of the free memory.
std::size_t default_elements(const Device& device, std::size_t free_bytes);

} // namespace harness
