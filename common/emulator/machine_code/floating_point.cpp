#include "emulator/machine_code/actions.hpp"
#include "emulator/machine_code/numbers.hpp"
#include "emulator/machine_code/warp.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

// Traces need values only where they decide what is executed, so the last bit of a result does not matter here:
// approximations are exact, and rounding modes matter only where whole numbers are made of them.

namespace emulator::machine_code {
namespace {

using Kind = Operand::Kind;
template <class Real> using Reals = std::array<Real, warp_size>;

bool is_hexadecimal(const Operand& operand) { return operand.text.find("0x") != std::string::npos; }

template <class Real> Real with_signs(const Operand& operand, Real value) {
    if (operand.absolute) value = std::fabs(value);
    return operand.negated ? -value : value;
}

/// The operand without the signs that would be taken for those of integers.
Operand bare(Operand operand) {
    operand.negated = operand.absolute = false;
    return operand;
}

template <class Real> Reals<Real> numbers(const Warp& warp, const Operand& operand) {
    Reals<Real> result;
    if (operand.kind == Kind::immediate && !is_hexadecimal(operand)) {
        result.fill(static_cast<Real>(immediate_number(operand)));
    } else if constexpr (sizeof(Real) == 4) {
        const Lanes bits = warp.value(bare(operand));
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = with_signs(operand, std::bit_cast<float>(bits[lane]));
    } else {
        WideLanes bits;
        bits.fill(operand.bits << 32);
        if (operand.kind != Kind::immediate) bits = warp.wide(bare(operand));
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = with_signs(operand, std::bit_cast<double>(bits[lane]));
    }
    return result;
}

template <class Real> void write(Warp& warp, const Operand& to, LaneMask lanes, const Reals<Real>& values) {
    if constexpr (sizeof(Real) == 4)
        warp.write(to, lanes, std::bit_cast<Lanes>(values));
    else
        warp.write_wide(to, lanes, std::bit_cast<WideLanes>(values));
}

template <class Real, std::size_t sources, class Function>
Action arithmetic(const Instruction& i, Function function) {
    if (i.operands.size() < sources + 1) throw unknown(i);
    return [operands = i.operands, function](Warp& warp, LaneMask lanes) {
        Reals<Real> values[sources], result;
        for (std::size_t k = 0; k < sources; ++k) values[k] = numbers<Real>(warp, operands[k + 1]);
        for (int lane = 0; lane < warp_size; ++lane) {
            if constexpr (sources == 2)
                result[lane] = function(values[0][lane], values[1][lane]);
            else
                result[lane] = function(values[0][lane], values[1][lane], values[2][lane]);
        }
        write<Real>(warp, operands[0], lanes, result);
    };
}

/// FADD.SAT and the like: from 0 to 1.
template <class Real> Real saturated(Real value) { return value > 0 ? std::fmin(value, Real{1}) : Real{0}; }

template <class Real> Action add(const Instruction& i) {
    return arithmetic<Real, 2>(
        i, [saturates = i.has("SAT")](Real a, Real b) { return saturates ? saturated(a + b) : a + b; });
}
template <class Real> Action multiply(const Instruction& i) {
    Real scale = 1; // FMUL.D2 halves the product, and M2 doubles it
    for (const Real factor : {Real{2}, Real{4}, Real{8}}) {
        const std::string digit(1, static_cast<char>('0' + static_cast<int>(factor)));
        if (i.has("D" + digit)) scale = 1 / factor;
        if (i.has("M" + digit)) scale = factor;
    }
    return arithmetic<Real, 2>(i, [scale, saturates = i.has("SAT")](Real a, Real b) {
        return saturates ? saturated(a * b * scale) : a * b * scale;
    });
}
template <class Real> Action multiply_add(const Instruction& i) {
    return arithmetic<Real, 3>(i, [saturates = i.has("SAT")](Real a, Real b, Real c) {
        return saturates ? saturated(std::fma(a, b, c)) : std::fma(a, b, c);
    });
}

template <class Real> bool compare(std::string_view relation, Real a, Real b) {
    if (relation == "MAX") return a > b || std::isnan(b); // whether it is the greater one
    if (relation == "MIN") return a < b || std::isnan(b);
    const bool unordered = std::isnan(a) || std::isnan(b);
    if (relation == "NUM") return !unordered;
    if (relation == "NAN") return unordered;
    if (unordered) return relation.ends_with("U");
    const std::string_view order = relation.substr(0, 2);
    return order == "LT"   ? a < b
           : order == "LE" ? a <= b
           : order == "GT" ? a > b
           : order == "GE" ? a >= b
           : order == "EQ" ? a == b
                           : a != b;
}

template <class Real> Action compare(const Instruction& i) {
    const char combination = i.has("OR") ? '|' : i.has("XOR") ? '^' : '&';
    if (i.operands.size() != 5 || i.modifiers.empty()) throw unknown(i);
    return [operands = i.operands, relation = i.modifiers[0], combination](Warp& warp, LaneMask lanes) {
        const auto a = numbers<Real>(warp, operands[2]), b = numbers<Real>(warp, operands[3]);
        const LaneMask set = lanes_where([&](int lane) { return compare<Real>(relation, a[lane], b[lane]); });
        warp.write_comparison(operands, lanes, set, combination);
        if (relation != "MAX" && relation != "MIN") return;
        const LaneMask neither =
            lanes_where([&](int lane) { return std::isnan(a[lane]) && std::isnan(b[lane]); });
        warp.write_predicate(operands[1], lanes, neither);
    };
}

/// FSET.BF.LT.AND R3, R13, R8, PT: all bits, or with BF a one.
Action compare_into_register(const Instruction& i) {
    if (i.operands.size() != 4 || i.modifiers.empty()) throw unknown(i);
    const bool is_one = i.has("BF");
    return [operands = i.operands, relation = i.modifiers[is_one ? 1 : 0], either = i.has("OR"),
            holds = is_one ? std::bit_cast<std::uint32_t>(1.0F) : ~0U](Warp& warp, LaneMask lanes) {
        const auto a = numbers<float>(warp, operands[1]), b = numbers<float>(warp, operands[2]);
        LaneMask set = lanes_where([&](int lane) { return compare<float>(relation, a[lane], b[lane]); });
        const LaneMask other = warp.predicate(operands[3]);
        set = either ? set | other : set & other;
        Lanes words;
        for (int lane = 0; lane < warp_size; ++lane) words[lane] = (set >> lane & 1) * holds;
        warp.write(operands[0], lanes, words);
    };
}

Action select_real(const Instruction& i) {
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        auto result = numbers<float>(warp, operands[1]);
        const auto other = numbers<float>(warp, operands[2]);
        const LaneMask first = warp.predicate(operands[3]);
        for (int lane = 0; lane < warp_size; ++lane)
            if ((first >> lane & 1) == 0) result[lane] = other[lane];
        write<float>(warp, operands[0], lanes, result);
    };
}

Action minmax_of_reals(const Instruction& i) {
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        auto result = numbers<float>(warp, operands[1]);
        const auto other = numbers<float>(warp, operands[2]);
        const LaneMask least = warp.predicate(operands[3]);
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = (least >> lane & 1) != 0 ? std::fmin(result[lane], other[lane])
                                                    : std::fmax(result[lane], other[lane]);
        write<float>(warp, operands[0], lanes, result);
    };
}

float function_of(std::string_view name, float x) {
    if (name == "RCP") return 1 / x;
    if (name == "RSQ") return 1 / std::sqrt(x);
    if (name == "SQRT") return std::sqrt(x);
    if (name == "EX2") return std::exp2(x);
    if (name == "LG2") return std::log2(x);
    if (name == "SIN") return std::sin(x);
    if (name == "TANH") return std::tanh(x);
    return std::cos(x);
}

/// MUFU.RCP64H, RSQ64H: the upper half of a double's reciprocal, or of that of its root, from its upper half.
Action reciprocal_of_upper_half(const Instruction& i) {
    return [operands = i.operands, of_root = i.has("RSQ64H")](Warp& warp, LaneMask lanes) {
        Lanes bits = warp.value(bare(operands[1]));
        for (std::uint32_t& upper : bits) {
            const auto x = std::bit_cast<double>(std::uint64_t{upper} << 32);
            upper = static_cast<std::uint32_t>(
                std::bit_cast<std::uint64_t>(1 / (of_root ? std::sqrt(x) : x)) >> 32);
        }
        warp.write(operands[0], lanes, bits);
    };
}

Action function(const Instruction& i) {
    if (i.has("RCP64H") || i.has("RSQ64H")) return reciprocal_of_upper_half(i);
    if (i.modifiers.empty()) throw unknown(i);
    return [operands = i.operands, name = i.modifiers[0]](Warp& warp, LaneMask lanes) {
        auto values = numbers<float>(warp, operands[1]);
        for (float& value : values) value = function_of(name, value);
        write<float>(warp, operands[0], lanes, values);
    };
}

/// Whether a / b leaves the range in which a reciprocal and a few steps give it. 0 / b does too.
bool division_needs_care(float a, float b) {
    if (!std::isnormal(b) || !std::isnormal(a)) return true;
    const int exponent = std::ilogb(a) - std::ilogb(b);
    return std::ilogb(b) < -125 || std::ilogb(b) > 125 || exponent < -124 || exponent > 125;
}

Action check_division(const Instruction& i) {
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        const auto a = numbers<float>(warp, operands[1]), b = numbers<float>(warp, operands[2]);
        warp.write_predicate(operands[0], lanes,
                             lanes_where([&](int lane) { return division_needs_care(a[lane], b[lane]); }));
    };
}

/// The integers that I2F converts, as numbers that hold them exactly. \param bits of each, 8 to 64
std::array<long double, warp_size> integers(const Warp& warp, const Operand& operand, int bits,
                                            bool is_signed) {
    const WideLanes wide = bits == 64 ? warp.wide(operand) : WideLanes{};
    const Lanes words = bits == 64 ? Lanes{} : warp.value(operand);
    std::array<long double, warp_size> result;
    for (int lane = 0; lane < warp_size; ++lane) {
        const std::uint64_t value = (bits == 64 ? wide[lane] : words[lane] >> operand.shift)
                                    << (64 - bits); // the sign is the first bit
        result[lane] = is_signed ? static_cast<long double>(static_cast<std::int64_t>(value) >> (64 - bits))
                                 : static_cast<long double>(value >> (64 - bits));
    }
    return result;
}

template <class Real> Real rounded(long double value, bool up, bool to_zero) {
    const Real nearest = static_cast<Real>(value);
    if (up && nearest < value) return std::nextafter(nearest, std::numeric_limits<Real>::infinity());
    return to_zero && std::abs(static_cast<long double>(nearest)) > std::abs(value)
               ? std::nextafter(nearest, Real{0})
               : nearest;
}

Action from_integer(const Instruction& i) {
    const bool is_double = i.has("F64"), up = i.has("RP"), to_zero = i.has("RZ");
    static constexpr std::pair<const char*, int> sizes[] = {{"64", 64}, {"32", 32}, {"16", 16}, {"8", 8}};
    int bits = 32;
    bool is_signed = true;
    for (const auto& [name, size] : sizes)
        for (const char sign : {'S', 'U'})
            if (i.has(std::string(1, sign) + name)) bits = size, is_signed = sign == 'S';
    return [operands = i.operands, is_double, up, to_zero, bits, is_signed](Warp& warp, LaneMask lanes) {
        const auto values = integers(warp, operands[1], bits, is_signed);
        Reals<float> singles;
        Reals<double> doubles;
        for (int lane = 0; lane < warp_size; ++lane) {
            singles[lane] = rounded<float>(values[lane], up, to_zero);
            doubles[lane] = rounded<double>(values[lane], up, to_zero);
        }
        is_double ? write<double>(warp, operands[0], lanes, doubles)
                  : write<float>(warp, operands[0], lanes, singles);
    };
}

/// To a whole number: by the nearest, if nothing else is said.
double (*rounding_of(const Instruction& i))(double) {
    if (i.has("TRUNC")) return [](double value) { return std::trunc(value); };
    if (i.has("FLOOR")) return [](double value) { return std::floor(value); };
    if (i.has("CEIL")) return [](double value) { return std::ceil(value); };
    return [](double value) { return std::nearbyint(value); };
}

Action to_whole_number(const Instruction& i) {
    return [operands = i.operands, rounded = rounding_of(i)](Warp& warp, LaneMask lanes) {
        auto values = numbers<float>(warp, operands[1]);
        for (float& value : values) value = static_cast<float>(rounded(static_cast<double>(value)));
        write<float>(warp, operands[0], lanes, values);
    };
}

Action to_integer(const Instruction& i) {
    const bool from_double = i.has("F64"), wide = i.has("S64") || i.has("U64"),
               is_signed = !i.has("U32") && !i.has("U64");
    return [operands = i.operands, from_double, wide, is_signed, rounded = rounding_of(i)](Warp& warp,
                                                                                           LaneMask lanes) {
        const auto singles = from_double ? Reals<float>{} : numbers<float>(warp, operands[1]);
        const auto doubles = from_double ? numbers<double>(warp, operands[1]) : Reals<double>{};
        const double limit = std::ldexp(1.0, (wide ? 64 : 32) - (is_signed ? 1 : 0));
        WideLanes results;
        Lanes words;
        for (int lane = 0; lane < warp_size; ++lane) {
            double value = rounded(from_double ? doubles[lane] : static_cast<double>(singles[lane]));
            if (std::isnan(value)) value = 0;
            const double least = is_signed ? -limit : 0;
            const auto most =
                static_cast<std::uint64_t>(is_signed ? (std::uint64_t{1} << (wide ? 63 : 31)) - 1
                                           : wide    ? ~std::uint64_t{0}
                                                     : 0xFFFF'FFFF);
            value = std::fmax(value, least);
            results[lane] = value >= limit ? most
                            : value < 0    ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                                           : static_cast<std::uint64_t>(value);
            words[lane] = static_cast<std::uint32_t>(results[lane]);
        }
        wide ? warp.write_wide(operands[0], lanes, results) : warp.write(operands[0], lanes, words);
    };
}

Action between_reals(const Instruction& i) {
    if (!i.text.starts_with("F2F.F64.F32") && !i.text.starts_with("F2F.F32.F64")) throw unknown(i);
    const bool widens = i.text.starts_with("F2F.F64.F32");
    return [operands = i.operands, widens](Warp& warp, LaneMask lanes) {
        const auto singles = widens ? numbers<float>(warp, operands[1]) : Reals<float>{};
        const auto doubles = widens ? Reals<double>{} : numbers<double>(warp, operands[1]);
        Reals<double> wide;
        Reals<float> narrow;
        for (int lane = 0; lane < warp_size; ++lane) {
            wide[lane] = static_cast<double>(singles[lane]);
            narrow[lane] = static_cast<float>(doubles[lane]);
        }
        widens ? write<double>(warp, operands[0], lanes, wide)
               : write<float>(warp, operands[0], lanes, narrow);
    };
}

} // namespace

/// An immediate as a number: hexadecimal bits are of a float, or the upper half of a double.
double immediate_number(const Operand& operand) {
    const std::string& text = operand.text;
    const bool minus = text.starts_with("-");
    if (text.find("INF") != std::string::npos) return minus ? -HUGE_VAL : HUGE_VAL;
    if (text.find("NAN") != std::string::npos) return std::numeric_limits<double>::quiet_NaN();
    return std::strtod(text.c_str(), nullptr);
}

FloatLanes floats(const Warp& warp, const Operand& operand) { return numbers<float>(warp, operand); }

bool holds(std::string_view relation, float a, float b) { return compare<float>(relation, a, b); }

std::span<const Opcode> floating_point_opcodes() {
    static constexpr const char* rounding = " FTZ RN RM RP RZ SAT ";
    static constexpr const char* relations =
        " LT LE GT GE EQ NE LTU LEU GTU GEU EQU NEU NUM NAN AND OR XOR FTZ ";
    static constexpr Opcode opcodes[] = {
        {"FADD", rounding, add<float>},
        {"FMUL", " FTZ RN RM RP RZ SAT D2 D4 D8 M2 M4 M8 ", multiply<float>},
        {"FFMA", rounding, multiply_add<float>},
        {"DADD", rounding, add<double>},
        {"DMUL", rounding, multiply<double>},
        {"DFMA", rounding, multiply_add<double>},
        {"FSETP", relations, compare<float>},
        {"DSETP", " MAX MIN LT LE GT GE EQ NE LTU LEU GTU GEU EQU NEU NUM NAN AND OR XOR ", compare<double>},
        {"FSET", " BF LT LE GT GE EQ NE LTU LEU GTU GEU EQU NEU NUM NAN AND OR FTZ ", compare_into_register},
        {"FSEL", " ", select_real},
        {"FMNMX", " FTZ ", minmax_of_reals},
        {"MUFU", " RCP RSQ SQRT EX2 LG2 SIN COS TANH RCP64H RSQ64H ", function},
        {"FCHK", " ", check_division},
        {"I2F", " F64 S64 U64 U32 S16 U16 S8 U8 RP RZ ", from_integer},
        {"I2FP", " F32 S32 U32 RZ ", from_integer},
        {"F2I", " FTZ F64 S64 U64 U32 TRUNC FLOOR CEIL NTZ ", to_integer},
        {"FRND", " FTZ TRUNC FLOOR CEIL ", to_whole_number},
        {"F2F", " F64 F32 ", between_reals},
    };
    return opcodes;
}

} // namespace emulator::machine_code
