#include "harness/detail/text_table.hpp"

#include "emulator/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <sstream>
#include <utility>

namespace harness {
namespace {

using emulator::Style, emulator::styled;

constexpr std::size_t gap = 2, last_width = 10;

std::size_t widest(const std::vector<std::string>& texts) {
    std::size_t width = 0;
    for (const std::string& text : texts) width = std::max(width, text.size());
    return width;
}

/// A name in lines of `width`, broken after "_" and before a capital letter.
std::vector<std::string> broken_name(const std::string& name, std::size_t width) {
    std::vector<std::string> lines(1);
    std::size_t begin = 0;
    for (std::size_t end = 1; end <= name.size(); ++end) {
        if (end < name.size() && name[end - 1] != '_' &&
            std::isupper(static_cast<unsigned char>(name[end])) == 0)
            continue;
        if (!lines.back().empty() && lines.back().size() + end - begin > width) lines.emplace_back();
        lines.back().append(name, begin, end - begin);
        begin = end;
    }
    return lines;
}

} // namespace

ColumnTable::ColumnTable(std::vector<std::string> names, std::string last, bool color, bool ruled)
    : names_(std::move(names)), last_(std::move(last)), color_(color), ruled_(ruled) {}

void ColumnTable::add_verdicts(std::string label, const std::vector<bool>& verdicts) {
    Row row{std::move(label), {}, "", true};
    for (const bool passed : verdicts) row.cells.emplace_back(passed ? "yes" : "NO");
    rows_.push_back(std::move(row));
}

ColumnTable::Layout ColumnTable::wide() const {
    Layout layout{22, {}, {}};
    for (const std::string& name : names_) {
        layout.widths.push_back(std::max<std::size_t>(15, name.size() + gap));
        layout.headings.push_back({name});
    }
    for (const Row& row : rows_) {
        if (!row.cells.empty()) layout.label_width = std::max(layout.label_width, row.label.size());
        for (std::size_t column = 0; column < row.cells.size(); ++column)
            layout.widths[column] = std::max(layout.widths[column], row.cells[column].size() + 1);
    }
    return layout;
}

ColumnTable::Layout ColumnTable::narrow() const {
    Layout layout{0, {}, {}};
    for (const Row& row : rows_)
        if (!row.cells.empty()) layout.label_width = std::max(layout.label_width, row.label.size());
    const std::size_t taken = layout.label_width + (last_.empty() ? 0 : last_width);
    const std::size_t share = (terminal_columns - taken) / names_.size() - gap;
    for (std::size_t column = 0; column < names_.size(); ++column) {
        layout.headings.push_back(broken_name(names_[column], share));
        std::size_t width = widest(layout.headings.back());
        for (const Row& row : rows_)
            if (!row.cells.empty()) width = std::max(width, row.cells[column].size());
        layout.widths.push_back(width + gap);
    }
    return layout;
}

std::string ColumnTable::format(const Row& row, const Layout& layout, std::size_t first,
                                std::size_t end) const {
    if (row.cells.empty()) return row.label;
    std::string line = fmt::format("{:<{}}", row.label, layout.label_width);
    for (std::size_t column = first; column < end; ++column) {
        const std::string cell = fmt::format("{:>{}}", row.cells[column], layout.widths[column]);
        line +=
            styled(cell, row.cells[column] == "NO" ? Style::red : Style::green, color_ && row.has_verdicts);
    }
    if (!row.last.empty()) line += fmt::format("{:>{}}", row.last, last_width);
    const bool differ = std::any_of(row.cells.begin(), row.cells.end(),
                                    [&](const std::string& cell) { return cell != row.cells.front(); });
    return styled(line, differ ? Style::bold : Style::dim,
                  color_ && !row.has_verdicts && row.cells.size() > 1);
}

std::string ColumnTable::format(const Layout& layout, std::size_t first, std::size_t end) const {
    const std::size_t last = last_.empty() ? 0 : last_width;
    std::size_t height = 0;
    for (std::size_t column = first; column < end; ++column)
        height = std::max(height, layout.headings[column].size());
    std::string text;
    for (std::size_t line = 0; line < height; ++line) {
        text.append(layout.label_width, ' ');
        for (std::size_t column = first; column < end; ++column) {
            const std::vector<std::string>& heading = layout.headings[column];
            const std::size_t above = height - heading.size();
            text += fmt::format("{:>{}}", line < above ? "" : heading[line - above], layout.widths[column]);
        }
        if (line + 1 == height && last > 0) text += fmt::format("{:>{}}", last_, last);
        text.erase(text.find_last_not_of(' ') + 1);
        text += "\n";
    }
    const auto width =
        std::accumulate(layout.widths.begin() + static_cast<std::ptrdiff_t>(first),
                        layout.widths.begin() + static_cast<std::ptrdiff_t>(end), layout.label_width + last);
    if (ruled_) text += std::string(width, '-') + "\n";
    for (const Row& row : rows_) text += format(row, layout, first, end) + "\n";
    return text;
}

std::string ColumnTable::format() const {
    const auto width = [&](const Layout& layout) {
        return std::accumulate(layout.widths.begin(), layout.widths.end(),
                               layout.label_width + (last_.empty() ? 0 : last_width));
    };
    const Layout layout = width(wide()) <= terminal_columns ? wide() : narrow();
    if (width(layout) <= terminal_columns) return format(layout, 0, names_.size());
    std::string text;
    for (std::size_t first = 0, end = 0; first < names_.size(); first = end) {
        std::size_t used = layout.label_width;
        do used += layout.widths[end++];
        while (end < names_.size() && used + layout.widths[end] <= terminal_columns);
        text += (first == 0 ? "" : "\n") + format(layout, first, end);
    }
    return text;
}

std::size_t RowTable::Column::width() const {
    return gap + std::max({top.size(), bottom.size(), widest(cells)});
}

std::string RowTable::format() const {
    std::size_t width = 0;
    for (const Column& column : columns_) width += column.width();
    const std::string heading = "kernel";
    const std::size_t name_width = std::max(heading.size(), widest(names_));
    const bool fits = name_width + width <= terminal_columns;
    const std::size_t first = fits ? name_width : 0; // columns for the name
    width = std::max(first + width, name_width);

    std::string top(first, ' '), bottom = fits ? fmt::format("{:<{}}", heading, first) : "";
    for (const Column& column : columns_) {
        top += fmt::format("{:>{}}", column.top, column.width());
        bottom += fmt::format("{:>{}}", column.bottom, column.width());
    }
    std::string text = top + "\n" + bottom + "\n" + std::string(width, '-') + "\n";
    for (std::size_t row = 0; row < names_.size(); ++row) {
        text += fits ? fmt::format("{:<{}}", names_[row], first) : names_[row] + "\n";
        for (const Column& column : columns_)
            text += fmt::format("{:>{}}", column.cells[row], column.width());
        text += "\n";
    }
    return text;
}

std::string wrap(const std::string& text) {
    std::istringstream words(text);
    std::string lines;
    std::size_t length = 0;
    for (std::string word; words >> word; length += word.size() + 1) {
        if (length + word.size() > terminal_columns) {
            lines.back() = '\n';
            length = 0;
        }
        lines += word + " ";
    }
    if (!lines.empty()) lines.back() = '\n';
    return lines;
}

} // namespace harness
