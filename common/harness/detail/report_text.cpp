#include "emulator/counter_legend.hpp"
#include "emulator/terminal.hpp"
#include "harness/detail/report.hpp"
#include "harness/detail/text_table.hpp"
#include "harness/numbers.hpp"

#include <counter_catalogue.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace harness {
namespace {

using emulator::Style, emulator::styled;

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
std::string change(double first, double second) {
    if (first == second) return ""; // empty, so that what moves stands out
    if (first == 0) return "new";
    if (second == 0) return "gone";
    const double ratio = second / first;
    return ratio < 0.1 ? fmt::format("x {:.2g}", ratio) : fmt::format("x {:.2f}", ratio);
}

std::uint64_t counter_value(const KernelResult& kernel, const char* name) {
    return kernel.counters ? find_counter(*kernel.counters, name).value_or(0) : 0;
}

/// One text for each kernel.
template <class Cell> std::vector<std::string> cells_of(const Report& report, Cell cell) {
    std::vector<std::string> cells;
    for (const KernelResult& kernel : report.kernels) cells.emplace_back(cell(kernel));
    return cells;
}

std::vector<std::string> names_of(const Report& report) {
    return cells_of(report, [](const KernelResult& kernel) { return kernel.name; });
}

/// Of the machine code; 0 if it is not known.
std::uint64_t instructions(const KernelResult& kernel) {
    return kernel.estimate ? kernel.estimate->instructions.value_or(0) : 0;
}
std::uint64_t data_pipe_passes(const KernelResult& kernel) {
    return kernel.estimate ? kernel.estimate->data_pipe_passes.value_or(0) : 0;
}
bool has_machine_code(const Report& report) {
    const auto is_known = [](const KernelResult& kernel) { return instructions(kernel) > 0; };
    // What is not known has not changed.
    return report.changed_only ? std::all_of(report.kernels.begin(), report.kernels.end(), is_known)
                               : std::any_of(report.kernels.begin(), report.kernels.end(), is_known);
}

/// Whether --changed shows what the machine code executes in place of the counter.
bool is_replaced(const Report& report, std::string_view counter) {
    return report.changed_only && has_machine_code(report) &&
           (counter == counter_name::warp_instructions || counter == counter_name::thread_instructions);
}

bool are_equal(const std::vector<std::string>& cells) {
    return std::all_of(cells.begin(), cells.end(),
                       [&](const std::string& cell) { return cell == cells.front(); });
}

/// "84.1", "1,210"
std::string microseconds(double time) {
    return time < 99.95 ? fmt::format("{:.1f}", time)
                        : group_digits(static_cast<std::uint64_t>(std::llround(time)));
}

/// "H200"
std::string short_name(const std::string& card) {
    constexpr std::string_view maker = "NVIDIA ";
    return card.starts_with(maker) ? card.substr(maker.size()) : card;
}

bool is_estimated(const KernelResult& kernel) { return kernel.estimate.has_value(); }

/// The card that times were estimated for; empty: none.
std::string estimated_card(const Report& report) {
    const auto found = std::find_if(report.kernels.begin(), report.kernels.end(), is_estimated);
    return found == report.kernels.end() ? "" : short_name(found->estimate->card);
}

std::optional<double> large_us(const KernelResult& kernel) {
    return kernel.large_estimate ? kernel.large_estimate->time_us : std::nullopt;
}

bool has_large_estimates(const Report& report) {
    return std::any_of(report.kernels.begin(), report.kernels.end(),
                       [](const KernelResult& kernel) { return large_us(kernel).has_value(); });
}

/// Of the times that --changed shows.
std::size_t timed_elements(const Report& report) {
    return has_large_estimates(report) ? large_n : report.elements;
}

/// What was measured; else what was estimated, for large_n if possible.
std::optional<double> time_of(const Report& report, const KernelResult& kernel) {
    if (kernel.times) return kernel.times->median;
    if (has_large_estimates(report)) return large_us(kernel);
    return kernel.estimate ? kernel.estimate->time_us : std::nullopt;
}

std::string time_cell(const Report& report, const KernelResult& kernel) {
    const std::optional<double> time = time_of(report, kernel);
    return time ? microseconds(*time) : "-";
}

std::string size_text(const Report& report, std::size_t elements) {
    return fmt::format("{} {}", group_digits(std::uint64_t{elements}),
                       report.seed ? report.element_type.plural : "threads");
}

/// The table for few kernels: one column per kernel, one row per counter. With --changed, only the rows whose cells
/// differ, and times first.
class CounterTable {
public:
    explicit CounterTable(const Report& report)
        : report_(report), has_changes_(report.kernels.size() == 2), changed_only_(report.changed_only),
          table_(names_of(report), has_changes_ ? "change" : "", report.color && !changed_only_,
                 !changed_only_) {}

    std::string format() {
        add_verdicts();
        if (changed_only_) {
            add_times();
            section_ = (is_gpu() ? "launched for " : "counted for ") + size_text(report_, report_.elements);
        }
        if (threads_in_block(report_) > 0) {
            add_numbers("blocks", [](const KernelResult& kernel) { return volume(kernel.launch.grid); });
            add_numbers("threads per block",
                        [](const KernelResult& kernel) { return volume(kernel.launch.block); });
        }
        std::string_view group;
        for (const KnownCounter& counter : known_counters()) {
            if (!is_shown(counter)) continue;
            if (group != counter.group) group_ = group = counter.group;
            add_numbers(fmt::format("  {}", counter.label),
                        [&](const KernelResult& kernel) { return counter_value(kernel, counter.name); });
        }
        if (has_machine_code(report_)) {
            group_ = "instructions (sm_90)";
            add_numbers("  per warp", instructions);
            group_ = "data pipe (sm_90)";
            add_numbers("  passes", data_pipe_passes);
        }
        return changed_only_ && !has_moved_ ? "" : table_.format();
    }

private:
    bool is_gpu() const { return report_.device.kind == DeviceKind::gpu; }

    void add_verdicts() {
        std::vector<bool> verdicts;
        for (const KernelResult& kernel : report_.kernels) verdicts.push_back(kernel.verification.passed);
        const bool all_passed = std::find(verdicts.begin(), verdicts.end(), false) == verdicts.end();
        if (changed_only_ && (all_passed || report_.estimated_only)) return;
        has_moved_ = true;
        table_.add_verdicts("verified", verdicts);
        table_.add_row("result", cells_of(report_, [](const KernelResult& kernel) {
                           return actual_text(kernel.verification);
                       }));
    }

    void add_times() {
        const std::vector<KernelResult>& kernels = report_.kernels;
        section_ = is_gpu() ? fmt::format("the {} took [us]", short_name(report_.device.name))
                            : fmt::format("an {} would take [us] (estimate)", estimated_card(report_));
        const auto cells =
            cells_of(report_, [&](const KernelResult& kernel) { return time_cell(report_, kernel); });
        std::string last;
        if (has_changes_ && !are_equal(cells))
            if (const auto first = time_of(report_, kernels[0]), second = time_of(report_, kernels[1]);
                first && second)
                last = change(*first, *second);
        const bool is_known = std::any_of(kernels.begin(), kernels.end(), [&](const KernelResult& kernel) {
            return time_of(report_, kernel).has_value();
        });
        if (is_known) add("  for " + size_text(report_, timed_elements(report_)), cells, last);
    }

    /// Rare counters, such as atomics, have a row only if a kernel uses them.
    bool is_shown(const KnownCounter& counter) const {
        if (counter.group.empty() || is_replaced(report_, counter.name)) return false;
        return !counter.is_rare ||
               std::any_of(report_.kernels.begin(), report_.kernels.end(), [&](const KernelResult& kernel) {
                   return counter_value(kernel, counter.name) > 0;
               });
    }

    template <class Number> void add_numbers(std::string label, Number number) {
        const std::vector<std::string> cells = cells_of(
            report_, [&](const KernelResult& kernel) { return group_digits(std::uint64_t{number(kernel)}); });
        if (changed_only_ && are_equal(cells)) return;
        const auto value = [&](std::size_t kernel) {
            return static_cast<double>(number(report_.kernels[kernel]));
        };
        add(std::move(label), cells, has_changes_ ? change(value(0), value(1)) : "");
    }

    /// A row, below the headings that it is the first of.
    void add(std::string label, std::vector<std::string> cells, std::string last) {
        has_moved_ = has_moved_ || !are_equal(cells);
        for (std::string* const heading : {&section_, &group_})
            if (!heading->empty()) table_.add_heading(std::exchange(*heading, ""));
        table_.add_row(std::move(label), std::move(cells), std::move(last));
    }

    const Report& report_;
    bool has_changes_, changed_only_, has_moved_ = false;
    std::string section_, group_; ///< headings of the rows to come
    ColumnTable table_;
};

/// "verified: all 11 results"
std::string verified_line(const Report& report) {
    std::vector<std::string> wrong;
    for (const KernelResult& kernel : report.kernels)
        if (!kernel.verification.passed) wrong.push_back(kernel.name);
    const std::size_t all = report.kernels.size();
    if (wrong.empty())
        return styled(fmt::format("verified: all {} results", all), Style::green, report.color) + "\n";
    const std::string text =
        fmt::format("verified: {} of {} results; WRONG: {}", all - wrong.size(), all, fmt::join(wrong, ", "));
    return styled(wrap(text), Style::red, report.color);
}

/// Sectors of loads have a line in place of a column: they hardly differ between kernels.
std::string sectors_line(const Report& report) {
    std::uint64_t least = UINT64_MAX, most = 0;
    for (const KernelResult& kernel : report.kernels) {
        const std::uint64_t sectors = counter_value(kernel, counter_name::global_load_sectors);
        least = std::min(least, sectors);
        most = std::max(most, sectors);
    }
    if (least == most)
        return fmt::format("Sectors of global loads: {} in every kernel; each loads the same ints.\n",
                           group_digits(least));
    return fmt::format("Sectors of global loads: {} to {}.\n", group_digits(least), group_digits(most));
}

std::string barriers_per_thread(const KernelResult& kernel) {
    const std::uint64_t threads = volume(kernel.launch.grid) * volume(kernel.launch.block);
    const std::uint64_t barriers = counter_value(kernel, counter_name::thread_barriers);
    if (threads == 0) return "-";
    return fmt::format("{:.3g}", static_cast<double>(barriers) / static_cast<double>(threads));
}

/// The emulator's table for many kernels: one row per kernel, and columns for the counters that differ
/// between the steps of the ladder. With --changed, only those that differ between the kernels, and times first.
std::string kernel_table(const Report& report) {
    struct Column {
        const char* top;
        const char* bottom;
        std::array<const char*, 2> counters; // their sum is shown
    };
    static constexpr Column columns[] = {
        {"load", "requests", {counter_name::global_load_requests}},
        {"wave-", "fronts", {counter_name::shared_load_wavefronts, counter_name::shared_store_wavefronts}},
        {"bank",
         "conflicts",
         {counter_name::shared_load_bank_conflicts, counter_name::shared_store_bank_conflicts}},
        {"instr.", "(PTX)", {counter_name::warp_instructions}},
        {"diverg.", "(PTX)", {counter_name::divergent_branches}},
    };
    RowTable table(names_of(report)), machine_code(names_of(report));
    const auto add = [&](RowTable& to, const char* top, const char* bottom, auto cell) {
        std::vector<std::string> cells = cells_of(report, cell);
        if (!report.changed_only || !are_equal(cells)) to.add_column(top, bottom, std::move(cells));
    };
    if (report.changed_only)
        add(table, "estimate", "[us]", [&](const KernelResult& kernel) { return time_cell(report, kernel); });
    add(table, "", "blocks", blocks_or_dash);
    for (const Column& column : columns) {
        if (is_replaced(report, column.counters[0])) continue;
        add(table, column.top, column.bottom, [&](const KernelResult& kernel) {
            std::uint64_t sum = 0;
            for (const char* name : column.counters) sum += name ? counter_value(kernel, name) : 0;
            return group_digits(sum);
        });
    }
    add(table, "barriers", "/thread", barriers_per_thread);
    // The table has no room for these.
    const auto or_dash = [](std::uint64_t count) { return count > 0 ? group_digits(count) : "-"; };
    add(machine_code, "instructions", "(sm_90)",
        [&](const KernelResult& kernel) { return or_dash(instructions(kernel)); });
    add(machine_code, "data pipe", "passes",
        [&](const KernelResult& kernel) { return or_dash(data_pipe_passes(kernel)); });
    std::string text = table.format();
    if (has_machine_code(report)) text += "\n" + machine_code.format();
    return report.changed_only ? text : text + verified_line(report) + sectors_line(report);
}

/// Says which passes were counted or timed. Empty if every kernel has one pass.
/// \param subject "The counters"
std::string pass_note(const Report& report, const char* subject) {
    std::vector<std::string> whole;
    for (const KernelResult& kernel : report.kernels) {
        if (kernel.launch.passes == 1) whole.push_back(kernel.name);
    }
    if (whole.size() == report.kernels.size()) return "";
    const std::string note =
        fmt::format("{} are of the first launch, which leaves one partial sum per block", subject);
    if (whole.empty()) return note + ".\n";
    return note + ";\n" + wrap(fmt::format("those of {} are of the whole result.", fmt::join(whole, ", ")));
}

/// "reduce1 26.1 us here, 1,524 us at 2^28"
std::string estimate_text(const KernelResult& kernel) {
    const std::optional<double> large = large_us(kernel);
    if (!kernel.estimate || !kernel.estimate->time_us) return "";
    return fmt::format("{} {} us{}", kernel.name, microseconds(*kernel.estimate->time_us),
                       large ? fmt::format(" here, {} us at 2^28", microseconds(*large)) : "");
}

void add_once(std::vector<std::string>& texts, std::string text) {
    if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end())
        texts.push_back(std::move(text));
}

/// Why there are no estimates of some kernels, in lines.
std::vector<std::string> reasons_of(const Report& report) {
    std::vector<std::string> reasons;
    for (const KernelResult& kernel : report.kernels)
        for (const auto& [estimate, where] :
             {std::pair(&kernel.estimate, ""), {&kernel.large_estimate, " at 2^28"}})
            if (*estimate && !(*estimate)->reason.empty() &&
                (!*where || !kernel.estimate || kernel.estimate->reason.empty()))
                add_once(reasons, wrap(fmt::format("No estimate for {}{}: {}.", kernel.name, where,
                                                   (*estimate)->reason)));
    return reasons;
}

} // namespace

std::string format_estimates(const Report& report) {
    std::vector<std::string> times, errors;
    std::string card;
    for (const KernelResult& kernel : report.kernels) {
        if (!kernel.estimate) continue;
        card = kernel.estimate->card;
        add_once(times, estimate_text(kernel));
        if (kernel.estimate->time_us) add_once(errors, kernel.estimate->error_found);
    }
    std::string text;
    if (!times.empty()) text = wrap(fmt::format("Estimated for an {}: {}.", card, fmt::join(times, "; ")));
    if (!errors.empty())
        text += wrap(fmt::format("Error of such estimates for {}.", fmt::join(errors, "; for ")));
    for (const std::string& reason : reasons_of(report)) text += reason;
    return text;
}

std::string ladder_line(const Report& report) {
    constexpr std::string_view ladder = "lesson0"; // to lesson09
    if (!report.lesson.starts_with(ladder) || report.kernels.empty()) return "";
    const KernelResult& kernel = report.kernels.back();
    const std::optional<double> bandwidth = kernel.bandwidth_gbs(), peak = report.device.peak_bandwidth_gbs;
    const std::optional<Estimate>& large = kernel.large_estimate;
    double share = 0;
    std::string of;
    if (!kernel.verification.passed) return "";
    if (bandwidth && peak) {
        share = *bandwidth / *peak;
        of = "the card's peak";
    } else if (large && large->peak_fraction) {
        share = *large->peak_fraction;
        of = fmt::format("an {}'s peak bandwidth (estimate)", estimated_card(report));
    } else
        return "";
    constexpr std::size_t width = 14;
    const auto filled = std::min(width, static_cast<std::size_t>(std::lround(width * share)));
    return fmt::format("lesson {} of 09: [{:<{}}] {:.0f} % of {}\n", report.lesson.substr(ladder.size() - 1),
                       std::string(filled, '#'), width, 100 * share, of);
}

namespace {

constexpr const char* ptx_note = "(PTX): counted on PTX; the GPU's own machine code may differ.\n";

constexpr const char* units =
    "Counts of all blocks: sectors of 32 bytes; requests and wavefronts of warps.\n";

/// More kernels have a row each.
constexpr std::size_t most_columns = 5;

std::string format_counters(const Report& report) {
    const bool few = report.kernels.size() <= most_columns;
    const std::string table = few ? CounterTable(report).format() : kernel_table(report);
    const std::string times = format_estimates(report);
    return fmt::format("{}{}: counted, not timed.\n{}{}{}\n{}\n{}{}{}", heading(report), report.device.name,
                       units, pass_note(report, "The counters"), illustrations(report), table,
                       times.empty() ? "" : times + "\n", ptx_note,
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

/// The speed-up of `kernel` over `other`, or a dash.
std::string speed_up(const KernelResult& kernel, const KernelResult& other) {
    if (!kernel.times || !other.times) return "-";
    return fmt::format("{:.2f}", other.times->median / kernel.times->median);
}

std::string time_table(const Report& report) {
    const auto time = [](const std::optional<Times>& times, double Times::*which) {
        return times ? fmt::format("{:.2f}", *times.*which) : "-";
    };
    const bool all = has_complete_times(report);
    RowTable table(names_of(report));
    const auto add = [&](const char* top, const char* bottom, auto cell) {
        table.add_column(top, bottom, cells_of(report, cell));
    };
    add("", "blocks", blocks_or_dash);
    add("median", "[us]", [&](const KernelResult& kernel) { return time(kernel.times, &Times::median); });
    add(all ? "all" : "min", "[us]", [&](const KernelResult& kernel) {
        return all ? time(kernel.times_of_all_passes(), &Times::median) : time(kernel.times, &Times::min);
    });
    add("", "GB/s", [](const KernelResult& kernel) { return or_dash(kernel.bandwidth_gbs(), 1); });
    add("% of", "peak", [&](const KernelResult& kernel) {
        const std::optional<double> bandwidth = kernel.bandwidth_gbs(),
                                    peak = report.device.peak_bandwidth_gbs;
        return bandwidth && peak ? fmt::format("{:.1f}", 100 * *bandwidth / *peak) : "-";
    });
    const KernelResult* const first = report.kernels.data();
    add("speed-", "up", [&](const KernelResult& kernel) { return speed_up(kernel, *first); });
    if (has_steps(report))
        add("", "step", [&](const KernelResult& kernel) {
            return &kernel == first ? "" : speed_up(kernel, *(&kernel - 1));
        });
    return table.format() + verified_line(report);
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
        "\n{}{}{} runs after a warm-up, {}.\nGB/s: 1e9 bytes read and written per "
        "second of the median time;\n{}.\nspeed-up: over {}{}.\n",
        pass_note(report, "The times"),
        has_complete_times(report) ? "all: the median of complete results, with all their passes.\n" : "",
        fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most),
        timed->cold_cache ? "the L2 cache flushed before each"
                          : "the L2 cache not flushed: too little memory",
        peak ? fmt::format("the card's peak is {:.1f}", *peak) : "the card's peak is not known",
        report.kernels.front().name, has_steps(report) ? "; step: over the kernel above" : "");
}

/// "counted" and "estimate" are of different sizes.
std::string sizes_of(const Report& report) {
    const std::string counted = "counted for " + size_text(report, report.elements);
    if (estimated_card(report).empty()) return counted + "\n";
    return fmt::format("estimate: for an {} and {}\n{}\n", estimated_card(report),
                       size_text(report, timed_elements(report)), counted);
}

std::string format_changed(const Report& report) {
    const bool few = report.kernels.size() <= most_columns, is_gpu = report.device.kind == DeviceKind::gpu;
    if (report.kernels.size() == 1)
        return fmt::format("Nothing to compare: only {} ran.\n", report.kernels[0].name);
    std::string text = few      ? CounterTable(report).format()
                       : is_gpu ? time_table(report)
                                : sizes_of(report) + kernel_table(report);
    if (text.empty())
        text = wrap(fmt::format("Nothing moved: {} have the same {}.", fmt::join(names_of(report), " and "),
                                is_gpu ? "time" : "counters"));
    std::string notes = text.find("(PTX)") == std::string::npos ? "" : ptx_note;
    for (const std::string& reason : reasons_of(report)) notes += reason;
    return text + (notes.empty() ? "" : "\n" + notes) + (report.explain ? emulator::counter_legend() : "");
}

std::string format_times(const Report& report) {
    std::string text = heading(report);
    text += wrap(fmt::format(
        "Timed on {}, compute capability {}{}.", report.device.name, report.device.compute_capability,
        threads_in_block(report) > 0 ? fmt::format("; blocks of {} threads", threads_in_block(report)) : ""));
    return text + illustrations(report) + "\n" + time_table(report) + timing_notes(report);
}

std::string format_verdicts(const Report& report) {
    std::string text = heading(report);
    for (const KernelResult& kernel : report.kernels) {
        const Verification& verification = kernel.verification;
        text += verification.passed
                    ? fmt::format("{}: {}, {}\n", kernel.name, styled("verified", Style::green, report.color),
                                  actual_text(verification))
                    : fmt::format("{}: {}, expected {}, got {}\n", kernel.name,
                                  styled("WRONG", Style::red, report.color), expected_text(verification),
                                  actual_text(verification));
    }
    return text;
}

} // namespace

std::string format_text(const Report& report) {
    if (report.changed_only) return format_changed(report);
    if (report.estimated_only)
        return heading(report) + pass_note(report, "The times") + "Nothing was run.\n\n" +
               format_estimates(report);
    if (report.verified_only) return format_verdicts(report);
    return report.device.kind == DeviceKind::gpu ? format_times(report) : format_counters(report);
}

} // namespace harness
