#include "emulator/counter_legend.hpp"
#include "harness/numbers.hpp"
#include "harness/report.hpp"

#include <counter_catalogue.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace harness {
namespace {

std::uint64_t volume(dim3 size) { return std::uint64_t{size.x} * size.y * size.z; }

std::string blocks_or_dash(const KernelResult& kernel) {
    const std::uint64_t blocks = volume(kernel.launch.grid);
    return blocks == 0 ? "-" : group_digits(blocks);
}

/// Threads per block; 0 if unknown, as for a library call that chooses its own launch.
std::uint64_t threads_in_block(const Report& report) {
    for (const KernelResult& kernel : report.kernels)
        if (volume(kernel.launch.block) > 0) return volume(kernel.launch.block);
    return 0;
}

const char* yes_or_no(bool passed) { return passed ? "yes" : "NO"; }

std::string heading(const Report& report) {
    std::vector<std::string> facts;
    if (report.seed) {
        facts.push_back(fmt::format("{} random {} ({})", group_digits(std::uint64_t{report.elements}),
                                    report.element_type.plural,
                                    format_bytes(report.elements * report.element_type.bytes)));
        facts.push_back(fmt::format("seed {}", *report.seed));
    }
    for (const ChangedOption& option : report.options)
        facts.push_back(option.name + (!option.choice.empty() ? " " + option.choice
                                       : option.value         ? " " + group_digits(*option.value)
                                                              : ""));
    return fmt::format("{}: {}\n{}\n", report.lesson, report.title, fmt::join(facts, ", "));
}

/// The kernels' own maps and tables, printed before the common table. One of a single line is a further row
/// of the one before.
std::string illustrations(const Report& report) {
    std::string text;
    for (const KernelResult& kernel : report.kernels) {
        const std::string& illustration = kernel.illustration;
        const bool is_row = !text.empty() && illustration.find('\n') + 1 == illustration.size();
        if (!illustration.empty()) text += (is_row ? "" : "\n") + illustration;
    }
    return text;
}

/// The change from `first` to `second` in one word: "x 0.50", "new", "gone".
std::string change(std::uint64_t first, std::uint64_t second) {
    if (first == second) return ""; // empty, so that what moves stands out
    if (first == 0) return "new";
    if (second == 0) return "gone";
    const double ratio = static_cast<double>(second) / static_cast<double>(first);
    return ratio < 0.1 ? fmt::format("x {:.2g}", ratio) : fmt::format("x {:.2f}", ratio);
}

std::uint64_t counter_value(const KernelResult& kernel, const char* name) {
    return kernel.counters ? find_counter(*kernel.counters, name).value_or(0) : 0;
}

/// The emulator's table for few kernels: one column per kernel, one row per counter.
class CounterTable {
public:
    explicit CounterTable(const Report& report) : report_(report), has_changes_(report.kernels.size() == 2) {}

    std::string format() {
        add_row(
            "", [](const KernelResult& kernel) { return kernel.name; }, has_changes_ ? "change" : "");
        text_ += fmt::format("{:-<{}}\n", "", text_.size() - 1);
        add_row("verified", [](const KernelResult& kernel) { return yes_or_no(kernel.verification.passed); });
        add_row("result", [](const KernelResult& kernel) { return actual_text(kernel.verification); });
        if (threads_in_block(report_) > 0) {
            add_numbers("blocks", [](const KernelResult& kernel) { return volume(kernel.launch.grid); });
            add_numbers("threads a block",
                        [](const KernelResult& kernel) { return volume(kernel.launch.block); });
        }
        std::string_view group;
        for (const KnownCounter& counter : known_counters()) {
            if (!is_shown(counter)) continue;
            if (group != counter.group) text_ += fmt::format("{}\n", counter.group);
            group = counter.group;
            add_numbers(fmt::format("  {}", counter.label),
                        [&](const KernelResult& kernel) { return counter_value(kernel, counter.name); });
        }
        return std::move(text_);
    }

private:
    static constexpr std::size_t label_width = 22, least_width = 15, change_width = 10;

    /// Rare counters, such as atomics, have a row only if a kernel uses them.
    bool is_shown(const KnownCounter& counter) const {
        if (counter.group.empty()) return false;
        return !counter.is_rare ||
               std::any_of(report_.kernels.begin(), report_.kernels.end(), [&](const KernelResult& kernel) {
                   return counter_value(kernel, counter.name) > 0;
               });
    }

    template <class Cell> void add_row(std::string_view label, Cell cell, std::string_view last = "") {
        text_ += fmt::format("{:<{}}", label, label_width);
        for (const KernelResult& kernel : report_.kernels)
            text_ += fmt::format("{:>{}}", cell(kernel), std::max(least_width, kernel.name.size() + 2));
        if (!last.empty()) text_ += fmt::format("{:>{}}", last, change_width);
        text_ += "\n";
    }

    template <class Number> void add_numbers(std::string_view label, Number number) {
        add_row(
            label, [&](const KernelResult& kernel) { return group_digits(std::uint64_t{number(kernel)}); },
            has_changes_ ? change(number(report_.kernels[0]), number(report_.kernels[1])) : "");
    }

    const Report& report_;
    bool has_changes_;
    std::string text_;
};

/// The emulator's table for many kernels: one row per kernel, and columns for the counters that differ
/// between the steps of the ladder.
class KernelTable {
public:
    explicit KernelTable(const Report& report) : report_(report) {}

    std::string format() {
        add_column("", "kernel", [](const KernelResult& kernel) { return kernel.name; });
        add_column("", "verified",
                   [](const KernelResult& kernel) { return yes_or_no(kernel.verification.passed); });
        add_column("", "blocks", [](const KernelResult& kernel) { return blocks_or_dash(kernel); });
        for (const Column& column : columns) {
            add_column(column.top, column.bottom, [&](const KernelResult& kernel) {
                std::uint64_t sum = 0;
                for (const char* name : column.counters) sum += name ? counter_value(kernel, name) : 0;
                return group_digits(sum);
            });
        }
        add_column("barriers", "a thread", barriers_a_thread);
        rows_.insert(rows_.begin() + 2, std::string(rows_.front().size(), '-'));
        return fmt::format("{}\n{}", fmt::join(rows_, "\n"), sectors_line());
    }

private:
    static constexpr const char* load_sectors = counter_name::global_load_sectors;
    struct Column {
        const char* top;
        const char* bottom;
        std::array<const char*, 2> counters; // their sum is shown
    };
    static constexpr Column columns[] = {
        {"load", "requests", {counter_name::global_load_requests}},
        {"shared",
         "wavefronts",
         {counter_name::shared_load_wavefronts, counter_name::shared_store_wavefronts}},
        {"bank",
         "conflicts",
         {counter_name::shared_load_bank_conflicts, counter_name::shared_store_bank_conflicts}},
        {"instructions", "(PTX)", {counter_name::warp_instructions}},
        {"divergent", "(PTX)", {counter_name::divergent_branches}},
    };

    /// Aligns the first column left, the others right.
    template <class Cell> void add_column(std::string_view top, std::string_view bottom, Cell cell) {
        std::vector<std::string> cells{std::string(top), std::string(bottom)};
        for (const KernelResult& kernel : report_.kernels) cells.push_back(cell(kernel));
        std::size_t width = 0;
        for (const std::string& text : cells) width = std::max(width, text.size());
        rows_.resize(cells.size());
        for (std::size_t i = 0; i < cells.size(); ++i) {
            rows_[i] += rows_[i].empty() ? fmt::format("{:<{}}", cells[i], width)
                                         : fmt::format("{:>{}}", cells[i], width + 2);
        }
    }

    static std::string barriers_a_thread(const KernelResult& kernel) {
        const std::uint64_t threads = volume(kernel.launch.grid) * volume(kernel.launch.block);
        const std::uint64_t barriers = counter_value(kernel, counter_name::thread_barriers);
        if (threads == 0) return "-";
        return fmt::format("{:.3g}", static_cast<double>(barriers) / static_cast<double>(threads));
    }

    /// Sectors of loads have a line in place of a column: they hardly differ between kernels.
    std::string sectors_line() const {
        std::uint64_t least = UINT64_MAX, most = 0;
        for (const KernelResult& kernel : report_.kernels) {
            const std::uint64_t sectors = counter_value(kernel, load_sectors);
            least = std::min(least, sectors);
            most = std::max(most, sectors);
        }
        if (least == most)
            return fmt::format("Sectors of global loads: {} in every kernel, as each loads the same ints.\n",
                               group_digits(least));
        return fmt::format("Sectors of global loads: {} to {}, as each kernel loads the same ints.\n",
                           group_digits(least), group_digits(most));
    }

    const Report& report_;
    std::vector<std::string> rows_;
};

/// Says which passes were counted or timed. Empty if every kernel has one pass.
/// \param subject "The counters"
std::string pass_note(const Report& report, const char* subject) {
    std::vector<std::string> whole;
    for (const KernelResult& kernel : report.kernels) {
        if (kernel.launch.passes == 1) whole.push_back(kernel.name);
    }
    if (whole.size() == report.kernels.size()) return "";
    return fmt::format(
        "{} are those of the first pass, which leaves one partial sum a block{}.\n", subject,
        whole.empty() ? "" : fmt::format(";\nthose of {} are of the whole result", fmt::join(whole, ", ")));
}

constexpr const char* ptx_note =
    "(PTX): counted on PTX, from which the GPU's own code is made; that may differ.\n";

/// More columns would exceed 100 characters.
constexpr std::size_t most_columns = 5;

std::string format_counters(const Report& report) {
    const bool few = report.kernels.size() <= most_columns;
    const std::string table = few ? CounterTable(report).format() : KernelTable(report).format();
    return fmt::format("{}{}: counted, not timed; its clock says nothing about a GPU.\n{}{}\n{}\n{}{}",
                       heading(report), report.device.name, pass_note(report, "The counters"),
                       illustrations(report), table, ptx_note,
                       report.explain ? emulator::counter_legend()
                                      : "--explain prints the counters' names in Nsight Compute.\n");
}

std::string or_dash(const std::optional<double>& value, int decimals) {
    return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

/// Whether some kernel was timed both in its first pass and in all passes.
bool has_complete_times(const Report& report) {
    return std::any_of(report.kernels.begin(), report.kernels.end(),
                       [](const KernelResult& kernel) { return kernel.complete_times.has_value(); });
}

/// Whether the table has a column for the speed-up over the row before. With two kernels it would repeat the
/// speed-up over the first.
bool has_steps(const Report& report) { return report.kernels.size() > 2; }

/// One row of the table of times.
std::string time_row(const Report& report, std::size_t row, std::size_t name_width) {
    const KernelResult& kernel = report.kernels[row];
    const std::optional<double> bandwidth = kernel.bandwidth_gbs();
    std::optional<double> median, other, percent; // `other`: the minimum, or the median of all passes
    const auto speed_up_over = [&](const KernelResult& other) -> std::optional<double> {
        if (!kernel.times || !other.times) return std::nullopt;
        return other.times->median / kernel.times->median;
    };
    if (kernel.times) {
        median = kernel.times->median;
        const std::optional<Times> all = kernel.times_of_all_passes();
        if (!has_complete_times(report))
            other = kernel.times->min;
        else if (all)
            other = all->median;
    }
    if (bandwidth && report.device.peak_bandwidth_gbs)
        percent = 100 * *bandwidth / *report.device.peak_bandwidth_gbs;
    const std::string step =
        has_steps(report)
            ? fmt::format("{:>8}", row == 0 ? "" : or_dash(speed_up_over(report.kernels[row - 1]), 2))
            : "";
    return fmt::format("{:<{}}{:>11}{:>9}{:>13}{:>11}{:>9}{:>10}{:>9}{}\n", kernel.name, name_width,
                       blocks_or_dash(kernel), yes_or_no(kernel.verification.passed), or_dash(median, 2),
                       or_dash(other, 2), or_dash(bandwidth, 1), or_dash(percent, 1),
                       or_dash(speed_up_over(report.kernels.front()), 2), step);
}

std::string timing_notes(const Report& report) {
    const Times* timed = nullptr;
    std::size_t fewest = SIZE_MAX, most = 0;
    for (const KernelResult& kernel : report.kernels) {
        if (!kernel.times) continue;
        timed = &*kernel.times;
        fewest = std::min(fewest, timed->runs);
        most = std::max(most, timed->runs);
    }
    if (!timed) return "";
    const std::optional<double>& peak = report.device.peak_bandwidth_gbs;
    return fmt::format(
        "\n{}{}{} runs after a warm-up, {}.\nGB/s: bytes read and written over the median time, in 1e9 bytes "
        "a "
        "second{}.\nspeed-up: over {}{}.\n",
        pass_note(report, "The times"),
        has_complete_times(report) ? "all: the median of complete results, with all their passes.\n" : "",
        fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most),
        timed->cold_cache ? "the L2 cache flushed before each"
                          : "the L2 cache not flushed, for want of memory",
        peak ? fmt::format("; the card's peak is {:.1f}", *peak) : "; the card's peak is not known",
        report.kernels.front().name, has_steps(report) ? "; step: over the kernel above" : "");
}

std::string format_times(const Report& report) {
    std::size_t name_width = 8;
    for (const KernelResult& kernel : report.kernels) name_width = std::max(name_width, kernel.name.size());
    std::string text = heading(report);
    text += fmt::format(
        "Timed on {}, compute capability {}{}.\n", report.device.name, report.device.compute_capability,
        threads_in_block(report) > 0 ? fmt::format("; blocks of {} threads", threads_in_block(report)) : "");
    text += illustrations(report) + "\n";
    text += fmt::format("{:<{}}{:>11}{:>9}{:>13}{:>11}{:>9}{:>10}{:>9}{}\n", "kernel", name_width, "blocks",
                        "verified", "median [us]", has_complete_times(report) ? "all [us]" : "min [us]",
                        "GB/s", "% of peak", "speed-up", has_steps(report) ? "    step" : "");
    text += std::string(name_width + (has_steps(report) ? 80 : 72), '-') + "\n";
    for (std::size_t row = 0; row < report.kernels.size(); ++row) text += time_row(report, row, name_width);
    return text + timing_notes(report);
}

std::string format_verdicts(const Report& report) {
    std::string text = heading(report);
    for (const KernelResult& kernel : report.kernels) {
        const Verification& verification = kernel.verification;
        text += verification.passed
                    ? fmt::format("{}: verified, {}\n", kernel.name, actual_text(verification))
                    : fmt::format("{}: WRONG, expected {}, got {}\n", kernel.name,
                                  expected_text(verification), actual_text(verification));
    }
    return text;
}

} // namespace

std::string format_text(const Report& report) {
    if (report.verified_only) return format_verdicts(report);
    return report.device.kind == DeviceKind::gpu ? format_times(report) : format_counters(report);
}

} // namespace harness
