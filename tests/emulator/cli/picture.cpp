#include "picture.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace emulate::fixture {

namespace {

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::vector<Element> read() {
        while (place_ < text_.size()) {
            if (text_[place_] == '<')
                read_tag();
            else
                read_text();
        }
        if (!open_.empty()) fail("<" + elements_[open_.back()].name + "> has no end");
        return elements_;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(what + " at: " + std::string(text_.substr(place_, 60)));
    }
    char peek() const { return place_ < text_.size() ? text_[place_] : '\0'; }
    bool accept(std::string_view what) {
        if (text_.substr(place_, what.size()) != what) return false;
        place_ += what.size();
        return true;
    }
    void expect(std::string_view what) {
        if (!accept(what)) fail("expected " + std::string(what));
    }
    std::string read_name() {
        const std::size_t first = place_;
        while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '-' || peek() == ':') ++place_;
        if (place_ == first) fail("expected a name");
        return std::string(text_.substr(first, place_ - first));
    }

    /// Up to `end`, which stays; no markup, and only the entities that we write.
    std::string read_characters(char end) {
        std::string result;
        while (peek() != end) {
            if (place_ == text_.size()) fail("the text ends too early");
            if (peek() == '<') fail("unescaped <");
            if (static_cast<unsigned char>(peek()) < ' ' && peek() != '\n' && peek() != '\t')
                fail("a control character");
            if (peek() != '&')
                result += text_[place_++];
            else if (accept("&amp;"))
                result += '&';
            else if (accept("&lt;"))
                result += '<';
            else if (accept("&gt;"))
                result += '>';
            else if (accept("&quot;"))
                result += '"';
            else
                fail("unescaped &");
        }
        return result;
    }

    void read_text() {
        if (open_.empty()) {
            if (!std::isspace(static_cast<unsigned char>(peek()))) fail("text outside of all elements");
            ++place_;
            return;
        }
        elements_[open_.back()].text += read_characters('<');
        if (elements_[open_.back()].name == "text" && open_.back() + 1 != elements_.size())
            fail("text after a <tspan>, where its place depends on the font");
    }

    void read_tag() {
        expect("<");
        if (accept("/")) {
            const std::string name = read_name();
            expect(">");
            if (open_.empty() || elements_[open_.back()].name != name) fail("wrong end </" + name + ">");
            if (name == "g") groups_.pop_back();
            if (name == "tspan") elements_[open_.back()].name = "text";
            open_.pop_back();
            return;
        }
        if (open_.empty() && !elements_.empty()) fail("a second root");
        Element element{read_name(), {}, "", groups_};
        while (accept(" ")) {
            const std::string attribute = read_name();
            expect("=\"");
            if (!element.attributes.emplace(attribute, read_characters('"')).second) fail("attribute twice");
            expect("\"");
        }
        const bool is_empty = accept("/");
        expect(">");
        if (element.name == "tspan") {
            if (open_.empty() || elements_[open_.back()].name != "text") fail("<tspan> is in no text");
            element.attributes.insert({"class", elements_[open_.back()].attributes.at("class")});
            element.attributes.insert({"y", elements_[open_.back()].attributes.at("y")});
        }
        if (element.name == "path") {
            if (!is_empty) fail("<path> has no end");
            read_path(element);
            return;
        }
        if (element.name == "g") groups_.push_back(element.attributes["class"]);
        elements_.push_back(std::move(element));
        if (!is_empty) open_.push_back(elements_.size() - 1);
    }

    /// Each part is an element of its own: a rectangle, a line or else a triangle.
    void read_path(const Element& path) {
        static const std::string number = "(-?[0-9.]+)";
        static const std::regex rectangle("M" + number + " " + number + "h" + number + "v" + number + "h-" +
                                          number + "z"),
            line("M" + number + " " + number + "L" + number + " " + number),
            triangle("M[-0-9. ]+L[-0-9. ]+L[-0-9. ]+Z");
        const std::string& data = path.attributes.at("d");
        for (std::size_t start = 0, end = 0; start < data.size(); start = end) {
            end = std::min(data.find('M', start + 1), data.size());
            const std::string part = data.substr(start, end - start);
            Element element = path;
            std::smatch match;
            const auto become = [&](const char* name, std::initializer_list<const char*> attributes) {
                element.name = name;
                std::size_t group = 0;
                for (const char* const attribute : attributes) element.attributes[attribute] = match[++group];
            };
            if (std::regex_match(part, match, rectangle) && match[3] == match[5])
                become("rect", {"x", "y", "width", "height"});
            else if (std::regex_match(part, match, line) && path.looks("line"))
                become("line", {"x1", "y1", "x2", "y2"});
            else if (!std::regex_match(part, triangle))
                fail("no shape: " + part);
            elements_.push_back(std::move(element));
        }
    }

    std::string_view text_;
    std::size_t place_ = 0;
    std::vector<Element> elements_;
    std::vector<std::size_t> open_;
    std::vector<std::string> groups_;
};

} // namespace

bool Element::looks(std::string_view word) const {
    const auto look = attributes.find("class");
    std::istringstream words(look == attributes.end() ? "" : look->second);
    for (std::string one; words >> one;)
        if (one == word) return true;
    return false;
}

bool Element::is_in(std::string_view group) const {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::vector<Element> elements_of(std::string_view svg) { return Reader(svg).read(); }

std::vector<Element> select(const std::vector<Element>& elements, std::string_view name,
                            std::string_view group, std::string_view look) {
    std::vector<Element> result;
    std::copy_if(elements.begin(), elements.end(), std::back_inserter(result), [&](const Element& element) {
        return element.name == name && (group.empty() || element.is_in(group)) &&
               (look.empty() || element.looks(look));
    });
    return result;
}

std::string texts_of(const std::vector<Element>& elements) {
    std::string result;
    for (const Element& element : select(elements, "text")) result += element.text + "\n";
    return result;
}

} // namespace emulate::fixture
