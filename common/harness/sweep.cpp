#include "harness/sweep.hpp"

#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace harness {
namespace {

using Value = std::optional<double>;

std::string grouped(std::size_t value) { return group_digits(std::uint64_t{value}); }

/// The sum of some counters, per element.
Value per_int(const Report& report, const KernelResult& kernel, std::initializer_list<const char*> counters) {
    if (!kernel.counters) return std::nullopt;
    std::uint64_t sum = 0;
    for (const char* name : counters) sum += find_counter(*kernel.counters, name).value_or(0);
    return static_cast<double>(sum) / static_cast<double>(report.elements);
}

Value microseconds(const Report&, const KernelResult& kernel) {
    return kernel.times ? Value(kernel.times->median) : std::nullopt;
}

Value instructions(const Report& report, const KernelResult& kernel) {
    return per_int(report, kernel, {"smsp__inst_executed.sum"});
}

Value sectors(const Report& report, const KernelResult& kernel) {
    return per_int(report, kernel,
                   {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"});
}

/// A pair of axes, and what is drawn between them.
struct Panel {
    const char* name; // of its data
    const char* y_label;
    const char* y_format; // of its numbers
    Value (*value)(const Report&, const KernelResult&);
    double bottom, top; // 0 to 1: from the picture's lower edge to its upper one
};
constexpr Panel time_panels[] = {{"time", "median time [µs]", "10^{%T}", microseconds, 0.14, 0.84}};
constexpr Panel counter_panels[] = {
    {"instructions", "warp instructions (PTX) per int", "%g", instructions, 0.55, 0.89},
    {"sectors", "sectors of global memory per int", "%g", sectors, 0.10, 0.44}};

/// Told apart by every kind of colour vision (Okabe and Ito's colours, and grey), and in print by the points.
struct Style {
    const char* colour;
    int point;
};
constexpr Style styles[] = {{"#000000", 4}, {"#e69f00", 6},  {"#56b4e9", 8}, {"#009e73", 12},
                            {"#d55e00", 5}, {"#cc79a7", 10}, {"#0072b2", 7}, {"#777777", 9}};

/// What all panels have in common.
constexpr const char* axes = R"(set encoding utf8
set lmargin at screen 0.11
set rmargin at screen 0.74
set border 3
set tics nomirror out
set grid lw 0.5 lc rgb '#dddddd'
set logscale x 2
set logscale y 10
set xtics 4
set format x '2^{%L}'
set xlabel 'n [ints]'
)";

/// Those of the smallest size: later ones may lack some.
std::vector<std::string> kernel_names(const Sweep& sweep) {
    std::vector<std::string> names;
    for (const KernelResult& kernel : sweep.reports.front().kernels) names.push_back(kernel.name);
    return names;
}

/// "$naive_reduction_time": a row for each size.
std::string data_block(const Sweep& sweep, const std::string& kernel, const Panel& panel) {
    std::string rows;
    for (const Report& report : sweep.reports) {
        for (const KernelResult& result : report.kernels) {
            const Value value = result.name == kernel ? panel.value(report, result) : std::nullopt;
            if (value) rows += fmt::format("{} {:.6g}\n", report.elements, *value);
        }
    }
    return fmt::format("${}_{} << END\n{}END\n", kernel, panel.name, rows);
}

/// "[0.1:10]": whole decades that hold all of the panel's values.
std::string decades(const Sweep& sweep, const Panel& panel) {
    double least = HUGE_VAL, most = 0;
    for (const Report& report : sweep.reports) {
        for (const KernelResult& result : report.kernels) {
            const double value = panel.value(report, result).value_or(0);
            if (value <= 0) continue; // has no logarithm
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    const double first = std::floor(std::log10(least)), last = std::ceil(std::log10(most));
    return fmt::format("[1e{}:1e{}]", first, std::max(last, first + 1));
}

std::string draw(const Sweep& sweep, const Panel& panel, const std::vector<std::string>& kernels) {
    std::vector<std::string> curves;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Style& style = styles[i % std::size(styles)];
        // Smaller and smaller points, so that those below them can still be seen.
        curves.push_back(fmt::format("${}_{} with linespoints lw 1.6 lc rgb '{}' pt {} ps {:.2f} title '{}'",
                                     kernels[i], panel.name, style.colour, style.point,
                                     std::max(1.4 - 0.1 * static_cast<double>(i), 0.5), kernels[i]));
    }
    return fmt::format(R"(
set bmargin at screen {}
set tmargin at screen {}
set ylabel '{}'
set format y '{}'
set yrange {}
plot {}
unset key
unset label
)",
                       panel.bottom, panel.top, panel.y_label, panel.y_format, decades(sweep, panel),
                       fmt::join(curves, ", \\\n     "));
}

/// In gnuplot's single quotes.
std::string quoted(std::string text) {
    for (std::size_t i = 0; (i = text.find('\'', i)) != std::string::npos; i += 2) text.insert(i, 1, '\'');
    return "'" + text + "'";
}

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// A file without a name, to be read from its beginning.
File file_with(const std::string& text) {
    File file(std::tmpfile());
    if (!file || std::fputs(text.c_str(), file.get()) < 0 || std::fflush(file.get()) != 0)
        throw OutputError(fmt::format("could not write a temporary file: {}", std::strerror(errno)));
    std::rewind(file.get());
    return file;
}

} // namespace

LessonOption sweep_option(const std::string& lesson) {
    return {.name = "--sweep",
            .value = "",
            .help = fmt::format("measures the kernels over n = 2^10, 2^11, ... up to --n (default:\n"
                                "2^26 on the emulator, 2^30 on a GPU), and writes a table and a\n"
                                "plot: {0}_sweep.csv and .svg, in the folder that --save\n"
                                "names or the current one. The plot needs gnuplot",
                                lesson)};
}

void check_sweep_options(const Options& options) {
    if (options.check) throw UsageError("--sweep measures, and --check does not: leave one of them out.");
    if (options.format != OutputFormat::text)
        throw UsageError("--sweep writes a CSV and an SVG, and prints no report: leave --format out.");
    if (options.n && *options.n < smallest_swept)
        throw UsageError(
            fmt::format("--n {}: --sweep begins with {} ints and ends with --n. Write a larger --n.",
                        *options.n, grouped(smallest_swept)));
}

std::size_t default_largest_swept(const Device& device, std::size_t free_bytes) {
    std::size_t largest = std::size_t{1} << (device.kind == DeviceKind::emulator ? 26 : 30);
    while (largest > smallest_swept && 2 * largest * sizeof(int) > free_bytes / 10 * 9) largest /= 2;
    return largest;
}

std::vector<std::size_t> swept_sizes(std::size_t largest) {
    std::vector<std::size_t> sizes;
    for (std::size_t n = smallest_swept; n <= largest && n != 0; n *= 2) sizes.push_back(n);
    return sizes;
}

void Sweep::took(const std::string& kernel, std::size_t elements, double seconds) {
    if (seconds > most_seconds_a_turn && elements < largest) left_out.push_back({kernel, elements, seconds});
}

bool Sweep::leaves_out(const std::string& kernel) const {
    return std::any_of(left_out.begin(), left_out.end(),
                       [&](const LeftOut& entry) { return entry.kernel == kernel; });
}

std::string describe(const Sweep::LeftOut& left_out) {
    return fmt::format("{} is left out beyond {} ints: they took {:.0f} s", left_out.kernel,
                       grouped(left_out.elements), left_out.seconds);
}

std::string format_csv(const Sweep& sweep) {
    std::string text;
    for (const Sweep::LeftOut& entry : sweep.left_out) text += fmt::format("# {}\n", describe(entry));
    for (const Report& report : sweep.reports) {
        const std::string csv = format_csv(report);
        text += &report == &sweep.reports.front() ? csv : csv.substr(csv.find('\n') + 1);
    }
    return text;
}

std::string plot_script(const Sweep& sweep) {
    const Report& first = sweep.reports.front();
    const bool emulated = first.device.kind == DeviceKind::emulator;
    const std::span<const Panel> panels = emulated ? std::span<const Panel>(counter_panels) : time_panels;
    const std::string title = emulated ? first.lesson + ", emulated: counted, not timed"
                                       : first.lesson + " on " + first.device.name;
    const std::vector<std::string> kernels = kernel_names(sweep);

    std::string script;
    for (const Panel& panel : panels)
        for (const std::string& kernel : kernels) script += data_block(sweep, kernel, panel);
    script += fmt::format("set terminal svg size 900,{} font 'Helvetica,14' background rgb 'white'\n",
                          emulated ? 800 : 560);
    script += axes;
    script += fmt::format("set xrange [{}:{}]\n", first.elements,
                          std::max(sweep.reports.back().elements, 2 * first.elements));
    script +=
        fmt::format("set key at screen 0.76,{} left top Left reverse samplen 3 spacing 1.3 noenhanced\n",
                    panels.front().top);
    script += fmt::format("set label {} at screen 0.5,{} center noenhanced font ',17'\n", quoted(title),
                          panels.front().top + 0.08);
    script += fmt::format("set label {} at screen 0.5,{} center noenhanced\n", quoted(sweep.conditions),
                          panels.front().top + 0.045);
    script += "set multiplot\n";
    for (const Panel& panel : panels) script += draw(sweep, panel, kernels);
    return script + "unset multiplot\n";
}

void run_gnuplot(const std::string& script, const std::filesystem::path& svg) {
    const File input = file_with(script);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, fileno(input.get()), STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, svg.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    std::array<char*, 3> arguments{const_cast<char*>("gnuplot"), const_cast<char*>("-"), nullptr};
    pid_t child = 0;
    const int error = posix_spawnp(&child, "gnuplot", &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);

    int status = 0;
    const bool drawn = error == 0 && waitpid(child, &status, 0) == child && status == 0;
    if (drawn) return;
    std::error_code ignored;
    std::filesystem::remove(svg, ignored);
    if (error == ENOENT)
        throw OutputError("there is no gnuplot to draw the plot with. Install it (on Debian and Ubuntu: "
                          "apt-get install gnuplot-nox) and run this again.");
    throw OutputError(fmt::format("gnuplot could not draw {}{}", svg.string(),
                                  error != 0 ? fmt::format(": {}", std::strerror(error)) : ""));
}

} // namespace harness
