// The pictures of `--draw`: their contents, counted by hand or with the counters' functions.

#include "picture.hpp"

#include "emulator/cli/picture.hpp"
#include "emulator/cli/report_forms.hpp"
#include "emulator/cli/svg.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/session/recorders.hpp"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <unistd.h>

using namespace emulate;
using namespace emulate::fixture;
using emulator::AccessKind, emulator::AccessTrace, emulator::all_lanes, emulator::LaneMask,
    emulator::TracedAccess, emulator::TracedStep;
using emulator::ptx::Space;
using std::uint32_t, std::uint64_t;
using testing::ElementsAre, testing::HasSubstr, testing::Not, testing::SizeIs;

namespace {

using AddressOf = std::function<uint64_t(uint64_t lane)>;

AddressOf strided(uint64_t step, uint64_t start = 0) {
    return [=](uint64_t lane) { return start + step * lane; };
}

/// A request in which lane i accesses `address(i)`, as a separate access.
TracedAccess access(Space space, AccessKind kind, uint32_t bytes, const AddressOf& address,
                    LaneMask active = all_lanes) {
    TracedAccess access{.place = {"src/kernels.cuh", 12, "ld.shared.u32 %r1, [%r2];"},
                        .space = space,
                        .kind = kind,
                        .bytes = bytes,
                        .requests = 1};
    const auto first = static_cast<uint64_t>(std::countr_zero(active));
    for (uint64_t lane = 0; lane < 32; ++lane)
        access.worst.addresses[lane] = address((active >> lane & 1) != 0 ? lane : first);
    access.worst.active = active;
    const emulator::Access worst = access.worst_access();
    const bool is_atomic = kind == AccessKind::atom || kind == AccessKind::red;
    access.worst.cost = space == Space::shared ? wavefronts(worst).count
                        : is_atomic            ? atomic_sectors(worst)
                                               : sectors(worst);
    access.worst.ideal = space == Space::shared ? wavefronts(worst).ideal : ideal_sectors(worst);
    access.cost = access.worst.cost;
    access.ideal = access.worst.ideal;
    return access;
}

TracedAccess shared_load(uint32_t bytes, const AddressOf& address, LaneMask active = all_lanes) {
    return access(Space::shared, AccessKind::load, bytes, address, active);
}
TracedAccess global_load(uint32_t bytes, const AddressOf& address, LaneMask active = all_lanes) {
    return access(Space::global, AccessKind::load, bytes, address, active);
}

constexpr uint64_t allocation = 0x10000;

/// A block of `extents` with an array of 48 KiB in shared memory and 1 MiB in global memory.
AccessTrace trace_of(const TracedAccess& access, emulator::Dim3 extents = {256, 1, 1}) {
    AccessTrace trace{.kernel = "void reduce<256u>(int const*, int*)",
                      .grid = {64, 1, 1},
                      .block = extents,
                      .ran = true,
                      .accesses = {access},
                      .shared = {{"tile", 0, 12288 * 4}},
                      .allocations = {{"cudaMalloc #1", allocation, 1 << 20}}};
    trace.touched.resize(12288);
    return trace;
}

const SourceOf source = [](const emulator::TracedPlace& place) {
    return place.line == 12 ? "x = a[i] & 3 < b ? \"y\" : 0;" : "";
};

std::vector<Element> banks(const TracedAccess& access) {
    return elements_of(draw_banks("k", trace_of(access), access, source).svg);
}
std::vector<Element> sectors_picture(const TracedAccess& access) {
    return elements_of(draw_sectors("k", trace_of(access), access, source).svg);
}
std::string result_of_banks(const TracedAccess& access) {
    return draw_banks("k", trace_of(access), access, source).result;
}

std::set<std::string> values(const std::vector<Element>& elements, const std::string& attribute) {
    std::set<std::string> result;
    for (const Element& element : elements) result.insert(element.attributes.at(attribute));
    return result;
}

std::size_t count(const std::vector<Element>& elements, std::string_view name, std::string_view group,
                  std::string_view look = "") {
    return select(elements, name, group, look).size();
}

/// Requests of all widths, of more and less regular lanes.
template <class Check> void for_many_requests(Space space, uint64_t max_words, Check check) {
    std::mt19937 random(4711);
    for (int round = 0; round < 400; ++round) {
        const uint32_t bytes = 1u << random() % 5;
        const uint64_t places = max_words * 4 / bytes;
        const LaneMask active =
            round % 3 == 0 ? all_lanes : static_cast<LaneMask>(random()) | 1u << random() % 32;
        std::array<uint64_t, 32> place{};
        for (uint64_t lane = 0; lane < 32; ++lane)
            place[lane] =
                round % 2 == 0 ? random() % places : lane * (round % 40u) / (1 + random() % 2) % places;
        check(access(
            space, AccessKind::load, bytes,
            [&](uint64_t lane) { return (space == Space::global ? allocation : 0) + place[lane] * bytes; },
            active));
    }
}

} // namespace

// ---- the writer ----

TEST(Svg, escapes_what_xml_would_read) {
    Svg svg(100);
    svg.text(1, 2, "a<b> & \"c\"\x01\t–", "small");
    const auto elements = elements_of(svg.finish(50, "<title>", "&"));
    EXPECT_EQ(select(elements, "text")[0].text, "a<b> & \"c\" \t–");
    EXPECT_EQ(select(elements, "title")[0].text, "<title>");
    EXPECT_EQ(select(elements, "desc")[0].text, "&");
    EXPECT_EQ(elements[0].attributes.at("viewBox"), "0 0 100 50");
}

TEST(Svg, joins_neighbors_of_one_look) {
    Svg svg(100);
    svg.rectangle(1, 2, 3, 4, "first");
    svg.rectangle(5, 2, 3, 4.5, "first");
    svg.rectangle(9, 2, 3, 4, "first", "#fff");
    svg.begin("group");
    svg.rectangle(13, 2, 3, 4, "first", "#fff");
    svg.line(1, 2, 3, 4, "first");
    svg.line(5, 6, 7, 8, "first");
    svg.circle(1, 2, 3, "first");
    svg.circle(4, 2, 3, "first");
    svg.end();
    svg.text(1, 20, "a", "text");
    svg.text(9, 20, "b", "text");
    svg.text(1, 40, "c", "text");
    EXPECT_THAT(svg.finish(50, "", ""), HasSubstr(R"(<path class="first" d="M1 2h3v4h-3zM5 2h3v4.5h-3z"/>
<path class="first" fill="#fff" d="M9 2h3v4h-3z"/>
<g class="group">
<path class="first" fill="#fff" d="M13 2h3v4h-3z"/>
<path class="line first" d="M1 2L3 4M5 6L7 8"/>
<circle class="first" cx="1" cy="2" r="3"/>
<circle class="first" cx="4" cy="2" r="3"/>
</g>
<text class="text" y="25.25" x="1">a<tspan x="9">b</tspan></text>
<text class="text" y="45.25" x="1">c</text>
)"));
}

TEST(Svg, puts_the_middle_of_a_line_where_it_is_told) {
    Svg svg(100);
    svg.text(1, 20, "x", "small");
    EXPECT_DOUBLE_EQ(select(elements_of(svg.finish(50, "", "")), "text")[0].number("y"), 20 + 0.35 * 14);
}

TEST(Svg, breaks_a_paragraph_between_words) {
    Svg svg(400);
    const std::string text = "twelve words of some length that need more than one line here";
    const double below = svg.paragraph(20, 0, 200, text, "small");
    std::string joined;
    const auto lines = select(elements_of(svg.finish(1, "", "")), "text");
    for (const Element& line : lines) {
        EXPECT_LE(text_width(line.text, "small"), 200);
        joined += (joined.empty() ? "" : " ") + line.text;
    }
    EXPECT_EQ(joined, text);
    EXPECT_GT(lines.size(), 1u);
    EXPECT_GT(below, lines.back().number("y"));
}

TEST(Svg, begins_a_new_row_of_a_legend_where_one_is_full) {
    Svg svg(300);
    svg.begin_keys(0);
    for (int i = 0; i < 5; ++i) svg.key("first", "meaning of it");
    const double below = svg.end_keys();
    const auto keys = select(elements_of(svg.finish(1, "", "")), "text");
    EXPECT_THAT(values(keys, "y"), SizeIs(3)); // two in each row
    for (const Element& key : keys) {
        EXPECT_LE(key.number("x") + text_width(key.text, "small"), 300);
        EXPECT_LE(key.number("y"), below);
    }
}

TEST(Svg, measures_text_in_the_size_that_the_style_has) {
    const std::string style = select(elements_of(Svg(100).finish(1, "", "")), "style").at(0).text;
    for (const std::string look : {"text", "title", "strong", "small", "tiny"}) {
        const std::size_t rule = style.find((look == "text" ? "\n" : ".") + look + "{"),
                          size = style.find("font-size:", rule);
        ASSERT_LT(size, style.find('}', rule)) << look;
        EXPECT_DOUBLE_EQ(text_width("0123456789", look), 5.4 * std::stod(style.substr(size + 10))) << look;
    }
}

TEST(Svg, shortens_text_between_characters) {
    EXPECT_EQ(shortened("short", 100, "code"), "short");
    const std::string cut = shortened("äöüäöüäöüäöü", 60, "code");
    EXPECT_LE(text_width(cut, "code"), 60);
    EXPECT_TRUE(cut.ends_with("…"));
    EXPECT_EQ(cut.size() % 2, 1u); // whole letters of two bytes, and an ellipsis of three
}

// ---- banks ----

TEST(DrawBanks, a_column_is_32_lines_to_one_bank_and_32_wavefronts) {
    const TracedAccess column = shared_load(4, strided(128));
    const auto picture = banks(column);
    const auto lines = select(picture, "line", "requests");
    EXPECT_THAT(lines, SizeIs(32));
    EXPECT_THAT(values(lines, "y2"), SizeIs(1));
    EXPECT_THAT(values(lines, "y1"), SizeIs(32));
    EXPECT_EQ(count(picture, "line", "requests", "first"), 1u);
    EXPECT_EQ(count(picture, "line", "requests", "later"), 31u);
    EXPECT_EQ(count(picture, "rect", "wavefronts", "idle"), 32u);
    EXPECT_EQ(count(picture, "rect", "wavefronts", "later"), 31u);
    EXPECT_EQ(count(picture, "rect", "banks"), 32u);
    EXPECT_EQ(count(picture, "rect", "banks", "later"), 1u);
    EXPECT_THAT(texts_of(picture), HasSubstr("bank 0: 32\n"));
    EXPECT_THAT(texts_of(picture), HasSubstr("32 wavefronts instead of 1: 31 bank conflicts\n"));
    EXPECT_THAT(texts_of(picture), HasSubstr("k: banks of a shared load\n"));
    EXPECT_THAT(texts_of(picture), HasSubstr("kernels.cuh:12: x = a[i] & 3 < b ? \"y\" : 0;\n"));
    EXPECT_THAT(texts_of(picture), HasSubstr("Emulated"));
}

TEST(DrawBanks, numbers_the_wavefronts_of_lanes_and_banks) {
    // Words 4 apart: 8 banks, 4 words of each.
    const auto picture = banks(shared_load(4, strided(16)));
    const auto tags = select(picture, "text", "lanes", "inside"),
               chips = select(picture, "text", "wavefronts", "inside");
    ASSERT_THAT(tags, SizeIs(32));
    ASSERT_THAT(chips, SizeIs(32));
    for (std::size_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(tags[lane].text, std::to_string(lane / 8 + 1));
        EXPECT_EQ(chips[lane].text, std::to_string(lane));
    }
    EXPECT_EQ(count(picture, "rect", "lanes", "first"), 8u);
    std::string numbers;
    for (const Element& text : select(picture, "text", "wavefronts"))
        if (!text.looks("inside")) numbers += text.text;
    EXPECT_EQ(numbers, "1234");
    EXPECT_THAT(texts_of(picture), HasSubstr("1 request, 4 wavefronts, 3 bank conflicts. Emulated"));
}

TEST(DrawBanks, tells_who_did_it_and_when) {
    const auto few = banks(shared_load(4, strided(4), 0xFF));
    EXPECT_EQ(count(few, "text", "lanes", "quiet"), 24u);
    EXPECT_THAT(texts_of(few), HasSubstr("8 of 32 lanes load 4 bytes each.\n"));
    TracedAccess one = shared_load(4, strided(4), 1);
    for (const auto& [turn, told] : {std::pair{0u, "1st"},
                                     {1u, "2nd"},
                                     {2u, "3rd"},
                                     {3u, "4th"},
                                     {10u, "11th"},
                                     {20u, "21st"},
                                     {110u, "111th"}}) {
        one.worst.turn = turn;
        EXPECT_THAT(texts_of(banks(one)), HasSubstr("Warp 0 of block (0,0,0), its " + std::string(told) +
                                                    " time here: 1 of 32 lanes loads 4 bytes.\n"));
    }
    one.place.line = 99; // not in the source
    one.place.ptx = std::string(500, 'x');
    const auto code = select(banks(one), "text", "", "code");
    EXPECT_THAT(code.size(), testing::Le(2u));
    EXPECT_TRUE(code.back().text.ends_with("…"));
}

TEST(DrawBanks, a_padded_column_is_32_lines_to_32_banks) {
    const TracedAccess column = shared_load(4, strided(132, 4));
    const auto picture = banks(column);
    const auto lines = select(picture, "line", "requests", "first");
    EXPECT_THAT(lines, SizeIs(32));
    EXPECT_THAT(values(lines, "y2"), SizeIs(32));
    EXPECT_EQ(count(picture, "rect", "wavefronts", "idle"), 1u);
    EXPECT_EQ(count(picture, "rect", "", "later"), 0u);
    EXPECT_EQ(result_of_banks(column), "1 wavefront, no bank conflict");
}

TEST(DrawBanks, lanes_that_share_a_word_meet_before_the_bank) {
    // 16 lanes at word 0, 16 at word 32: both in bank 0.
    const TracedAccess two_words = shared_load(4, [](uint64_t lane) { return lane / 16 * 128; });
    const auto picture = banks(two_words);
    EXPECT_THAT(values(select(picture, "circle", "requests"), "cy"), SizeIs(2)); // side by side
    EXPECT_EQ(count(picture, "line", "requests", "joined"), 2u);
    EXPECT_EQ(count(picture, "line", "requests"), 32u + 2);
    EXPECT_EQ(count(picture, "rect", "wavefronts", "idle"), 2u);
    EXPECT_THAT(texts_of(picture), HasSubstr("×16\n"));
    EXPECT_EQ(result_of_banks(two_words), "2 wavefronts instead of 1: 1 bank conflict");

    const auto broadcast = banks(shared_load(4, strided(0, 40)));
    EXPECT_EQ(count(broadcast, "circle", "requests"), 1u);
    EXPECT_EQ(count(broadcast, "line", "requests", "later"), 0u);
    EXPECT_THAT(texts_of(broadcast), HasSubstr("×32\n"));
    EXPECT_THAT(texts_of(broadcast), HasSubstr("bank 10: 1\n"));
}

TEST(DrawBanks, wide_accesses_reach_several_banks_in_parts_of_the_warp) {
    const TracedAccess row = shared_load(16, strided(16));
    const auto picture = banks(row);
    EXPECT_EQ(count(picture, "line", "requests"), 32u);
    EXPECT_EQ(count(picture, "path", "requests", "span"), 8u); // banks 0 to 3, 4 to 7, ...
    EXPECT_EQ(count(picture, "rect", "wavefronts", "idle"), 4u);
    EXPECT_EQ(count(picture, "rect", "wavefronts", "first"), 32u * 4);
    EXPECT_THAT(texts_of(picture), HasSubstr("8 lanes are served at a time"));
    EXPECT_EQ(result_of_banks(row), "4 wavefronts, no bank conflict");
}

TEST(DrawBanks, has_a_line_for_each_active_lane_and_a_column_for_each_wavefront_that_is_counted) {
    for_many_requests(Space::shared, 2048, [](const TracedAccess& request) {
        const emulator::Wavefronts counted = wavefronts(request.worst_access());
        const auto picture = banks(request);
        const auto all = select(picture, "line", "requests"),
                   joined = select(picture, "line", "requests", "joined");
        ASSERT_EQ(all.size() - joined.size(), static_cast<std::size_t>(std::popcount(request.worst.active)));
        ASSERT_EQ(count(picture, "rect", "wavefronts", "idle"), counted.count);
        // A wavefront is a conflict when no bank gives its first word in it.
        std::set<std::string> with_first = values(select(picture, "rect", "wavefronts", "first"), "x");
        ASSERT_EQ(with_first.size(), counted.ideal);
        // In each wavefront a bank gives one word.
        std::set<std::pair<std::string, std::string>> places;
        std::size_t services = 0;
        for (const Element& chip : select(picture, "rect", "wavefronts"))
            if (!chip.looks("idle")) {
                places.insert({chip.attributes.at("x"), chip.attributes.at("y")});
                ++services;
            }
        ASSERT_EQ(places.size(), services);
        const std::string text = texts_of(picture);
        ASSERT_THAT(text, HasSubstr(std::to_string(counted.count) + " wavefront"));
        if (counted.count > counted.ideal) {
            ASSERT_THAT(text, HasSubstr(" instead of " + std::to_string(counted.ideal) + ": " +
                                        std::to_string(counted.count - counted.ideal) + " bank conflict"));
        }
    });
}

// ---- sectors ----

TEST(DrawSectors, a_row_is_four_full_sectors_of_one_line) {
    const auto picture = sectors_picture(global_load(4, strided(4, allocation + 128)));
    EXPECT_EQ(count(picture, "line", "requests"), 32u);
    EXPECT_THAT(values(select(picture, "line", "requests"), "y2"), SizeIs(4));
    EXPECT_EQ(count(picture, "rect", "sectors", "waste"), 4u);
    EXPECT_EQ(count(picture, "rect", "sectors", "first"), 32u);
    const std::string text = texts_of(picture);
    EXPECT_THAT(text, HasSubstr("4 sectors, the fewest possible: no byte is wasted\n"));
    EXPECT_THAT(text, Not(HasSubstr("for nobody")));
    EXPECT_THAT(values(select(picture, "rect", "sectors", "first"), "x"), SizeIs(8)); // side by side
    std::string lanes;
    for (const Element& label : select(picture, "text", "sectors", "inside")) lanes += label.text + " ";
    EXPECT_THAT(lanes, testing::StartsWith("0 1 2 3 4 5 6 7 8 "));
    EXPECT_THAT(text, HasSubstr("from the start of cudaMalloc #1. In this block"));
    EXPECT_THAT(text, HasSubstr("byte 128\n"));
    EXPECT_THAT(text, HasSubstr("byte 224\n"));
    EXPECT_THAT(text, HasSubstr("4 of 4\n"));
}

TEST(DrawSectors, a_row_off_a_sector_touches_one_more_in_two_lines) {
    const auto picture = sectors_picture(global_load(4, strided(4, allocation + 4)));
    EXPECT_EQ(count(picture, "rect", "sectors", "waste"), 5u);
    EXPECT_EQ(count(picture, "text", "lines"), 2u);
    const std::string text = texts_of(picture);
    EXPECT_THAT(text, HasSubstr("5 sectors where 4 would do: 32 of 160 bytes are wasted\n"));
    EXPECT_THAT(text, HasSubstr("5 sectors where 4 would do. Emulated"));
    EXPECT_THAT(text, Not(HasSubstr("want the same")));
    EXPECT_THAT(text, HasSubstr("bytes that come along for nobody\n"));
    EXPECT_THAT(text, HasSubstr("4 of 4\n1 of 4\n"));
}

TEST(DrawSectors, of_several_allocations_names_none) {
    const TracedAccess both =
        global_load(4, [](uint64_t lane) { return allocation + lane % 2 * (1 << 20) + 4 * lane; });
    AccessTrace trace = trace_of(both);
    trace.allocations.push_back({"cudaMalloc #2", allocation + (1 << 20), 1 << 20});
    const std::string text = texts_of(elements_of(draw_sectors("k", trace, both, source).svg));
    EXPECT_THAT(text, HasSubstr("from the start of the allocation. In this block"));
}

TEST(DrawSectors, lanes_that_share_and_atomics_that_wait_are_told) {
    TracedAccess sum = access(Space::global, AccessKind::red, 4, strided(0, allocation));
    const std::string text = texts_of(sectors_picture(sum));
    EXPECT_THAT(text, HasSubstr("k: sectors of a global atomic\n"));
    EXPECT_THAT(text, HasSubstr("×32\n"));
    EXPECT_THAT(text, HasSubstr("want the same"));
    EXPECT_THAT(text, HasSubstr("Counted as 32 sectors"));
    EXPECT_THAT(text, HasSubstr("1 sector, the fewest possible: 28 of 32 bytes are wasted\n"));
}

TEST(DrawSectors, has_what_the_counters_count) {
    for_many_requests(Space::global, 400, [](const TracedAccess& request) {
        const auto picture = sectors_picture(request);
        ASSERT_EQ(count(picture, "line", "requests"),
                  static_cast<std::size_t>(std::popcount(request.worst.active)));
        const uint32_t counted = sectors(request.worst_access());
        ASSERT_EQ(count(picture, "rect", "sectors", "waste"), counted);
        std::set<uint64_t> bytes, lines;
        emulator::for_each_lane(request.worst.active, [&](int lane) {
            for (uint32_t k = 0; k < request.bytes; ++k)
                bytes.insert(request.worst.addresses[static_cast<std::size_t>(lane)] + k);
            lines.insert(request.worst.addresses[static_cast<std::size_t>(lane)] / 128);
        });
        ASSERT_EQ(count(picture, "rect", "sectors", "first") * request.bytes, bytes.size());
        ASSERT_EQ(count(picture, "text", "lines"), lines.size());
        const uint64_t wasted = 32 * counted - bytes.size();
        const std::string result = draw_sectors("k", trace_of(request), request, source).result;
        ASSERT_THAT(result, HasSubstr(std::to_string(counted) + " sector"));
        if (wasted > 0 && counted < 31) { // numbers without a comma
            ASSERT_THAT(result,
                        HasSubstr(": " + std::to_string(wasted) + " of " + std::to_string(32 * counted)));
        }
    });
}

// ---- activity ----

namespace {

TracedStep step(uint32_t line, uint32_t barriers, std::vector<LaneMask> active, bool is_load = false) {
    return {.place = {"src/kernels.cuh", line, "st.shared.u32 [%r1], %r2;"},
            .what = is_load ? "shared load" : "shared store",
            .is_load = is_load,
            .barriers = barriers,
            .active = std::move(active)};
}

/// A tree of `threads` threads, each step half as many.
AccessTrace tree(uint32_t threads) {
    AccessTrace trace = trace_of(shared_load(4, strided(4)), {threads, 1, 1});
    uint32_t barriers = 0;
    for (uint32_t left = threads; left > 0; left /= 2) {
        std::vector<LaneMask> active;
        for (uint32_t first = 0; first < threads; first += 32)
            active.push_back(first >= left        ? 0
                             : left - first >= 32 ? all_lanes
                                                  : (LaneMask{1} << (left - first)) - 1);
        trace.steps.push_back(step(12, barriers++, active));
    }
    return trace;
}

double area(const std::vector<Element>& elements) {
    double sum = 0;
    for (const Element& element : elements) sum += element.number("width") * element.number("height");
    return sum;
}

} // namespace

TEST(DrawActivity, is_the_shrinking_tree) {
    const Drawing drawing = draw_activity("k", tree(128), source);
    const auto picture = elements_of(drawing.svg);
    EXPECT_EQ(select(picture, "g").size(), 1u + 8);
    EXPECT_EQ(count(picture, "line", "steps", "dashed"), 7u);
    const std::string text = texts_of(picture);
    for (const char* active : {"128 in 4\n", "64 in 2\n", "32 in 1\n", "1 in 1\n"})
        EXPECT_THAT(text, HasSubstr(active));
    EXPECT_THAT(text, HasSubstr("kernels.cuh:12 (shared store): x = a[i]"));
    // 255 threads; warps that run: 4 + 2 + 6 x 1, of 32 lanes each
    EXPECT_EQ(drawing.result, "8 steps: 255 of 384 lanes of running warps are active (66 %)");
    EXPECT_EQ(count(picture, "rect", "step", "spare"), 5u); // 16 lanes and fewer
    EXPECT_THAT(text, HasSubstr("idle lane of a warp that runs\nwarp that does not run\n"));
    EXPECT_EQ(count(picture, "rect", "step", "idle"), 2u + 6 * 3);
}

TEST(DrawActivity, fills_as_much_as_lanes_are_active) {
    for (const uint32_t threads : {32u, 96u, 256u, 512u, 1024u}) {
        const auto picture = elements_of(draw_activity("k", tree(threads), source).svg);
        const double all = area(select(picture, "rect", "step", "first"));
        AccessTrace one = tree(threads);
        one.steps.resize(1);
        const double full =
            area(select(elements_of(draw_activity("k", one, source).svg), "rect", "step", "first"));
        uint32_t lanes = 0;
        for (uint32_t left = threads; left > 0; left /= 2) lanes += left;
        EXPECT_NEAR(all / full, static_cast<double>(lanes) / threads, 0.02) << threads;
    }
}

TEST(DrawActivity, shows_each_active_lane_in_its_place) {
    AccessTrace trace = trace_of(shared_load(4, strided(4)), {32, 1, 1});
    trace.steps = {step(12, 0, {0b11001})};
    const auto picture = elements_of(draw_activity("k", trace, source).svg);
    const Element warp = select(picture, "rect", "step", "spare").at(0);
    const auto lanes = select(picture, "rect", "step", "first");
    ASSERT_THAT(lanes, SizeIs(2)); // 0, and 3 with 4
    const double width = warp.number("width") / 32;
    EXPECT_EQ(lanes[0].number("x"), warp.number("x"));
    EXPECT_NEAR(lanes[0].number("width"), width, 0.01);
    EXPECT_NEAR(lanes[1].number("x"), warp.number("x") + 3 * width, 0.01);
    EXPECT_NEAR(lanes[1].number("width"), 2 * width, 0.01);
    EXPECT_EQ(lanes[1].number("y"), warp.number("y"));
}

TEST(DrawActivity, says_once_what_a_run_of_steps_does) {
    AccessTrace trace = trace_of(shared_load(4, strided(4)), {32, 1, 1});
    for (int i = 0; i < 4; ++i) trace.steps.push_back(step(12, 0, {all_lanes}));
    trace.steps[2].what = "shared atomic";
    trace.steps[3].place.path = "src/other.cuh";
    trace.steps[3].what = "shared atomic";
    const Drawing drawing = draw_activity("k", trace, source);
    EXPECT_EQ(count(elements_of(drawing.svg), "text", "steps", "code"), 3u);
    EXPECT_THAT(drawing.svg, Not(HasSubstr("idle lane")));
    // 127 of 8 x 32: 49.6 %
    EXPECT_THAT(draw_activity("k", tree(64), source).result, HasSubstr("127 of 256 lanes"));
    EXPECT_THAT(draw_activity("k", tree(64), source).result, HasSubstr("(50 %)"));
}

TEST(DrawActivity, folds_the_warps_of_a_large_block_and_says_so) {
    for (const auto& [threads, per_row] : {std::pair{256u, 32}, {512u, 16}, {1024u, 8}}) {
        const auto picture = elements_of(draw_activity("k", tree(threads), source).svg);
        const std::string told = "lanes are in rows of " + std::to_string(per_row);
        EXPECT_EQ(texts_of(picture).find(told) != std::string::npos, per_row < 32) << threads;
        // Active lanes of warps that are not full: 16, 8, 4, 2 and 1, in one row if it is as long.
        const double height = select(picture, "rect", "step", "spare").at(0).number("height");
        EXPECT_DOUBLE_EQ(select(picture, "rect", "step", "first").back().number("height"),
                         height * per_row / 32)
            << threads;
        // A full warp is one piece.
        EXPECT_EQ(count(picture, "rect", "step", "first"), 2 * threads / 32 - 1 + (per_row == 8 ? 6 : 5));
    }
}

TEST(DrawActivity, leaves_out_loads_where_something_is_written_and_steps_without_end) {
    AccessTrace trace = trace_of(shared_load(4, strided(4)), {32, 1, 1});
    trace.steps = {step(12, 0, {all_lanes}, true), step(12, 0, {all_lanes}, true)};
    EXPECT_THAT(draw_activity("k", trace, source).result, HasSubstr("2 steps"));
    trace.steps.push_back(step(12, 0, {all_lanes}));
    EXPECT_THAT(draw_activity("k", trace, source).result, HasSubstr("1 step:"));
    for (int i = 0; i < 100; ++i) trace.steps.push_back(step(12, 0, {all_lanes}));
    const Drawing drawing = draw_activity("k", trace, source);
    EXPECT_THAT(drawing.result, HasSubstr("64 steps: 2,048 of 2,048 lanes"));
    EXPECT_THAT(texts_of(elements_of(drawing.svg)), HasSubstr("Later"));
    trace.steps.resize(1);
    EXPECT_THAT(draw_activity("k", trace, source).svg, Not(HasSubstr("Later")));
    trace.steps_left_out = 1;
    EXPECT_THAT(draw_activity("k", trace, source).svg, HasSubstr("Later"));
}

// ---- tile ----

namespace {

/// Rows of `width` touched words, `pitch` words from one to the next.
AccessTrace tile(const TracedAccess& access, uint32_t rows, uint32_t width, uint32_t pitch,
                 emulator::Dim3 extents) {
    AccessTrace trace = trace_of(access, extents);
    for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t column = 0; column < width; ++column) trace.touched[row * pitch + column] = true;
    return trace;
}

std::vector<std::string> first_words(const std::vector<Element>& picture, std::size_t count) {
    std::vector<std::string> result;
    for (const Element& text : select(picture, "text", "tile", "tiny")) {
        if (result.size() == count) break;
        result.push_back(text.text);
    }
    return result;
}

} // namespace

TEST(DrawTile, shows_padding_and_how_it_shifts_the_banks) {
    const TracedAccess column = shared_load(4, strided(33 * 4));
    const Drawing drawing = draw_tile("k", tile(column, 32, 32, 33, {32, 32, 1}), column, source);
    const auto picture = elements_of(drawing.svg);
    EXPECT_EQ(count(picture, "rect", "tile", "cell"), 1024u);
    EXPECT_EQ(count(picture, "rect", "tile", "padding"), 32u);
    EXPECT_EQ(count(picture, "rect", "access", "inner"), 32u);
    EXPECT_THAT(values(select(picture, "rect", "access", "inner"), "x"), SizeIs(1));
    // Each number is in the middle of a cell with its bank's color.
    const auto banks = select(picture, "rect", "banks"), numbers = select(picture, "text", "tile", "tiny");
    std::map<std::pair<long, long>, std::string> fills;
    for (const Element& cell : select(picture, "rect", "tile", "cell"))
        fills[{std::lround(cell.number("x")) + 10, std::lround(cell.number("y")) + 14}] =
            cell.attributes.at("fill");
    EXPECT_THAT(numbers, SizeIs(1024));
    for (const Element& number : numbers) {
        const auto& fill = fills[{std::lround(number.number("x")), std::lround(number.number("y"))}];
        EXPECT_EQ(fill, banks.at(std::stoul(number.text)).attributes.at("fill"));
    }
    const auto words = first_words(picture, 34);
    EXPECT_EQ(words[0], "0");
    EXPECT_EQ(words[31], "31");
    EXPECT_EQ(words[32], "1"); // the second row begins in the next bank
    EXPECT_THAT(texts_of(picture), HasSubstr("32 rows of 33 words, 32 of them untouched.\n"));
    EXPECT_THAT(texts_of(picture), HasSubstr("k: tile by bank\n"));
    EXPECT_EQ(drawing.result, "1 wavefront, no bank conflict");
}

TEST(DrawTile, a_row_is_as_long_as_the_block_is_wide_or_as_there_are_banks) {
    const TracedAccess row = shared_load(4, strided(4));
    const auto square = elements_of(draw_tile("k", tile(row, 16, 16, 16, {16, 16, 1}), row, source).svg);
    EXPECT_THAT(texts_of(square), HasSubstr("16 rows of 16 words.\n"));
    EXPECT_EQ(count(square, "rect", "tile", "padding"), 0u);
    const auto small = elements_of(draw_tile("k", tile(row, 7, 5, 7, {5, 7, 1}), row, source).svg);
    EXPECT_THAT(texts_of(small), HasSubstr("7 rows of 7 words, 14 of them untouched.\n"));
    const auto strided = elements_of(draw_tile("k", tile(row, 64, 1, 4, {64, 1, 1}), row, source).svg);
    EXPECT_THAT(texts_of(strided), HasSubstr("8 rows of 32 words, 192 of them untouched.\n"));
    const auto wide = elements_of(draw_tile("k", tile(row, 2, 200, 200, {200, 2, 1}), row, source).svg);
    EXPECT_THAT(texts_of(wide), HasSubstr("13 rows of 32 words"));
    const auto flat = elements_of(draw_tile("k", tile(row, 1, 256, 256, {256, 1, 1}), row, source).svg);
    EXPECT_THAT(texts_of(flat), HasSubstr("8 rows of 32 words.\n"));
    AccessTrace irregular = tile(row, 8, 32, 33, {256, 1, 1});
    irregular.touched[100] = false;
    EXPECT_THAT(texts_of(elements_of(draw_tile("k", irregular, row, source).svg)),
                HasSubstr(" rows of 32 words, "));
    // A different kind of gap between two arrays is not padding.
    const auto gap = elements_of(draw_tile("k", tile(row, 2, 300, 400, {256, 1, 1}), row, source).svg);
    EXPECT_THAT(texts_of(gap), HasSubstr("22 rows of 32 words, 104 of them untouched.\n"));
}

TEST(DrawTile, has_a_color_of_its_own_for_each_bank_on_which_its_number_can_be_read) {
    const TracedAccess row = shared_load(4, strided(4));
    const auto picture = elements_of(draw_tile("k", tile(row, 1, 32, 32, {32, 1, 1}), row, source).svg);
    const auto cells = select(picture, "rect", "banks");
    const auto numbers = select(picture, "text", "banks", "tiny");
    ASSERT_THAT(values(cells, "fill"), SizeIs(32));
    // Relative luminance and contrast as the Web Content Accessibility Guidelines define them.
    double darker = -1;
    for (std::size_t bank = 0; bank < 32; ++bank) {
        const std::string& fill = cells[bank].attributes.at("fill");
        double luminance = 0;
        for (const auto& [place, weight] : {std::pair{1u, 0.2126}, {3u, 0.7152}, {5u, 0.0722}}) {
            const double channel = std::stoi(fill.substr(place, 2), nullptr, 16) / 255.0;
            luminance +=
                weight * (channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4));
        }
        EXPECT_GT(luminance, darker) << bank; // also a gray scale
        darker = luminance;
        EXPECT_EQ(numbers[bank].text, std::to_string(bank));
        EXPECT_GE(numbers[bank].looks("white") ? 1.05 / (luminance + 0.05) : (luminance + 0.05) / 0.05, 4.5)
            << bank;
    }
}

TEST(DrawTile, counts_the_words_of_each_bank) {
    const TracedAccess column = shared_load(4, strided(32 * 4), 0x0000'FFFF);
    const auto picture =
        elements_of(draw_tile("k", tile(column, 16, 32, 32, {32, 16, 1}), column, source).svg);
    const auto counts = select(picture, "text", "banks", "bold");
    ASSERT_THAT(counts, SizeIs(1));
    EXPECT_EQ(counts[0].text, "16");
    EXPECT_EQ(counts[0].number("x"), select(picture, "text", "banks", "tiny").at(0).number("x"));
    EXPECT_EQ(count(picture, "rect", "banks"), 32u);
}

TEST(DrawTile, begins_in_the_bank_in_which_the_array_does) {
    const TracedAccess row = shared_load(16, strided(16, 4112));
    AccessTrace trace = trace_of(row);
    trace.shared = {{"a", 0, 4112}, {"b", 4112, 512}};
    for (uint32_t word = 1028; word < 1028 + 128; ++word) trace.touched[word] = true;
    const auto picture = elements_of(draw_tile("k", trace, row, source).svg);
    EXPECT_EQ(first_words(picture, 1).at(0), "4");
    const auto outlines = select(picture, "rect", "access", "outer");
    ASSERT_THAT(outlines, SizeIs(128));
    EXPECT_EQ(outlines[0].attributes.at("y"), select(picture, "rect", "tile").at(0).attributes.at("y"));
}

TEST(DrawTile, is_of_the_array_that_is_accessed_and_no_longer_than_a_page) {
    TracedAccess row = shared_load(4, strided(4, 4096));
    AccessTrace trace = trace_of(row);
    trace.shared = {{"a", 0, 4096}, {"b", 4096, 1024}, {"c", 5120, 40960}};
    for (uint32_t word = 0; word < 1024 + 256; ++word) trace.touched[word] = true;
    EXPECT_THAT(texts_of(elements_of(draw_tile("k", trace, row, source).svg)), HasSubstr("k: b by bank\n"));
    row = shared_load(4, strided(4, 5120));
    trace.touched.assign(trace.touched.size(), true);
    const auto picture = elements_of(draw_tile("k", trace, row, source).svg);
    EXPECT_EQ(count(picture, "rect", "tile"), 64u * 32);
    const TracedAccess column = shared_load(4, strided(512, 5120)); // every 4th row
    const auto columns = elements_of(draw_tile("k", trace, column, source).svg);
    EXPECT_EQ(count(columns, "rect", "access", "inner"), 16u);
    EXPECT_THAT(texts_of(picture), HasSubstr("and 256 rows more\n")); // of 320
}

// ---- time ----

namespace {

/// A stripe is 2 of 1,000 cycles. Warp 0 issues at 0 and 501 in block 0, and at 801.5 in block 1, which follows.
Json timed_launch() {
    return Json::parse(R"json({"name": "void reduce<256u>(int const*, int*)", "card": "NVIDIA H200",
"time_us_estimated": 12.34, "timeline": {"cycles": 1000, "warps": [
{"block": 0, "place": 0, "warp": 0, "runs": [["selected", 0, 1], ["long_scoreboard", 1, 501],
    ["selected", 501, 502], ["long_scoreboard", 502, 504], ["barrier", 504, 600]]},
{"block": 0, "place": 0, "warp": 1, "runs": [["long_scoreboard", 2, 600]]},
{"block": 1, "place": 0, "warp": 0, "runs": [["selected", 801.5, 802.5], ["long_scoreboard", 802.5, 1000]]}]}})json");
}

} // namespace

TEST(DrawTimeline, has_a_stripe_where_an_instruction_issues_and_for_each_wait) {
    const Picture picture = draw_timeline("k", timed_launch());
    const auto elements = elements_of(picture.drawing.svg);
    const auto at = [](double cycle) { return 80 + 0.62 * cycle; };
    const auto stripes = [&](const std::string& fill) {
        std::vector<std::pair<long, long>> spans; // in cycles
        for (const Element& stripe : select(elements, "rect", "warps")) {
            if (stripe.looks("first") ? fill != "first" : stripe.attributes.at("fill") != fill) continue;
            const double x = stripe.number("x");
            spans.emplace_back(std::lround((x - 80) / 0.62),
                               std::lround((x + stripe.number("width") - 80) / 0.62));
        }
        return spans;
    };
    using testing::Pair;
    EXPECT_THAT(stripes("first"), ElementsAre(Pair(0, 2), Pair(500, 502), Pair(800, 802)));
    // Those of one wait go on below what issues.
    EXPECT_THAT(stripes("#e58a2e"), ElementsAre(Pair(2, 504), Pair(802, 1000), Pair(2, 600)));
    EXPECT_THAT(stripes("#2f9e77"), ElementsAre(Pair(504, 600)));
    EXPECT_THAT(select(elements, "rect", "warps"), SizeIs(7));
    const std::string texts = texts_of(elements);
    EXPECT_THAT(texts, HasSubstr("k: the warps of a multiprocessor, estimated\n"));
    EXPECT_THAT(texts, HasSubstr("A model of an NVIDIA H200, in which the launch takes 12.3 us.\n"));
    // 3 cycles, 500 + 2 + 598 + 197.5, and 96, of 1,396.5
    EXPECT_EQ(picture.drawing.result,
              "the first 1,000 cycles: long_scoreboard 93 %, barrier 7 %, selected 0 %");
    for (const char* const key : {"\nselected 0 %\n", "\nlong_scoreboard 93 %\n", "\nbarrier 7 %\n"})
        EXPECT_THAT(texts, HasSubstr(key));
    EXPECT_THAT(texts, Not(HasSubstr("\nwait 0 %")));
    for (const auto& [text, x] : {std::pair{"block 0", at(0) + 3},
                                  {"block 1", at(801.5) + 3},
                                  {"1,000", at(1000)},
                                  {"200", at(200)},
                                  {"warp 1", 72.0}}) {
        const auto found = std::find_if(elements.begin(), elements.end(),
                                        [&](const Element& element) { return element.text == text; });
        ASSERT_NE(found, elements.end()) << text;
        EXPECT_NEAR(found->number("x"), x, 0.01) << text;
    }
}

/// Block 0 in place 0 and block 1 in place 1, of 9 warps each: 18 rows are too many for high ones.
TEST(DrawTimeline, has_a_row_for_each_warp_of_each_place) {
    Json launch = timed_launch();
    Json& warps = launch["timeline"]["warps"] = Json::array();
    for (const int place : {1, 0}) // rows are in the order of their places
        for (int warp = 0; warp < 9; ++warp)
            warps.push_back({{"block", place},
                             {"place", place},
                             {"warp", warp},
                             {"runs", {{"barrier", 100 * place + 10 * warp, 500}}}});
    const auto elements = elements_of(draw_timeline("k", launch).drawing.svg);
    std::vector<double> tops;
    for (const Element& stripe : select(elements, "rect", "warps")) {
        const auto row = static_cast<double>(tops.size());
        EXPECT_NEAR(stripe.number("x"), 80 + 0.62 * (row < 9 ? 10 * row : 100 + 10 * (row - 9)), 0.01);
        EXPECT_EQ(stripe.number("height"), 8);
        tops.push_back(stripe.number("y"));
    }
    ASSERT_EQ(tops.size(), 18U);
    // 9 from row to row, and 20 more above each place for the blocks' numbers.
    for (std::size_t k = 1; k < tops.size(); ++k)
        EXPECT_NEAR(tops[k] - tops[k - 1], k == 9 ? 29 : 9, 0.01) << k;
    std::map<std::string, std::vector<double>> labels;
    for (const Element& element : elements)
        if (element.text.starts_with("warp ") || element.text.starts_with("block "))
            labels[element.text].push_back(element.number("y"));
    // Texts are placed by their foot: the middle and 0.35 of 12 pixels.
    const auto near = [](double middle) { return testing::DoubleNear(middle + 4.2, 0.01); };
    using testing::Pair;
    EXPECT_THAT(labels, ElementsAre(Pair("block 0", ElementsAre(near(tops[0] - 8))),
                                    Pair("block 1", ElementsAre(near(tops[9] - 8))),
                                    Pair("warp 0", ElementsAre(near(tops[0] + 4.5), near(tops[9] + 4.5))),
                                    Pair("warp 4", ElementsAre(near(tops[4] + 4.5), near(tops[13] + 4.5))),
                                    Pair("warp 8", ElementsAre(near(tops[8] + 4.5), near(tops[17] + 4.5)))));
}

// ---- all of them ----

TEST(Drawings, explain_every_look_on_light_and_dark_and_need_nothing_from_outside) {
    const TracedAccess column = shared_load(4, [](uint64_t lane) { return lane / 2 * 132 * 4; });
    const TracedAccess wide = shared_load(8, strided(24));
    const TracedAccess far = global_load(4, strided(64, allocation));
    const AccessTrace padded = tile(column, 32, 32, 33, {32, 32, 1});
    AccessTrace partial = tree(512);
    partial.touched = padded.touched;
    for (const std::string& svg :
         {draw_banks("k", padded, column, source).svg, draw_banks("k", padded, wide, source).svg,
          draw_sectors("k", trace_of(far), far, source).svg, draw_tile("k", padded, column, source).svg,
          draw_activity("k", partial, source).svg, draw_timeline("k", timed_launch()).drawing.svg}) {
        const auto elements = elements_of(svg);
        const std::string style = select(elements, "style").at(0).text;
        const std::size_t media = style.find("@media screen and (prefers-color-scheme:dark)");
        ASSERT_NE(media, std::string::npos);
        for (const Element& element : elements) {
            if (element.name == "g" || !element.attributes.contains("class")) continue;
            std::istringstream looks(element.attributes.at("class"));
            for (std::string look; looks >> look;)
                EXPECT_NE(style.substr(0, media).find("." + look), std::string::npos) << look;
        }
        for (const char* look : {"text{", ".paper{", ".quiet{", ".first{", ".later{", ".idle{"})
            EXPECT_NE(style.find(look, media), std::string::npos) << look;
        EXPECT_THAT(svg, Not(HasSubstr("<script")));
        EXPECT_THAT(svg, Not(HasSubstr("href")));
        EXPECT_EQ(svg.find("http"), svg.find("http://www.w3.org/2000/svg"));
        EXPECT_EQ(svg.find("http", svg.find("http") + 1), std::string::npos);
        EXPECT_THAT(select(elements, "title")[0].text, HasSubstr("k: "));
    }
}

TEST(Drawings, stay_inside_their_frame) {
    const TracedAccess column = shared_load(4, strided(128));
    const TracedAccess far = global_load(16, strided(4096, allocation));
    AccessTrace long_names = tree(1024);
    long_names.steps[0].place.path = std::string(200, 'x');
    for (const std::string& svg : {draw_banks("k", trace_of(column), column, source).svg,
                                   draw_sectors("k", trace_of(far), far, source).svg,
                                   draw_tile("k", tile(column, 32, 32, 65, {32, 32, 1}), column, source).svg,
                                   draw_activity(std::string(100, 'k'), long_names, source).svg}) {
        const auto elements = elements_of(svg);
        const double width = elements[0].number("width"), height = elements[0].number("height");
        for (const Element& one : elements) {
            if (one.name == "rect" && one.attributes.contains("x")) {
                EXPECT_GE(one.number("x"), 0);
                EXPECT_LE(one.number("x") + one.number("width"), width);
                EXPECT_LE(one.number("y") + one.number("height"), height);
            }
            if (one.name != "text") continue;
            const double length = text_width(one.text, one.attributes.at("class")),
                         left = one.number("x") - (one.looks("right")    ? length
                                                   : one.looks("middle") ? length / 2
                                                                         : 0);
            if (one.looks("title")) continue; // one word of 100 letters
            EXPECT_GE(left, 0) << one.text;
            EXPECT_LE(left + length, width) << one.text;
            EXPECT_LE(one.number("y"), height) << one.text;
        }
    }
}

TEST(Drawings, are_the_same_from_a_record) {
    const TracedAccess column = shared_load(8, strided(136), 0xFFFF'00FF);
    AccessTrace trace = tile(column, 30, 32, 33, {32, 8, 2});
    trace.steps = tree(512).steps;
    trace.accesses.push_back(access(Space::global, AccessKind::red, 4, strided(12, allocation)));
    const auto again = Json::parse(Json(trace).dump()).get<AccessTrace>();
    EXPECT_EQ(Json(again), Json(trace));
    EXPECT_EQ(again.touched, trace.touched);
    EXPECT_EQ(draw_tile("k", again, again.accesses[0], source).svg,
              draw_tile("k", trace, trace.accesses[0], source).svg);
    EXPECT_EQ(draw_sectors("k", again, again.accesses[1], source).svg,
              draw_sectors("k", trace, trace.accesses[1], source).svg);
    EXPECT_EQ(draw_activity("k", again, source).svg, draw_activity("k", trace, source).svg);
}

// ---- which access, which files ----

namespace {

/// In a folder that is empty at first.
class DrawFiles : public testing::Test {
protected:
    DrawFiles() {
        std::filesystem::remove_all(folder_);
        options_.output = folder_.string();
    }
    ~DrawFiles() override { std::filesystem::remove_all(folder_); }

    std::string draw(const std::string& kind, const std::vector<AccessTrace>& traces) {
        Report report;
        for (const AccessTrace& trace : traces) report.accesses.emplace_back(trace);
        options_.request.draw = kind;
        return emulate::draw(report, options_, read_source_);
    }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& file : std::filesystem::directory_iterator(folder_))
            names.insert(file.path().filename().string());
        return names;
    }

    // Tests run at the same time, each in a process.
    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("draw_test_" + std::to_string(getpid()));
    Options options_;
    ReadSource read_source_ = [](const std::string&) { return std::nullopt; };
};

TracedAccess on_line(uint32_t line, TracedAccess access) {
    access.place.line = line;
    return access;
}

} // namespace

TEST(MostCostly, is_the_worst_then_the_dearest_then_the_busiest_then_the_widest_then_the_first) {
    AccessTrace trace = trace_of(on_line(1, shared_load(4, strided(4))));
    const auto chosen = [&](uint32_t line = 0) {
        const TracedAccess* const access = most_costly(trace, Space::shared, line);
        return access ? access->place.line : 0;
    };
    trace.accesses.push_back(on_line(2, shared_load(4, strided(4, 128))));
    EXPECT_EQ(chosen(), 1u);
    trace.accesses.back().cost = trace.accesses.back().ideal = 2; // of two requests, none over its ideal
    EXPECT_EQ(chosen(), 2u);
    trace.accesses.push_back(on_line(9, shared_load(4, strided(0))));
    trace.accesses.back().cost = trace.accesses.back().ideal = 8; // all lanes at one place
    EXPECT_EQ(chosen(), 2u);
    trace.accesses.pop_back();
    trace.accesses.back().cost = trace.accesses.back().ideal = 1;
    trace.accesses.push_back(on_line(3, shared_load(4, strided(132))));
    EXPECT_EQ(chosen(), 3u);
    trace.accesses.push_back(on_line(4, shared_load(4, strided(8))));
    trace.accesses.push_back(on_line(5, shared_load(4, strided(8))));
    EXPECT_EQ(chosen(), 4u);
    trace.accesses.back().cost = 100;
    EXPECT_EQ(chosen(), 5u);
    trace.accesses.push_back(on_line(6, shared_load(4, strided(12 * 4))));
    EXPECT_EQ(chosen(), 6u);
    trace.accesses.push_back(on_line(7, global_load(4, strided(4096))));
    trace.accesses.push_back(on_line(8, access(Space::shared, AccessKind::atom, 4, strided(128))));
    EXPECT_EQ(chosen(), 6u);
    EXPECT_EQ(chosen(8), 8u);
    EXPECT_EQ(chosen(2), 2u);
    EXPECT_EQ(chosen(7), 0u);
}

TEST_F(DrawFiles, have_the_names_of_kernel_and_kind) {
    const AccessTrace trace = trace_of(shared_load(4, strided(128)));
    const std::string text = draw("banks", {trace, trace});
    EXPECT_THAT(files(), ElementsAre("reduce_256u_banks.svg", "reduce_256u_banks_2.svg"));
    EXPECT_THAT(text, HasSubstr((folder_ / "reduce_256u_banks.svg").string() +
                                ": shared load at kernels.cuh:12\n"
                                "    32 wavefronts instead of 1: 31 bank conflicts\n"));
    EXPECT_THAT(text, HasSubstr("--line N picks another line"));
    std::ifstream file(folder_ / "reduce_256u_banks.svg");
    const std::string svg(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(texts_of(elements_of(svg)), HasSubstr("reduce<256u>: banks of a shared load\n"));
}

TEST_F(DrawFiles, leave_the_names_of_namespaces_out) {
    AccessTrace trace = trace_of(shared_load(4, strided(4)));
    trace.kernel = "void (anonymous namespace)::sum<a::b, 3>(a::b*)";
    EXPECT_THAT(draw("tile", {trace}), HasSubstr("sum_a_b_3_tile.svg: "));
    trace.kernel = "a::b::copy(int*)";
    EXPECT_THAT(draw("tile", {trace}), HasSubstr("/copy_tile.svg: "));
}

TEST_F(DrawFiles, have_names_that_are_not_too_long) {
    AccessTrace trace = trace_of(shared_load(4, strided(4)));
    trace.kernel = "void scan<" + std::string(300, 'x') + ">(int*)";
    draw("banks", {trace, trace});
    const std::string name = "scan_" + std::string(95, 'x') + "_banks";
    EXPECT_THAT(files(), ElementsAre(name + ".svg", name + "_2.svg"));
}

TEST_F(DrawFiles, may_have_a_name_that_is_given) {
    options_.output = (folder_ / "mine.svg").string();
    const AccessTrace trace = trace_of(global_load(4, strided(128, allocation)));
    draw("sectors", {trace, trace});
    EXPECT_THAT(files(), ElementsAre("mine.svg", "mine_2.svg"));
}

TEST_F(DrawFiles, are_not_written_where_there_is_nothing_to_show) {
    std::filesystem::create_directories(folder_);
    const AccessTrace trace = trace_of(on_line(12, global_load(4, strided(4, allocation))));
    EXPECT_EQ(draw("banks", {trace}), "reduce<256u>: no access to shared memory, no picture\n");
    EXPECT_EQ(draw("activity", {trace}), "reduce<256u>: no step to draw\n");
    options_.request.line = 13;
    EXPECT_EQ(draw("sectors", {trace}),
              "reduce<256u>: no access to global memory on line 13; there are some on line 12\n");
    EXPECT_EQ(draw("activity", {trace}), "reduce<256u>: no step on line 13\n");
    EXPECT_THAT(draw("sectors", {}), HasSubstr("no kernel ran"));
    EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(DrawFiles, show_the_times_that_are_estimated) {
    Report report;
    report.launches = {timed_launch(), timed_launch(), timed_launch()};
    report.launches[1].erase("timeline"); // not the kernel's first
    report.launches[2].erase("timeline");
    report.launches[2]["no_estimate"] = "too many instructions";
    options_.request.draw = "time";
    EXPECT_EQ(emulate::draw(report, options_, read_source_), ""); // without tools, as was said before
    options_.request.ptxas = options_.request.nvdisasm = "/there";
    EXPECT_EQ(emulate::draw(report, options_, read_source_),
              (folder_ / "reduce_256u_time.svg").string() +
                  ": a multiprocessor of an NVIDIA H200, estimated\n"
                  "    the first 1,000 cycles: long_scoreboard 93 %, barrier 7 %, selected 0 %\n"
                  "reduce<256u>: no estimate for NVIDIA H200, no picture: too many instructions\n");
    EXPECT_THAT(files(), ElementsAre("reduce_256u_time.svg"));
}

TEST_F(DrawFiles, say_what_the_source_file_does_not) {
    AccessTrace trace = trace_of(shared_load(4, strided(4)));
    read_source_ = [](const std::string&) {
        return SourceFile{std::vector<std::string>(12, "    tile[0] = 1;"), true};
    };
    EXPECT_THAT(draw("banks", {trace}), HasSubstr("src/kernels.cuh is newer than the program"));
    options_.request.line = 12;
    EXPECT_THAT(draw("banks", {trace}), Not(HasSubstr("--line N")));
    options_.request.line.reset();
    trace.accesses[0].place.line = 13; // after the file's last
    draw("banks", {trace});
    std::ifstream file(folder_ / "reduce_256u_banks.svg");
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}),
                HasSubstr("kernels.cuh:13: ld.shared"));
    trace.accesses[0].place.path = "";
    EXPECT_THAT(draw("banks", {trace}), HasSubstr("Compile with nvcc -lineinfo"));
}
