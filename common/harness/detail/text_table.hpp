/// Tables and lines of text that fit a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace harness {

inline constexpr std::size_t terminal_columns = 80;

/// The text's words in lines that fit a terminal, each with its newline.
std::string wrap(const std::string& text);

/// A column per kernel. If the columns are too wide, it breaks their names, and then itself into several
/// tables.
class ColumnTable {
public:
    /// \param last the heading of one more column; empty: there is none
    /// \param ruled has a line of dashes below the headings
    ColumnTable(std::vector<std::string> names, std::string last, bool color, bool ruled = true);

    void add_heading(std::string text) { rows_.push_back({std::move(text), {}, "", false}); }
    void add_row(std::string label, std::vector<std::string> cells, std::string last = "") {
        rows_.push_back({std::move(label), std::move(cells), std::move(last), false});
    }
    /// A row of "yes" in green and "NO" in red. Of other rows, those whose cells differ are bold, and the
    /// others dim.
    void add_verdicts(std::string label, const std::vector<bool>& verdicts);
    std::string format() const;

private:
    struct Row {
        std::string label;
        std::vector<std::string> cells; ///< none: a heading
        std::string last;
        bool has_verdicts;
    };
    struct Layout {
        std::size_t label_width;
        std::vector<std::size_t> widths;                ///< of the columns
        std::vector<std::vector<std::string>> headings; ///< of each column, line by line
    };

    std::string format(const Row& row, const Layout& layout, std::size_t first, std::size_t end) const;
    Layout wide() const;
    Layout narrow() const;
    std::string format(const Layout& layout, std::size_t first, std::size_t end) const;

    std::vector<std::string> names_;
    std::string last_;
    bool color_, ruled_;
    std::vector<Row> rows_;
};

/// A row per kernel, under two lines of headings. If the rows are too wide, each name has a line of its own.
class RowTable {
public:
    explicit RowTable(std::vector<std::string> names) : names_(std::move(names)) {}

    /// \param cells one for each row
    void add_column(std::string top, std::string bottom, std::vector<std::string> cells) {
        columns_.push_back({std::move(top), std::move(bottom), std::move(cells)});
    }
    std::string format() const;

private:
    struct Column {
        std::string top, bottom;
        std::vector<std::string> cells;

        std::size_t width() const;
    };

    std::vector<std::string> names_;
    std::vector<Column> columns_;
};

} // namespace harness
