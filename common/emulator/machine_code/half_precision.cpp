#include "emulator/machine_code/actions.hpp"
#include "emulator/machine_code/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace emulator::machine_code {
namespace {

using Kind = Operand::Kind;

/// A number of 16 bits: its sign, an exponent, and a fraction.
struct Format {
    int fraction_bits, bias;
    std::uint32_t infinity() const { return (2U * static_cast<unsigned>(bias) + 1) << fraction_bits; }
};
constexpr Format half{.fraction_bits = 10, .bias = 15}, bfloat{.fraction_bits = 7, .bias = 127};

Format format_of(const Instruction& i) { return i.has("BF16_V2") || i.has("BF16") ? bfloat : half; }

float number_of(std::uint32_t bits, Format format) {
    const std::uint32_t magnitude = bits & 0x7FFF;
    const int exponent = static_cast<int>(magnitude >> format.fraction_bits);
    const auto fraction = static_cast<float>(magnitude & ((1U << format.fraction_bits) - 1));
    const auto one = static_cast<float>(1U << format.fraction_bits);
    const int scale = std::max(exponent, 1) - format.bias - format.fraction_bits;
    float value = std::ldexp(exponent == 0 ? fraction : one + fraction, scale);
    if (magnitude >= format.infinity()) value = magnitude == format.infinity() ? INFINITY : NAN;
    return (bits & 0x8000) != 0 ? -value : value;
}

/// The nearest, even of two.
std::uint32_t bits_of(double value, Format format) {
    const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return 0x7FFF;
    if (std::isinf(value)) return sign | format.infinity();
    const int least = 1 - format.bias, exponent = value == 0 ? least : std::max(std::ilogb(value), least);
    const auto fraction = static_cast<std::uint32_t>(
        std::nearbyint(std::ldexp(std::fabs(value), format.fraction_bits - exponent)));
    // A whole one in the fraction adds to the exponent.
    const std::uint32_t bits =
        (static_cast<std::uint32_t>(exponent - least) << format.fraction_bits) + fraction;
    return sign | std::min(bits, format.infinity());
}

using Pair = std::array<float, 2>; ///< the lower half first
using Pairs = std::array<Pair, warp_size>;

/// Two halves: of a register, either of them twice, or of two immediates, of which the upper is printed first.
struct PairSource {
    Operand operand;
    Pair immediates{};

    Pairs values(const Warp& warp, Format format) const {
        Pairs result;
        result.fill(immediates);
        if (operand.kind == Kind::immediate) return result;
        Operand bare = operand;
        bare.negated = bare.absolute = false;
        const Lanes words = warp.value(bare);
        const bool is_lower = operand.text.find("H0_H0") != std::string::npos;
        for (int lane = 0; lane < warp_size; ++lane)
            for (const std::size_t k : {0U, 1U}) {
                const bool upper = operand.high_half || (k == 1 && !is_lower);
                float value = number_of(words[lane] >> (upper ? 16 : 0) & 0xFFFF, format);
                if (operand.absolute) value = std::fabs(value);
                result[lane][k] = operand.negated ? -value : value;
            }
        return result;
    }
};

std::vector<PairSource> sources_of(const Instruction& i, std::size_t first, std::size_t count) {
    std::vector<PairSource> sources;
    for (std::size_t k = first; k < i.operands.size() && sources.size() < count; ++k) {
        PairSource source{i.operands[k]};
        if (source.operand.kind == Kind::immediate) {
            if (k + 1 == i.operands.size()) throw unknown(i);
            source.immediates = {static_cast<float>(immediate_number(i.operands[k + 1])),
                                 static_cast<float>(immediate_number(source.operand))};
            ++k;
        }
        sources.push_back(source);
    }
    if (sources.size() < count) throw unknown(i);
    return sources;
}

void write(Warp& warp, const Operand& to, LaneMask lanes, const Pairs& pairs, Format format) {
    Lanes words;
    for (int lane = 0; lane < warp_size; ++lane)
        words[lane] = bits_of(pairs[lane][1], format) << 16 | bits_of(pairs[lane][0], format);
    warp.write(to, lanes, words);
}

/// HADD2.F32 R15, -RZ, R23.H0_H0: a half becomes a float.
Action sum_as_float(const Instruction& i) {
    return [to = i.operands[0], sources = sources_of(i, 1, 2), format = format_of(i)](Warp& warp,
                                                                                      LaneMask lanes) {
        const Pairs a = sources[0].values(warp, format), b = sources[1].values(warp, format);
        Lanes words;
        for (int lane = 0; lane < warp_size; ++lane)
            words[lane] = std::bit_cast<std::uint32_t>(a[lane][0] + b[lane][0]);
        warp.write(to, lanes, words);
    };
}

Action arithmetic(const Instruction& i) { // HADD2, HMUL2, HFMA2
    if (i.has("F32")) return sum_as_float(i);
    const bool adds = i.base == "HADD2", multiplies = i.base == "HMUL2";
    const bool saturates = i.has("SAT"), clamps = i.has("RELU");
    return [to = i.operands[0], sources = sources_of(i, 1, adds || multiplies ? 2 : 3), format = format_of(i),
            adds, multiplies, saturates, clamps](Warp& warp, LaneMask lanes) {
        Pairs result = sources[0].values(warp, format);
        const Pairs second = sources[1].values(warp, format), third = sources.back().values(warp, format);
        for (int lane = 0; lane < warp_size; ++lane)
            for (const std::size_t k : {0U, 1U}) {
                float& value = result[lane][k];
                value = adds         ? value + second[lane][k]
                        : multiplies ? value * second[lane][k]
                                     : std::fma(value, second[lane][k], third[lane][k]);
                if (saturates || clamps) value = std::fmax(value, 0.0F);
                if (saturates) value = std::fmin(value, 1.0F);
            }
        write(warp, to, lanes, result, format);
    };
}

/// HMNMX2 R4, R4, R7, !PT: the least if the predicate is set.
Action minmax(const Instruction& i) {
    return [to = i.operands[0], sources = sources_of(i, 1, 2), which = i.operands.back(),
            format = format_of(i)](Warp& warp, LaneMask lanes) {
        Pairs result = sources[0].values(warp, format);
        const Pairs other = sources[1].values(warp, format);
        const LaneMask least = warp.predicate(which);
        for (int lane = 0; lane < warp_size; ++lane)
            for (const std::size_t k : {0U, 1U}) {
                float& value = result[lane][k];
                value = (least >> lane & 1) != 0 ? std::fmin(value, other[lane][k])
                                                 : std::fmax(value, other[lane][k]);
            }
        write(warp, to, lanes, result, format);
    };
}

std::array<LaneMask, 2> compared(const Warp& warp, const std::vector<PairSource>& sources, Format format,
                                 std::string_view relation) {
    const Pairs a = sources[0].values(warp, format), b = sources[1].values(warp, format);
    const auto of = [&](std::size_t k) {
        return lanes_where([&](int lane) { return holds(relation, a[lane][k], b[lane][k]); });
    };
    return {of(0), of(1)};
}

std::string relation_of(const Instruction& i) {
    for (const std::string& modifier : i.modifiers)
        if (modifier != "BF16_V2" && modifier != "BF") return modifier;
    throw unknown(i);
}

/// HSETP2.GT.AND P0, P1, R4, R7, PT: of the lower halves, and of the upper ones.
Action compare(const Instruction& i) {
    return [operands = i.operands, sources = sources_of(i, 2, 2), format = format_of(i),
            relation = relation_of(i), either = i.has("OR")](Warp& warp, LaneMask lanes) {
        const auto set = compared(warp, sources, format, relation);
        const LaneMask other = warp.predicate(operands.back());
        for (const std::size_t k : {0U, 1U})
            warp.write_predicate(operands[k], lanes, either ? set[k] | other : set[k] & other);
    };
}

/// HSET2.LE.AND R8, R3, R0, PT: all bits of a half, or with BF a one.
Action set_register(const Instruction& i) {
    const Format format = format_of(i);
    const std::uint32_t holds = i.has("BF") ? bits_of(1, format) : 0xFFFF;
    return [operands = i.operands, sources = sources_of(i, 1, 2), format, relation = relation_of(i),
            holds](Warp& warp, LaneMask lanes) {
        const auto set = compared(warp, sources, format, relation);
        const LaneMask other = warp.predicate(operands.back());
        Lanes words;
        for (int lane = 0; lane < warp_size; ++lane)
            words[lane] =
                ((set[1] & other) >> lane & 1) * (holds << 16) | ((set[0] & other) >> lane & 1) * holds;
        warp.write(operands[0], lanes, words);
    };
}

/// F2FP.F16.F32.PACK_AB R0, R13, R12: two floats become halves, the second one the lower.
Action pack(const Instruction& i) {
    if (!i.has("F32") || !i.has("PACK_AB") || i.operands.size() != 3) throw unknown(i);
    return [operands = i.operands, format = format_of(i)](Warp& warp, LaneMask lanes) {
        Pairs pairs;
        for (const std::size_t k : {0U, 1U}) {
            const FloatLanes values = floats(warp, operands[2 - k]);
            for (int lane = 0; lane < warp_size; ++lane) pairs[lane][k] = values[lane];
        }
        write(warp, operands[0], lanes, pairs, format);
    };
}

} // namespace

std::span<const Opcode> half_precision_opcodes() {
    static constexpr const char* arithmetics = " F32 MMA BF16_V2 RELU SAT FTZ ";
    static constexpr const char* relations =
        " BF16_V2 BF LT LE GT GE EQ NE LTU LEU GTU GEU EQU NEU NUM NAN AND OR FTZ ";
    static constexpr Opcode opcodes[] = {
        {"HADD2", arithmetics, arithmetic},
        {"HMUL2", arithmetics, arithmetic},
        {"HFMA2", arithmetics, arithmetic},
        {"HMNMX2", " BF16_V2 FTZ ", minmax},
        {"HSETP2", relations, compare},
        {"HSET2", relations, set_register},
        {"F2FP", " F16 BF16 F32 PACK_AB RZ ", pack},
    };
    return opcodes;
}

} // namespace emulator::machine_code
