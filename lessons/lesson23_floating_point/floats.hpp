/// \file
/// The input of lesson 23 on the device, and the comparison of a result with its exact sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "data.hpp"
#include "harness/device_buffer.hpp"
#include "harness/lesson.hpp"
#include "harness/verification.hpp"

/// A float's error against the exact sum.
struct FloatError {
    double absolute = 0;
    double relative = 0;
    double ulp = 0; ///< over the distance of floats at the exact sum

    FloatError(const HostSum& exact, float value) : absolute(std::abs(exact.minus(value))) {
        const float nearest = std::abs(exact.rounded());
        const double ulp_here = std::nextafter(nearest, INFINITY) - nearest;
        ulp = absolute / ulp_here;
        relative = absolute == 0 ? 0 : absolute / std::abs(exact.minus(0));
    }
};

/// The same floats for each kernel.
class Floats {
public:
    Floats(FloatKind kind, std::uint64_t seed, std::size_t n) : device_(n) {
        constexpr std::size_t chunk = std::size_t{1} << 22; // 16 MiB of host memory
        std::vector<float> part;
        for (std::size_t first = 0; first < n; first += part.size()) {
            part.resize(std::min(chunk, n - first));
            for (std::size_t i = 0; i < part.size(); ++i) {
                part[i] = float_element(kind, seed, first + i, n);
                exact_.add(part[i]);
            }
            device_.write(part, first);
        }
        sum = exact_.minus(0);
        magnitude = exact_.magnitude();
        nearest = exact_.rounded();
    }

    const float* data() const { return device_.data(); }

    /// Compares a result with the exact sum, and prints a row of the table of errors.
    harness::Verification check(harness::KernelRun& run, float result, double bound) {
        run.illustrate(row(run.kernel(), result, bound).c_str());
        return harness::compare_float(nearest, result, exact_.minus(result), bound);
    }

    /// The same for a result that has to be the nearest float.
    harness::Verification check_nearest(harness::KernelRun& run, float result) {
        run.illustrate(row(run.kernel(), result, std::abs(exact_.minus(nearest))).c_str());
        return harness::compare_float(nearest, result, double{nearest} - result, 0);
    }

    double sum = 0, magnitude = 0; ///< exact but for one rounding; of the absolute values
    float nearest = 0;             ///< to the exact sum

private:
    std::string row(const std::string& kernel, float result, double bound) {
        if (first_kernel_.empty()) first_kernel_ = kernel;
        std::ostringstream text;
        const auto add = [&](const auto& a, const auto& b, const auto& c, const auto& d, const auto& e) {
            text << std::left << std::setw(17) << a << std::right << std::setw(15) << b << std::setw(14) << c
                 << std::setw(17) << d << std::setw(17) << e << "\n";
        };
        if (kernel == first_kernel_) {
            text << "condition number " << std::setprecision(3) << magnitude / std::abs(sum) << "\n";
            add("", "sum", "error [ULP]", "relative error", "its bound");
        }
        const FloatError error(exact_, result);
        const auto digits = [](double value, int count) {
            std::ostringstream number;
            number << std::setprecision(count) << value;
            return number.str();
        };
        add(kernel, digits(result, 9), digits(error.ulp, 3), digits(error.relative, 2),
            digits(bound / std::abs(sum), 2));
        return text.str();
    }

    harness::DeviceBuffer<float> device_;
    HostSum exact_;
    std::string first_kernel_; // It has the table's head above its row.
};

/// The lesson's own options.
inline std::vector<harness::LessonOption> float_options() {
    return {{.name = "--cancel", .value = "", .help = "the elements cancel, but for a small rest"},
            {.name = "--tiny", .value = "", .help = "the elements are multiplied by 2^-140"},
            {.name = "--blocks",
             .value = "G",
             .help = "the grid has at most G blocks. Default: as many as are useful",
             .largest = 2'147'483'647}};
}

/// The input that they ask for.
inline Floats& input_of(const harness::KernelRun& run) {
    static Floats input({run.option("--cancel") != 0, run.option("--tiny") != 0}, run.seed(), run.n());
    return input;
}

/// The grid of each launch of a tree, until one sum is left.
inline std::vector<unsigned int> grids_of(const harness::KernelRun& run) {
    harness::ReductionShape shape;
    if (const std::uint64_t blocks = run.option("--blocks"); blocks > 0)
        shape.most_blocks = static_cast<unsigned int>(blocks);
    return harness::plan_grids(run.n(), run.block(), shape);
}
