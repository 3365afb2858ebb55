/// --sweep: a lesson's kernels over many sizes, as a CSV.
#pragma once

#include "harness/detail/options.hpp"
#include "harness/detail/report.hpp"
#include "harness/random_input.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace harness {

inline constexpr std::size_t smallest_swept = std::size_t{1} << 10;

/// A kernel whose run took longer is left out from the next size on.
inline constexpr double most_seconds_a_turn = 10;

/// The flag of a lesson that can sweep. \param lesson its name
LessonOption sweep_option(const char* lesson);

/// \throws UsageError when the command line asks for what a sweep does not give
void check_sweep_options(const Options& options);

/// The largest size when --n names none: 2^26 ints on the emulator and 2^30 on a GPU; fewer where memory is
/// short, as a kernel that works in place needs them twice.
std::size_t default_largest_swept(const Device& device, std::size_t free_bytes);

/// 2^10, 2^11, … up to `largest`.
std::vector<std::size_t> swept_sizes(std::size_t largest);

/// What a sweep found.
struct Sweep {
    struct LeftOut {
        std::string kernel;
        std::size_t elements = 0; ///< of its last run
        double seconds = 0;       ///< that this took
    };

    std::size_t largest = 0;          ///< the last size
    std::vector<Report> reports = {}; ///< one a size
    std::vector<LeftOut> left_out = {};

    /// Tells how long a kernel's run took. Too long matters only if there is a larger size to come.
    void took(const std::string& kernel, std::size_t elements, double seconds);
    bool leaves_out(const std::string& kernel) const;
};

/// "naive_reduction is left out beyond 4,096 ints: they took 12 s"
std::string describe(const Sweep::LeftOut& left_out);

/// The rows of format_csv() for all sizes. What was left out is said in lines that begin with #.
std::string format_csv(const Sweep& sweep);

/// A kernel of a sweep. `run_kernel` measures it at one size, and throws UnsupportedKernel if the device
/// cannot run it. The input is made for the size, and the same for all kernels.
struct SweptKernel {
    std::string name;
    std::function<KernelResult(std::size_t n, std::optional<RandomInts>& input)> run_kernel;
};

/// Measures the kernels at every size up to `largest`, tells on stderr how far it is, and writes the CSV into
/// the folder that --save names. \param report what holds for all sizes \return whether every result was
/// right; a wrong one ends the sweep, and nothing is written
bool run_sweep(const std::vector<SweptKernel>& kernels, std::size_t largest, const Options& options,
               Report report);

} // namespace harness
