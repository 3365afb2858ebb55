#include "harness/reduction.hpp"

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace harness {
namespace {

constexpr std::size_t largest_grid = 2'147'483'647; // gridDim.x

/// Each pass's partial sums start on a 256-byte boundary, as memory from cudaMalloc does, for kernels with
/// vector loads.
constexpr std::size_t aligned_size(std::size_t ints) { return ceil_div(ints, 64) * 64; }

std::size_t total_size(const std::vector<unsigned int>& grids) {
    std::size_t total = 0;
    for (const unsigned int grid : grids) total += aligned_size(grid);
    return total;
}

} // namespace

std::vector<unsigned int> plan_grids(std::size_t n, unsigned int block, ReductionShape shape) {
    std::vector<unsigned int> grids;
    do {
        std::size_t grid = ceil_div(n, std::size_t{block} * shape.elements_per_thread);
        if (shape.most_blocks) grid = std::min<std::size_t>(grid, *shape.most_blocks);
        if (grid > largest_grid) {
            throw UsageError(fmt::format(
                "--n {} with --block {} makes {} blocks, and a grid holds {}. Choose a larger --block.", n,
                block, group_digits(std::uint64_t{grid}), group_digits(std::uint64_t{largest_grid})));
        }
        grids.push_back(static_cast<unsigned int>(grid));
        n = grid;
    } while (n > 1);
    return grids;
}

Reduction::Reduction(std::string name, const RandomInts& input, unsigned int block, ReductionShape shape,
                     std::function<void(const Pass&)> launch)
    : name_(std::move(name)), input_(input), shape_(shape), launch_(std::move(launch)),
      partial_sums_(total_size(plan_grids(input.size(), block, shape))),
      work_(shape.in_place ? input.size() : 0) {
    const int* pass_input = input.data();
    int* pass_output = partial_sums_.data();
    std::size_t n = input.size();
    for (const unsigned int grid : plan_grids(n, block, shape)) {
        passes_.push_back({.input = pass_input,
                           .work = shape.in_place ? work_.data() : nullptr,
                           .partial_sums = pass_output,
                           .n = n,
                           .grid = grid,
                           .block = block,
                           .shared_bytes = block * shape.shared_ints_per_thread * sizeof(int)});
        pass_input = pass_output;
        pass_output += aligned_size(grid);
        n = grid;
    }
}

LaunchConfiguration Reduction::launch_configuration() const {
    const Pass& pass = passes_.front();
    return {.grid = dim3(pass.grid),
            .block = dim3(pass.block),
            .dynamic_shared_bytes = pass.shared_bytes,
            .bytes = (std::uint64_t{pass.n} + pass.grid) * sizeof(int),
            .passes = passes_.size()};
}

void Reduction::prepare() {
    partial_sums_.poison();
    restore_work(passes_.front());
}

void Reduction::restore_work(const Pass& pass) {
    if (pass.work) work_.write_from_device(pass.input, pass.n);
}

void Reduction::launch_first() { launch_(passes_.front()); }

void Reduction::launch_pass(std::size_t i) {
    restore_work(passes_[i]);
    launch_(passes_[i]);
    check_launch(name_.c_str());
}

void Reduction::launch_rest() {
    for (std::size_t i = 1; i < passes_.size(); ++i) launch_pass(i);
}

/// Checks each pass before the next one is launched. So no pass can leave its work to a later one, even if
/// that one repairs the partial sums.
Verification Reduction::finish() {
    Verification result;
    std::vector<int> pass_input; // the partial sums of the pass before; unused for the first
    for (std::size_t i = 0; i < passes_.size(); ++i) {
        if (i > 0) launch_pass(i);
        synchronize(name_.c_str());
        const auto offset = static_cast<std::size_t>(passes_[i].partial_sums - partial_sums_.data());
        std::vector<int> actual = partial_sums_.read(offset, passes_[i].grid);
        Verification pass = shape_.most_blocks ? check_total(i, actual) : check_blocks(i, pass_input, actual);
        if (i == 0 || result.passed) result = std::move(pass);
        pass_input = std::move(actual);
    }
    // Of a wrong result the complete sums are told, and of a right one the first wrong partial sum.
    if (!result.passed && pass_input.front() != input_.sum()) {
        result.expected = input_.sum();
        result.actual = pass_input.front();
    }
    return result;
}

/// The sum of each block's elements.
const std::vector<int>& Reduction::expected_sums(std::size_t i, const std::vector<int>& pass_input) {
    const Pass& pass = passes_[i];
    const std::size_t elements_per_block = std::size_t{pass.block} * shape_.elements_per_thread;
    std::vector<int>& sums = i == 0 ? first_sums_ : later_sums_;
    if (i == 0 && !sums.empty()) return sums; // the same in each run
    sums.resize(pass.grid);
    for (std::size_t b = 0; b < pass.grid; ++b) {
        const std::size_t first = b * elements_per_block;
        const std::size_t count = std::min(elements_per_block, pass.n - first);
        sums[b] = i == 0 ? input_.sum(first, count) : reference_sum(pass_input.data() + first, count);
    }
    return sums;
}

/// Compares each block's partial sum with the sum of the block's elements.
Verification Reduction::check_blocks(std::size_t i, const std::vector<int>& pass_input,
                                     const std::vector<int>& actual) {
    const Pass& pass = passes_[i];
    const std::size_t elements_per_block = std::size_t{pass.block} * shape_.elements_per_thread;
    const std::vector<int>& expected = expected_sums(i, pass_input);
    Verification result = compare_value(expected.front(), actual.front());
    for (std::size_t b = 0; b < pass.grid && result.wrong_places.size() < most_wrong_places; ++b) {
        if (actual[b] == expected[b]) continue;
        if (result.passed) result = compare_value(expected[b], actual[b]);
        const std::size_t first = b * elements_per_block;
        const std::size_t count = std::min(elements_per_block, pass.n - first);
        result.wrong_places.push_back(fmt::format(
            "pass {}, block {} (elements {} to {} of {}): {}", i + 1, group_digits(std::uint64_t{b}),
            group_digits(std::uint64_t{first}), group_digits(std::uint64_t{first + count - 1}),
            group_digits(std::uint64_t{pass.n}), describe_difference(expected[b], actual[b])));
    }
    return result;
}

/// For kernels with a grid-stride loop: a block's elements lie apart, so this checks that a pass's partial
/// sums add up to the result.
Verification Reduction::check_total(std::size_t i, const std::vector<int>& actual) const {
    const int total = reference_sum(actual);
    Verification result = compare_value(input_.sum(), total);
    if (result.passed) return result;
    const Pass& pass = passes_[i];
    result.wrong_places = {fmt::format(
        "pass {}, the total of {} blocks ({} elements): {}", i + 1, group_digits(std::uint64_t{pass.grid}),
        group_digits(std::uint64_t{pass.n}), describe_difference(input_.sum(), total))};
    return result;
}

} // namespace harness
