/// Comparison and selection: setp, set, selp, slct, testp.
#include "emulator/execute/fp16.hpp"
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"

#include <cmath>
#include <limits>

namespace emulator {

namespace {

using ptx::Type;
using std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t, std::int32_t, std::int64_t;

// ---- conditions ----

/// For ordered numbers. With a NaN these are false, as in C++.
struct Equal {
    template <class T> constexpr bool operator()(T a, T b) const { return a == b; }
};
struct NotEqual {
    template <class T> constexpr bool operator()(T a, T b) const { return a < b || a > b; }
};
struct Less {
    template <class T> constexpr bool operator()(T a, T b) const { return a < b; }
};
struct LessOrEqual {
    template <class T> constexpr bool operator()(T a, T b) const { return a <= b; }
};
/// The opposite: true if an operand is a NaN.
template <auto condition> struct Opposite {
    template <class T> constexpr bool operator()(T a, T b) const { return !condition(a, b); }
};
template <auto condition> struct Swapped {
    template <class T> constexpr bool operator()(T a, T b) const { return condition(b, a); }
};
struct BothNumbers {
    template <class T> constexpr bool operator()(T a, T b) const { return a == a && b == b; }
};

using Greater = Swapped<Less{}>;
using GreaterOrEqual = Swapped<LessOrEqual{}>;

template <auto condition> struct Flushed {
    static float flush(float value) {
        return std::fabs(value) < std::numeric_limits<float>::min() ? 0.0f : value;
    }
    bool operator()(float a, float b) const { return condition(flush(a), flush(b)); }
};
template <auto condition> struct Widened {
    template <class T> bool operator()(T a, T b) const { return condition(to_double(a), to_double(b)); }
};
template <auto condition> struct WidenedFlushed {
    template <class T> static double widen(T value) {
        const double wide = to_double(value), least = std::ldexp(1.0, 2 - (1 << (T::exponent_bits - 1)));
        return std::fabs(wide) < least ? 0.0 : wide;
    }
    template <class T> bool operator()(T a, T b) const { return condition(widen(a), widen(b)); }
};

/// One of the two numbers in a register.
template <class T> struct LowOf {
    static constexpr int exponent_bits = T::exponent_bits;
    T value;
    uint16_t other;
};
template <class T> struct HighOf {
    static constexpr int exponent_bits = T::exponent_bits;
    uint16_t other;
    T value;
};
template <class T> double to_double(LowOf<T> pair) { return to_double(pair.value); }
template <class T> double to_double(HighOf<T> pair) { return to_double(pair.value); }

enum CombineMode : uint32_t { combine_nothing, combine_and, combine_or, combine_xor };

LaneMask combine(uint32_t mode, LaneMask a, LaneMask b) {
    switch (mode) {
    case combine_and: return a & b;
    case combine_or: return a | b;
    case combine_xor: return a ^ b;
    default: return a;
    }
}

/// The third source of `setp.lt.and.s32 p|q, a, b, !c`.
LaneMask third_source(Warp& warp, const Instruction& instruction) {
    if (instruction.sources[2] == no_row) return 0;
    return instruction.as_read(2, warp.predicate(instruction.sources[2]));
}

void write_predicate(Warp& warp, Row row, LaneMask value, LaneMask active) {
    LaneMask& result = warp.predicate(row);
    result = (result & ~active) | (value & active);
}

// ---- comparisons ----

using FindLanes = LaneMask (*)(Warp&, Row, Row);

/// The lanes where a comparison holds, and the usual setp, with one destination and nothing else, for the
/// most common types.
struct Comparison {
    FindLanes find = nullptr;
    Handler set_predicate = nullptr;
};

template <auto condition, class T>
void set_predicate_where(Warp& warp, const Instruction& instruction, LaneMask active) {
    const LaneMask found = lanes_where<condition, T>(warp, instruction.sources[0], instruction.sources[1]);
    write_predicate(warp, instruction.destination, found, active);
}

template <auto condition, class T>
constexpr Comparison comparison_of{&lanes_where<condition, T>, &set_predicate_where<condition, T>};

template <auto condition> Comparison for_integer(Type type) {
    switch (type) {
    case Type::b16:
    case Type::u16: return comparison_of<condition, uint16_t>;
    case Type::s16: return comparison_of<condition, int16_t>;
    case Type::b32:
    case Type::u32: return comparison_of<condition, uint32_t>;
    case Type::s32: return comparison_of<condition, int32_t>;
    case Type::b64:
    case Type::u64: return comparison_of<condition, uint64_t>;
    case Type::s64: return comparison_of<condition, int64_t>;
    default: return {};
    }
}

template <auto condition, class T> Comparison for_fp16(bool ftz) {
    if (ftz) return {.find = &lanes_where<WidenedFlushed<condition>{}, T>};
    return {.find = &lanes_where<Widened<condition>{}, T>};
}

/// `high`: of a packed type, the upper number.
template <auto condition> Comparison for_floating_point(Type type, bool ftz, bool high) {
    switch (type) {
    case Type::f32: return ftz ? comparison_of<Flushed<condition>{}, float> : comparison_of<condition, float>;
    case Type::f64: return comparison_of<condition, double>;
    case Type::f16: return for_fp16<condition, Half>(ftz);
    case Type::bf16: return for_fp16<condition, BFloat>(ftz);
    case Type::f16x2:
        return high ? for_fp16<condition, HighOf<Half>>(ftz) : for_fp16<condition, LowOf<Half>>(ftz);
    case Type::bf16x2:
        return high ? for_fp16<condition, HighOf<BFloat>>(ftz) : for_fp16<condition, LowOf<BFloat>>(ftz);
    default: return {};
    }
}

Comparison find_comparison(std::string_view comparison, Type type, bool ftz, bool high) {
    if (ptx::is_integer(type) || ptx::is_bits(type)) {
        if (comparison == ".eq") return for_integer<Equal{}>(type);
        if (comparison == ".ne") return for_integer<NotEqual{}>(type);
        if (ptx::is_bits(type)) return {}; // bits have no order
        if (comparison == ".lt" || comparison == ".lo") return for_integer<Less{}>(type);
        if (comparison == ".le" || comparison == ".ls") return for_integer<LessOrEqual{}>(type);
        if (comparison == ".gt" || comparison == ".hi") return for_integer<Greater{}>(type);
        if (comparison == ".ge" || comparison == ".hs") return for_integer<GreaterOrEqual{}>(type);
        return {};
    }
    if (comparison == ".eq") return for_floating_point<Equal{}>(type, ftz, high);
    if (comparison == ".ne") return for_floating_point<NotEqual{}>(type, ftz, high);
    if (comparison == ".lt") return for_floating_point<Less{}>(type, ftz, high);
    if (comparison == ".le") return for_floating_point<LessOrEqual{}>(type, ftz, high);
    if (comparison == ".gt") return for_floating_point<Greater{}>(type, ftz, high);
    if (comparison == ".ge") return for_floating_point<GreaterOrEqual{}>(type, ftz, high);
    if (comparison == ".equ") return for_floating_point<Opposite<NotEqual{}>{}>(type, ftz, high);
    if (comparison == ".neu") return for_floating_point<Opposite<Equal{}>{}>(type, ftz, high);
    if (comparison == ".ltu") return for_floating_point<Opposite<GreaterOrEqual{}>{}>(type, ftz, high);
    if (comparison == ".leu") return for_floating_point<Opposite<Greater{}>{}>(type, ftz, high);
    if (comparison == ".gtu") return for_floating_point<Opposite<LessOrEqual{}>{}>(type, ftz, high);
    if (comparison == ".geu") return for_floating_point<Opposite<Less{}>{}>(type, ftz, high);
    if (comparison == ".num") return for_floating_point<BothNumbers{}>(type, ftz, high);
    if (comparison == ".nan") return for_floating_point<Opposite<BothNumbers{}>{}>(type, ftz, high);
    return {};
}

// ---- setp and set ----

struct ComparisonDetail : Detail {
    FindLanes find_lanes = nullptr; ///< of two 16-bit numbers at once: for the lower ones
    FindLanes find_high = nullptr;  ///< for the upper ones
    uint32_t combination = combine_nothing;
};

void set_predicate(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& detail = instruction.detail_as<ComparisonDetail>();
    const LaneMask found = detail.find_lanes(warp, instruction.sources[0], instruction.sources[1]);
    const LaneMask third = third_source(warp, instruction);
    if (instruction.destination != no_row)
        write_predicate(warp, instruction.destination, combine(detail.combination, found, third), active);
    if (instruction.second != no_row)
        write_predicate(warp, instruction.second, combine(detail.combination, ~found, third), active);
}

/// True is all ones, or 1.0 in a floating-point register.
void set_register(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& detail = instruction.detail_as<ComparisonDetail>();
    const LaneMask found = detail.find_lanes(warp, instruction.sources[0], instruction.sources[1]);
    const LaneMask truth = combine(detail.combination, found, third_source(warp, instruction));
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    const auto yes = static_cast<uint32_t>(instruction.immediate);
    for_each_lane(active, [&](int lane) { result[lane] = (truth >> lane & 1) != 0 ? yes : 0; });
}

LaneMask find_combined(Warp& warp, const Instruction& instruction, FindLanes find_lanes) {
    return combine(instruction.detail_as<ComparisonDetail>().combination,
                   find_lanes(warp, instruction.sources[0], instruction.sources[1]),
                   third_source(warp, instruction));
}

/// The first predicate is for the lower numbers, the second for the upper ones.
void set_two_predicates(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& detail = instruction.detail_as<ComparisonDetail>();
    const LaneMask low = find_combined(warp, instruction, detail.find_lanes),
                   high = find_combined(warp, instruction, detail.find_high);
    if (instruction.destination != no_row) write_predicate(warp, instruction.destination, low, active);
    if (instruction.second != no_row) write_predicate(warp, instruction.second, high, active);
}

void set_packed_register(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& detail = instruction.detail_as<ComparisonDetail>();
    const LaneMask low = find_combined(warp, instruction, detail.find_lanes),
                   high = find_combined(warp, instruction, detail.find_high);
    const auto yes = static_cast<uint32_t>(instruction.immediate);
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    for_each_lane(active, [&](int lane) {
        result[lane] = ((low >> lane & 1) != 0 ? yes : 0) | ((high >> lane & 1) != 0 ? yes << 16 : 0);
    });
}

uint32_t take_combination(Decoding& statement) {
    const std::string_view text = statement.take_any({".and", ".or", ".xor"});
    if (text == ".and") return combine_and;
    if (text == ".or") return combine_or;
    return text == ".xor" ? combine_xor : combine_nothing;
}

std::string_view take_comparison(Decoding& statement) {
    const std::string_view text =
        statement.take_any({".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ",
                            ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"});
    if (text.empty())
        statement.invalid(statement.statement().place,
                          "this instruction needs a comparison such as .eq or .lt");
    return text;
}

/// Takes what setp and set share: two sources of `type`, and a third predicate when there is a combination.
void take_sources(Decoding& statement, Type type, uint32_t combination) {
    statement.expect_operands(combination ? 4 : 3, combination ? 4 : 3);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, type);
    if (!combination) return;
    statement.take_predicate(2, statement.operand(3));
}

bool is_packed(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

Comparison comparison_or_refusal(Decoding& statement, std::string_view name, Type type, bool ftz,
                                 bool high = false) {
    const Comparison result = find_comparison(name, type, ftz, high);
    if (!result.find) statement.no_such_type(type);
    return result;
}

bool take_ftz(Decoding& statement, Type type) {
    const bool is_half = type == Type::f16 || type == Type::bf16 || is_packed(type);
    return (is_half || type == Type::f32) && statement.take(".ftz");
}

void decode_setp(Decoding& statement) {
    const std::string_view comparison = take_comparison(statement);
    const uint32_t combination = take_combination(statement);
    const Type type = statement.take_type();
    take_sources(statement, type, combination);
    const ptx::Operand& target = statement.operand(0);
    const bool pair = target.kind == ptx::Operand::Kind::pair;
    const ptx::Operand& first = pair ? target.elements[0] : target;
    if (first.kind != ptx::Operand::Kind::sink)
        statement.instruction.destination = statement.destination(first, Type::pred);
    if (pair && target.elements[1].kind != ptx::Operand::Kind::sink)
        statement.instruction.second = statement.destination(target.elements[1], Type::pred);
    if (statement.instruction.destination == no_row && statement.instruction.second == no_row)
        statement.invalid(target.place, "a predicate register to write to is needed here");
    const bool ftz = take_ftz(statement, type);
    const Comparison found = comparison_or_refusal(statement, comparison, type, ftz);
    if (is_packed(type)) {
        auto& detail = statement.detail<ComparisonDetail>();
        detail.combination = combination;
        detail.find_lanes = found.find;
        detail.find_high = comparison_or_refusal(statement, comparison, type, ftz, true).find;
        return statement.execute_with(&set_two_predicates);
    }
    if (found.set_predicate && combination == combine_nothing && statement.instruction.second == no_row)
        return statement.execute_with(found.set_predicate);
    auto& detail = statement.detail<ComparisonDetail>();
    detail.combination = combination;
    detail.find_lanes = found.find;
    statement.execute_with(&set_predicate);
}

/// What true is in a register: all ones, or 1.0. 0 for types that no set has.
uint32_t true_value(Type type) {
    switch (type) {
    case Type::u32:
    case Type::s32: return 0xFFFF'FFFF;
    case Type::u16:
    case Type::s16: return 0xFFFF;
    case Type::f32: return 0x3F80'0000;
    case Type::f16: return 0x3C00;
    case Type::bf16: return 0x3F80;
    default: return 0;
    }
}

/// set of two 16-bit numbers at once: masks of 16 bits in a u32, or 1.0 each.
void decode_packed_set(Decoding& statement, std::string_view comparison, uint32_t combination, Type result,
                       Type type) {
    const bool is_mask = result == Type::u32 || result == Type::s32;
    if (!is_mask && result != type) statement.no_such_type(result);
    const uint32_t yes = is_mask ? 0xFFFF : true_value(type == Type::f16x2 ? Type::f16 : Type::bf16);
    take_sources(statement, type, combination);
    statement.instruction.destination = statement.destination(0, result);
    statement.instruction.immediate = yes;
    const bool ftz = take_ftz(statement, type);
    auto& detail = statement.detail<ComparisonDetail>();
    detail.combination = combination;
    detail.find_lanes = comparison_or_refusal(statement, comparison, type, ftz).find;
    detail.find_high = comparison_or_refusal(statement, comparison, type, ftz, true).find;
    statement.execute_with(&set_packed_register);
}

void decode_set(Decoding& statement) {
    const std::string_view comparison = take_comparison(statement);
    const uint32_t combination = take_combination(statement);
    const Type result = statement.take_type();
    const Type type = statement.take_type();
    if (is_packed(type)) return decode_packed_set(statement, comparison, combination, result, type);
    if (true_value(result) == 0) statement.no_such_type(result);
    take_sources(statement, type, combination);
    statement.instruction.destination = statement.destination(0, result);
    statement.instruction.immediate = true_value(result);
    auto& detail = statement.detail<ComparisonDetail>();
    detail.combination = combination;
    detail.find_lanes = comparison_or_refusal(statement, comparison, type, take_ftz(statement, type)).find;
    statement.execute_with(&set_register);
}

// ---- selp and slct ----

template <class T> void select_by_predicate(Warp& warp, const Instruction& instruction, LaneMask active) {
    T* const result = warp.cells<T>(instruction.destination);
    const T* const a = warp.cells<T>(instruction.sources[0]);
    const T* const b = warp.cells<T>(instruction.sources[1]);
    const LaneMask chooser = instruction.as_read(2, warp.predicate(instruction.sources[2]));
#pragma GCC ivdep
    for (int lane = 0; lane < warp_size; ++lane) {
        const T chosen = (chooser >> lane & 1) != 0 ? a[lane] : b[lane];
        result[lane] = (active >> lane & 1) != 0 ? chosen : result[lane];
    }
}

void decode_selp(Decoding& statement) {
    const Type type = statement.take_type();
    if (ptx::size_of(type) < 2 || type == Type::b128) statement.no_such_type(type);
    statement.expect_operands(4, 4);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, type);
    statement.take_predicate(2, statement.operand(3));
    statement.execute_with(ptx::size_of(type) == 8 ? &select_by_predicate<uint64_t>
                                                   : &select_by_predicate<uint32_t>);
}

struct SelectBySign {
    template <class T> constexpr T operator()(T a, T b, int32_t c) const { return c >= 0 ? a : b; }
    template <class T> constexpr T operator()(T a, T b, float c) const {
        return c >= 0 ? a : b;
    } // a NaN selects b
};

void decode_slct(Decoding& statement) {
    const bool ftz = statement.take(".ftz");
    const Type type = statement.take_type();
    const Type chooser = statement.take_type();
    if (ptx::size_of(type) < 2 || type == Type::b128) statement.no_such_type(type);
    if ((chooser != Type::s32 && chooser != Type::f32) || (ftz && chooser != Type::f32))
        statement.no_such_type(chooser);
    statement.expect_operands(4, 4);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, type);
    statement.instruction.sources[2] = statement.source(3, chooser);
    const bool is_float = chooser == Type::f32;
    if (ptx::size_of(type) == 8)
        statement.execute_with(is_float ? &lanewise<SelectBySign{}, uint64_t, uint64_t, uint64_t, float>
                                        : &lanewise<SelectBySign{}, uint64_t, uint64_t, uint64_t, int32_t>);
    else
        statement.execute_with(is_float ? &lanewise<SelectBySign{}, uint32_t, uint32_t, uint32_t, float>
                                        : &lanewise<SelectBySign{}, uint32_t, uint32_t, uint32_t, int32_t>);
    if (ftz) statement.unsupported(statement.statement().place, "'slct' with '.ftz' is not supported");
}

// ---- testp ----

template <class T> bool has_property(std::string_view property, T value) {
    if (property == ".finite") return std::isfinite(value);
    if (property == ".infinite") return std::isinf(value);
    if (property == ".number") return !std::isnan(value);
    if (property == ".notanumber") return std::isnan(value);
    if (property == ".normal") return std::isnormal(value) || value == 0; // PTX counts zero among them
    return std::fpclassify(value) == FP_SUBNORMAL;
}

constexpr std::string_view properties[] = {".finite",     ".infinite", ".number",
                                           ".notanumber", ".normal",   ".subnormal"};

template <class T> void test_property(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto* const a = warp.cells<Cell<T>>(instruction.sources[0]);
    LaneMask found = 0;
    for_each_lane(active, [&](int lane) {
        found |= LaneMask{has_property(properties[instruction.immediate], from_cell<T>(a[lane]))} << lane;
    });
    write_predicate(warp, instruction.destination, found, active);
}

void decode_testp(Decoding& statement) {
    std::size_t property = 0;
    while (property < std::size(properties) && !statement.take(properties[property])) ++property;
    if (property == std::size(properties))
        statement.invalid(statement.statement().place, "testp needs a property such as .finite");
    const Type type = statement.take_type();
    if (type != Type::f32 && type != Type::f64) statement.no_such_type(type);
    statement.expect_operands(2, 2);
    statement.instruction.destination = statement.destination(0, Type::pred);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.immediate = property;
    statement.execute_with(type == Type::f32 ? &test_property<float> : &test_property<double>);
}

} // namespace

std::span<const Opcode> compare_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"setp", decode_setp}, {"set", decode_set},     {"selp", decode_selp},
        {"slct", decode_slct}, {"testp", decode_testp},
    };
    return opcodes;
}

} // namespace emulator
