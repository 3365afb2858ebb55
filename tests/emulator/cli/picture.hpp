/// Reads SVG pictures, for tests: just enough XML for what the program writes, and no more forgiving.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace emulate::fixture {

struct Element {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;                ///< directly in it
    std::vector<std::string> groups; ///< classes of the groups around it, the outermost first

    double number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }
    bool looks(std::string_view word) const; ///< has this class
    bool is_in(std::string_view group) const;
};

/// All elements in the order in which they begin. Parts of a path and of a text are elements of their own.
/// \throws std::runtime_error when the text is not well-formed XML.
std::vector<Element> elements_of(std::string_view svg);

/// Those of this name in a group of this class, with this class of their own; empty: any.
std::vector<Element> select(const std::vector<Element>& elements, std::string_view name,
                            std::string_view group = "", std::string_view look = "");

/// The text of all text elements, a line each.
std::string texts_of(const std::vector<Element>& elements);

} // namespace emulate::fixture
