#include "emulator/cli/lines.hpp"

#include "emulator/cli/svg.hpp"
#include "emulator/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lines_page_style.hpp> // made of lines_page.css

#include <algorithm>

namespace emulate {

namespace {

using emulator::thousands;

constexpr const char* explanation = R"(<dl>
<dt>instructions</dt><dd>Executed, per warp: of the PTX, and of the machine code (sm_90) that ptxas makes of it.</dd>
<dt>passes</dt><dd>Of that code through the data pipe: shared memory, shuffles, barriers, thread indices, and accesses
that no lane executes.</dd>
<dt>sectors</dt><dd>Of 32 bytes, taken by loads, stores and atomics on global memory.
Ideal: if the bytes of each request lay side by side.</dd>
<dt>requests</dt><dd>Loads and stores of global memory, per warp.</dd>
<dt>wavefronts</dt><dd>Passes through the data pipe of shared memory.
Ideal: if no two lanes wanted different words of one bank.</dd>
<dt>divergent</dt><dd>Branches at which a warp split.</dd>
<dt><b>*</b></dt><dd>The highest in its column, or less than 10 % below it. The bar behind a number is its share
of the highest.</dd>
<dt><b>×8</b></dt><dd>Eight times the ideal.</dd>
</dl>
)";

/// "×8", "×1.3": the ratio to the ideal. Empty if it is nearly 1.
std::string excess(std::uint64_t count, std::uint64_t ideal) {
    const double ratio = static_cast<double>(count) / static_cast<double>(ideal);
    if (ratio < 1.05) return "";
    return fmt::format(" <b>×{:.{}f}</b>", ratio, ratio < 9.95 && count % ideal != 0 ? 1 : 0);
}

/// The counts of one kernel as cells. Columns in which it counted nothing are left out.
class Cells {
public:
    explicit Cells(const KernelLines& kernel) : hottest_(kernel) {
        for (std::size_t i = 0; i < line_columns().size(); ++i)
            if (!line_columns()[i].is_empty(kernel.total)) shown_.push_back(i);
    }

    std::string head() const {
        std::string cells;
        for (const std::size_t i : shown_)
            cells += fmt::format("<th scope=\"col\">{}</th>", line_columns()[i].name);
        return cells;
    }

    std::string empty() const {
        std::string cells;
        for (std::size_t i = 0; i < shown_.size(); ++i) cells += "<td></td>";
        return cells;
    }

    std::string counts(const LineCounts& counts, bool with_marks) const {
        std::string cells;
        for (const std::size_t i : shown_) cells += cell(i, counts, with_marks);
        return cells;
    }

private:
    std::string cell(std::size_t i, const LineCounts& counts, bool with_marks) const {
        const LineColumn& column = line_columns()[i];
        const std::uint64_t value = column.value(counts);
        // A line that was never executed shows 0.
        if (value == 0 && i > 0) return "<td></td>";
        std::string attributes = fmt::format(" data-label=\"{}\"", column.name), text = thousands(value);
        if (column.is_ideal) {
            attributes += R"( class="ideal")";
            text += excess(line_columns()[i - 1].value(counts), value);
        } else if (with_marks && value > 0) {
            const bool is_hot = hottest_.is_hot(i, counts);
            attributes += fmt::format(R"( class="share{}" style="--share:{:.0f}%")", is_hot ? " hot" : "",
                                      100 * hottest_.share(i, counts));
            if (is_hot) text += "<b>*</b>";
        }
        return fmt::format("<td{}>{}</td>", attributes, text);
    }

    const Hottest hottest_;
    std::vector<std::size_t> shown_;
};

std::string note(const Listing& listing) {
    switch (listing.kind) {
    case ListingKind::source:
        return listing.is_stale
                   ? "It is newer than the program: build the program again, or counts may stand beside the "
                     "wrong lines."
                   : "";
    case ListingKind::lost: return "It cannot be read (has it moved?), so only line numbers are shown.";
    case ListingKind::ptx: break;
    }
    return "Lines of its PTX; compile with <code>nvcc -lineinfo</code> to see those of the source.";
}

std::string table(const Listing& listing, const std::string& id, const Cells& cells,
                  const LineCounts* total) {
    std::string text = fmt::format(R"(<table class="lines">
<thead><tr>{}<th scope="col">line</th><th scope="col" class="source">source</th></tr></thead>
<tbody>
)",
                                   cells.head());
    for (const ListedLine& line : listing.lines)
        text += fmt::format(R"(<tr id="{0}-{1}">{2}<td class="number"><a href="#{0}-{1}">{1}</a></td>)"
                            "<td class=\"source\">{3}</td></tr>\n",
                            id, line.number, line.counts ? cells.counts(*line.counts, true) : cells.empty(),
                            escaped(line.text));
    if (total)
        text += fmt::format(
            R"(<tr class="total">{}<td class="number"></td><td class="source">all lines</td></tr>)"
            "\n",
            cells.counts(*total, false));
    return text + "</tbody>\n</table>\n";
}

std::string section(const KernelLines& kernel, std::size_t index) {
    const Cells cells(kernel);
    std::string text =
        fmt::format(R"(<section>
<h2 id="kernel{}"><code>{}</code></h2>
<p><code>{}</code></p>
<p>{}</p>
)",
                    index, escaped(kernel.kernel), escaped(kernel.name), fmt::join(kernel.launched, "; "));
    if (!kernel.no_machine_code.empty())
        text += fmt::format("<p class=\"note\">Its machine code was not counted: {}.</p>\n",
                            escaped(kernel.no_machine_code));
    for (std::size_t i = 0; i < kernel.listings.size(); ++i) {
        const Listing& listing = kernel.listings[i];
        if (listing.function != kernel.name)
            text += fmt::format("<h3>calls <code>{}</code></h3>\n", escaped(listing.function));
        if (!listing.file.empty()) text += fmt::format("<p><code>{}</code></p>\n", escaped(listing.file));
        if (const std::string remark = note(listing); !remark.empty())
            text += "<p class=\"note\">" + remark + "</p>\n";
        text += table(listing, fmt::format("kernel{}-{}", index, i), cells,
                      i + 1 == kernel.listings.size() ? &kernel.total : nullptr);
    }
    return text + "</section>\n";
}

/// The kernels with their totals; each name leads to its lines.
std::string chooser(const std::vector<KernelLines>& kernels) {
    KernelLines all;
    for (const KernelLines& kernel : kernels) {
        all.total.counted += kernel.total.counted;
        all.listings.push_back({.lines = {{.counts = kernel.total}}});
    }
    const Cells cells(all);
    std::string text = fmt::format(R"(<nav aria-label="kernels">
<table class="kernels">
<thead><tr><th scope="col">kernel</th>{}</tr></thead>
<tbody>
)",
                                   cells.head());
    for (std::size_t i = 0; i < kernels.size(); ++i)
        text += fmt::format("<tr><td><a href=\"#kernel{}\">{}</a></td>{}</tr>\n", i,
                            escaped(kernels[i].kernel), cells.counts(kernels[i].total, true));
    return text + "</tbody>\n</table>\n</nav>\n";
}

} // namespace

std::string lines_as_html(const std::vector<KernelLines>& kernels, const std::string& program) {
    std::string text = fmt::format(R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}, line by line</title>
<style>{1}</style>
</head>
<body>
<h1><code>{0}</code>, line by line</h1>
)",
                                   escaped(program), lines_page_style);
    if (kernels.empty())
        text += "<p>No kernel ran to its end, so there are no lines to show.</p>\n";
    else
        text += "<p>What each line of the kernels did on the emulated GPU: counted, not timed.</p>\n" +
                chooser(kernels) + explanation;
    for (std::size_t i = 0; i < kernels.size(); ++i) text += section(kernels[i], i);
    return text + "</body>\n</html>\n";
}

} // namespace emulate
