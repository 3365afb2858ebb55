/// \file
/// --sweep: a lesson's kernels over many sizes, as a CSV and as a plot.
#pragma once

#include "harness/options.hpp"
#include "harness/report.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace harness {

inline constexpr std::size_t smallest_swept = std::size_t{1} << 10;

/// A kernel whose turn took longer is left out from the next size on.
inline constexpr double most_seconds_a_turn = 10;

/// The flag of a lesson that can sweep. \param lesson its name
LessonOption sweep_option(const std::string& lesson);

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
        std::size_t elements = 0; ///< of its last turn
        double seconds = 0;       ///< that this took
    };

    std::string conditions;           ///< what is the same for all points: "blocks of 256 threads"
    std::size_t largest = 0;          ///< the last size
    std::vector<Report> reports = {}; ///< one a size
    std::vector<LeftOut> left_out = {};

    /// Tells how long a kernel's turn took. Too long matters only if there is a larger size to come.
    void took(const std::string& kernel, std::size_t elements, double seconds);
    bool leaves_out(const std::string& kernel) const;
};

/// "naive_reduction is left out beyond 4,096 ints: they took 12 s"
std::string describe(const Sweep::LeftOut& left_out);

/// The rows of format_csv() for all sizes. What was left out is said in lines that begin with #.
std::string format_csv(const Sweep& sweep);

/// A program for gnuplot, which prints an SVG. On a GPU it shows times against n; on the emulator
/// instructions and traffic per int against n, as there is no time. Logarithmic axes.
std::string plot_script(const Sweep& sweep);

/// Has gnuplot run `script` and print to the file `svg`.
/// \throws OutputError when gnuplot is missing or fails; then there is no such file
void run_gnuplot(const std::string& script, const std::filesystem::path& svg);

} // namespace harness
