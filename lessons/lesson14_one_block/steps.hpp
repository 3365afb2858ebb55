/// \file
/// What each step of this lesson's three trees asks of the block, worked out on the host from the same
/// conditions and indices as the kernels'.
#pragma once

#include <cstddef>
#include <iomanip>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/numbers.hpp"

enum class Tree { blocked, strided, smem };

struct Step {
    unsigned int stride = 0;
    std::vector<bool> adds = {};    ///< for each thread of the block
    std::size_t threads = 0;        ///< that add
    std::size_t warps = 0;          ///< with at least one of those
    std::size_t loaded_sectors = 0; ///< of global memory
    std::size_t stored_sectors = 0; ///< of global memory
};

/// \param stride of the step, a power of two from 1 to the block's size
inline Step count_step(Tree tree, std::size_t n, unsigned int block, unsigned int warp_size,
                       unsigned int stride) {
    constexpr std::size_t ints_a_sector = 32 / sizeof(int);
    const bool loads_for_smem =
        tree == Tree::smem && stride == block; // its first step; the others: no traffic
    Step step{.stride = stride};
    for (unsigned int first = 0; first < block; first += warp_size) {
        std::set<std::size_t> of_own, of_partner; // the sectors that the warp's two loads touch
        std::size_t threads = 0;
        for (unsigned int t = first; t < first + warp_size; ++t) {
            const std::size_t i = tree == Tree::blocked ? 2 * t : t;
            const bool has_turn = tree == Tree::blocked ? t % stride == 0 : t < stride;
            const bool has_partner = i + stride < n || (tree == Tree::smem && !loads_for_smem);
            step.adds.push_back(has_turn && has_partner);
            if (step.adds.back()) ++threads, of_partner.insert((i + stride) / ints_a_sector);
            if (step.adds.back() || (loads_for_smem && i < n)) of_own.insert(i / ints_a_sector);
        }
        step.threads += threads;
        step.warps += threads > 0;
        if (tree == Tree::smem && !loads_for_smem) continue;
        step.loaded_sectors += of_own.size() + of_partner.size();
        step.stored_sectors += tree == Tree::smem ? 0 : of_own.size();
    }
    return step;
}

/// In the order in which the kernel takes them.
inline std::vector<Step> count_steps(Tree tree, std::size_t n, unsigned int block, unsigned int warp_size) {
    std::vector<Step> steps;
    for (unsigned int done = 1; done <= block; done *= 2)
        steps.push_back(count_step(tree, n, block, warp_size, tree == Tree::blocked ? done : block / done));
    return steps;
}

/// A table with a row a step; of small blocks also which threads add.
inline std::string format_steps(const char* kernel, Tree tree, std::size_t n, unsigned int block,
                                unsigned int warp_size) {
    const auto grouped = [](std::size_t value) { return harness::group_digits(std::uint64_t{value}); };
    std::ostringstream text;
    const auto add_row = [&](const std::string& name, const Step& step) {
        const double used =
            100.0 * static_cast<double>(step.threads) / static_cast<double>(step.warps * warp_size);
        text << std::setw(8) << name << std::setw(9) << grouped(step.threads) << std::setw(7)
             << grouped(step.warps) << std::setw(10) << std::fixed << std::setprecision(1)
             << (step.warps > 0 ? used : 0) << " %" << std::setw(16) << grouped(step.loaded_sectors)
             << std::setw(8) << grouped(step.stored_sectors);
        for (std::size_t t = 0; block <= 16 && t < step.adds.size(); ++t) {
            text << (t == 0 ? "   " : t % warp_size == 0 ? " | " : " ");
            step.adds[t] ? text << t : text << '.';
        }
        text << '\n';
    };
    text << kernel << ": " << grouped(n) << " ints, " << grouped(block) << " threads in warps of "
         << warp_size << "\n  stride  threads  warps  lanes used  sectors loaded  stored"
         << (block <= 16 ? "   adders\n" : "\n");
    Step total;
    for (const Step& step : count_steps(tree, n, block, warp_size)) {
        add_row(std::to_string(step.stride), step);
        total.threads += step.threads, total.warps += step.warps;
        total.loaded_sectors += step.loaded_sectors, total.stored_sectors += step.stored_sectors;
    }
    add_row("total", total);
    return text.str();
}
