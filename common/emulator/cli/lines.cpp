#include "emulator/cli/lines.hpp"

#include "emulator/program/source_location.hpp"
#include "emulator/text.hpp"

#include <algorithm>
#include <functional>

namespace emulate {

using emulator::FunctionLines, emulator::Metric;

namespace {

/// Whether the declaration may continue after this line. The end of a statement or comment ends it.
bool leads_to_next(std::string line) {
    line.erase(0, line.find_first_not_of(" \t\r"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    return !line.empty() && line.back() != ';' && line.back() != '}' && line.front() != '#' &&
           line.front() != '*' && !line.starts_with("//") && !line.starts_with("/*") && !line.ends_with("*/");
}

/// The compiler records the line of a function's name. Its declaration may begin above that.
std::uint32_t first_of_declaration(const SourceFile& file, std::uint32_t named_on) {
    std::uint32_t first = named_on;
    while (first > 1 && first - 2 < file.lines.size() && leads_to_next(file.lines[first - 2])) --first;
    return first;
}

Listing list_range(std::uint32_t first, std::uint32_t last, const std::vector<LineCounts>& counts,
                   const std::function<std::string(std::uint32_t)>& text) {
    Listing listing;
    auto next = counts.begin();
    for (std::uint32_t number = first; number <= last; ++number) {
        ListedLine& line = listing.lines.emplace_back();
        line.number = number;
        line.text = text(number);
        if (next != counts.end() && next->line == number) line.counts = *next++;
    }
    return listing;
}

Listing list_ptx(const FunctionLines& function) {
    Listing listing = list_range(
        function.first_line, function.first_line + static_cast<std::uint32_t>(function.ptx.size()) - 1,
        function.lines, [&](std::uint32_t number) { return function.ptx[number - function.first_line]; });
    listing.kind = ListingKind::ptx;
    return listing;
}

Listing list_source(const FunctionLines& function, const SourceFile& file) {
    const auto text = [&](std::uint32_t number) {
        return number <= file.lines.size() ? file.lines[number - 1] : "";
    };
    Listing listing = list_range(first_of_declaration(file, function.first_line), function.lines.back().line,
                                 function.lines, text);
    listing.is_stale = file.is_newer_than_program;
    return listing;
}

Listing list_numbers(const FunctionLines& function) {
    Listing listing;
    listing.kind = ListingKind::lost;
    for (const LineCounts& counts : function.lines) listing.lines.push_back({counts.line, "", counts});
    return listing;
}

std::vector<std::string> launched(const KernelCounts& kernel) {
    constexpr std::size_t max_shapes = 4;
    if (kernel.launches == 1) return kernel.shapes;
    std::vector<std::string> facts{emulator::thousands(kernel.launches) +
                                   " launches together (emulate --launch K picks one)"};
    for (std::size_t i = 0; i < std::min(kernel.shapes.size(), max_shapes); ++i)
        facts.push_back(kernel.shapes[i]);
    if (kernel.shapes.size() > max_shapes) facts.emplace_back("and others");
    return facts;
}

Listing list(const FunctionLines& function, const ReadSource& read_source) {
    const auto make = [&] {
        if (function.path.empty()) return list_ptx(function);
        const std::optional<SourceFile> file = read_source(function.path);
        return file ? list_source(function, *file) : list_numbers(function);
    };
    Listing listing = make();
    listing.function = function.function;
    if (!function.path.empty()) listing.file = emulator::short_path(function.path);
    return listing;
}

} // namespace

const std::vector<LineColumn>& line_columns() {
    static const std::vector<Metric> sectors{Metric::global_load_sectors, Metric::global_store_sectors,
                                             Metric::global_atom_sectors, Metric::global_red_sectors,
                                             Metric::bulk_sectors};
    static const std::vector<Metric> wavefronts{Metric::shared_load_wavefronts,
                                                Metric::shared_store_wavefronts, Metric::copy_wavefronts};
    static const std::vector<Metric> requests{Metric::global_load_requests, Metric::global_store_requests};
    static const std::vector<LineColumn> columns{
        {"instructions", "instructions (PTX)", "PTX", "instr", false, {Metric::warp_instructions}},
        {"instructions_sm_90",
         "instructions (sm_90)",
         "sm_90",
         "instr",
         false,
         {},
         &LineCounts::machine_instructions},
        {"data_pipe_passes", "passes", "", "passes", false, {}, &LineCounts::data_pipe_passes},
        {"sectors", "sectors", "sectors", "count", false, sectors},
        {"sectors_ideal", "ideal", "sectors", "ideal", true, sectors},
        {"requests", "requests", "", "req.", false, requests},
        {"wavefronts", "wavefronts", "wavefronts", "count", false, wavefronts},
        {"wavefronts_ideal", "ideal", "wavefronts", "ideal", true, wavefronts},
        {"divergent_branches", "divergent", "diver-", "gent", false, {Metric::divergent_branches}},
    };
    return columns;
}

std::uint64_t LineColumn::value(const LineCounts& counts) const {
    if (of_machine_code) return counts.*of_machine_code;
    std::uint64_t sum = 0;
    for (const Metric metric : metrics) sum += (is_ideal ? counts.ideal : counts.counted)[metric];
    return sum;
}

bool LineColumn::is_empty(const LineCounts& total) const {
    if (of_machine_code) return total.*of_machine_code == 0;
    return std::all_of(metrics.begin(), metrics.end(),
                       [&](Metric metric) { return total.counted[metric] == 0; });
}

Hottest::Hottest(const KernelLines& kernel) : columns_(line_columns().size()) {
    std::vector<const LineCounts*> lines;
    for (const Listing& listing : kernel.listings)
        for (const ListedLine& line : listing.lines)
            if (line.counts) lines.push_back(&*line.counts);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (line_columns()[i].is_ideal) continue;
        for (const LineCounts* const line : lines)
            columns_[i].most = std::max(columns_[i].most, line_columns()[i].value(*line));
        const auto hot = std::count_if(lines.begin(), lines.end(),
                                       [&](const LineCounts* line) { return is_hot(i, *line); });
        columns_[i].has_hot_lines = 2 * static_cast<std::size_t>(hot) <= lines.size();
    }
}

double Hottest::share(std::size_t column, const LineCounts& counts) const {
    if (columns_[column].most == 0) return 0;
    return static_cast<double>(line_columns()[column].value(counts)) /
           static_cast<double>(columns_[column].most);
}

bool Hottest::is_hot(std::size_t column, const LineCounts& counts) const {
    return columns_[column].has_hot_lines && share(column, counts) > 0.9;
}

std::vector<KernelLines> kernel_lines(const std::vector<KernelCounts>& kernels,
                                      const ReadSource& read_source) {
    std::vector<KernelLines> result;
    for (const KernelCounts& counts : kernels) {
        KernelLines& kernel = result.emplace_back();
        kernel.kernel = counts.kernel;
        kernel.name = counts.name;
        kernel.launches = counts.launches;
        kernel.launched = launched(counts);
        kernel.no_machine_code = counts.no_machine_code;
        for (FunctionLines function : counts.functions) {
            for (LineCounts& line : function.lines) {
                if (!counts.no_machine_code.empty()) line.machine_instructions = line.data_pipe_passes = 0;
                kernel.total += line;
            }
            kernel.listings.push_back(list(function, read_source));
        }
    }
    return result;
}

} // namespace emulate
