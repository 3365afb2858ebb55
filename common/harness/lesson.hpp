/// What a lesson's main.cu uses: it names the kernels, shows how each is launched, and runs them.
#pragma once

#include "harness/detail/launches.hpp"
#include "harness/detail/lesson_info.hpp"
#include "harness/random_input.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace harness {

struct Device;
struct KernelResult;
struct Options;
struct SweptKernel;
enum class ExitStatus : int;

/// One kernel's run within a lesson: its input, its options, and measure().
class KernelRun {
public:
    const char* kernel() const;
    std::size_t n() const;
    unsigned int block() const;
    std::uint64_t seed() const; ///< for a lesson that makes its own random input
    const Device& device() const;

    /// The value of one of the lesson's own options: "--offset".
    std::uint64_t option(const char* name) const;

    /// Prints a map or a table of this kernel above the counters or times. \param text lines of at most 100
    /// characters
    void illustrate(const char* text);

    /// n random ints in device memory, the same for every kernel of the lesson, `offset` ints into their
    /// allocation. A kernel that writes to its input has to copy them.
    const RandomInts& input(std::size_t offset = 0);

    /// The same for kernels that take as long for all values: where they are only estimated, the ints are not
    /// made.
    const RandomInts& input_of_any_values(std::size_t offset = 0);

    /// Call it in the run of a kernel that not every device can run. \param feature what it needs: "bulk
    /// copies" \throws UnsupportedKernel if the device's compute capability is lower
    void require_compute_capability(int major, int minor, const char* feature) const;

    /// Runs and verifies the kernel, and counts or times it. Call it once per run.
    /// \throws DeviceError if the device cannot run it
    void measure(LaunchConfiguration configuration, const RunSteps& steps);

    /// The same for a kernel that leaves one partial sum per block. Calls `launch` once per pass, until one
    /// sum is left.
    void measure_reduction(ReductionShape shape, LaunchPass launch);

private:
    friend class Lesson;
    struct State;
    explicit KernelRun(State& state) : state_(state) {}
    const RandomInts& input(std::size_t offset, bool filled);

    State& state_;
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
    void add_reduction(const char* name, ReductionShape shape, void (*launch)(const Pass&));

    /// Adds any other kernel. `run_kernel` prepares what the kernel needs and calls KernelRun::measure or
    /// KernelRun::measure_reduction. \param only_with one of the lesson's own options: the kernel runs only
    /// if that option is given, or --kernel names it. "--kernel": only if it is named
    void add_kernel(const char* name, void (*run_kernel)(KernelRun&), const char* only_with = nullptr);

    /// Reads the command line, chooses the device, runs each kernel, and prints the report. Errors go to
    /// stderr. May restart the program (see choose_device).
    /// \return the program's exit status, one of ExitStatus
    int run(int argc, char** argv) const;

private:
    struct Kernel {
        const char* name;
        void (*run_kernel)(KernelRun&); ///< null: a reduction
        ReductionShape shape = {};
        void (*launch)(const Pass&) = nullptr;
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
