#include "emulator/machine_code/actions.hpp"
#include "emulator/machine_code/warp.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace emulator::machine_code {
namespace {

using Kind = Operand::Kind;
using Operands = std::vector<Operand>;

bool is_predicate(const Operand& operand) {
    return operand.kind == Kind::predicate || operand.kind == Kind::uniform_predicate;
}

/// The operands of an instruction that may have carries: the result, up to two carries out, the sources, up to
/// two carries in.
struct Carrying {
    Operand result;
    Operands out, sources, in;

    explicit Carrying(const Instruction& instruction) : result(instruction.operands.front()) {
        for (std::size_t k = 1; k < instruction.operands.size(); ++k) {
            const Operand& operand = instruction.operands[k];
            Operands& kind = !is_predicate(operand) ? sources : sources.empty() ? out : in;
            kind.push_back(operand);
        }
    }

    /// How many carries come in, in each lane.
    Lanes carried_in(const Warp& warp) const {
        Lanes count{};
        for (const Operand& carry : in) {
            const LaneMask set = warp.predicate(carry);
            for (int lane = 0; lane < warp_size; ++lane) count[lane] += set >> lane & 1;
        }
        return count;
    }

    /// Writes the low halves of the sums, and the carries.
    void write(Warp& warp, LaneMask lanes, const WideLanes& sums) const {
        Lanes low;
        for (int lane = 0; lane < warp_size; ++lane) low[lane] = static_cast<std::uint32_t>(sums[lane]);
        for (std::size_t k = 0; k < out.size(); ++k)
            warp.write_predicate(out[k], lanes, lanes_where([&](int lane) { return sums[lane] >> 32 > k; }));
        warp.write(result, lanes, low);
    }
};

/// One word from others, lane by lane.
template <std::size_t sources, class Function>
Action lanewise(const Instruction& instruction, Function function) {
    if (instruction.operands.size() < sources + 1) throw unknown(instruction);
    return [operands = instruction.operands, function](Warp& warp, LaneMask lanes) {
        Lanes values[sources], result;
        for (std::size_t k = 0; k < sources; ++k) values[k] = warp.value(operands[k + 1]);
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = [&]<std::size_t... k>(std::index_sequence<k...>) {
                return function(values[k][lane]...);
            }
        (std::make_index_sequence<sources>{});
        warp.write(operands[0], lanes, result);
    };
}

std::int64_t signed_word(std::uint32_t word) { return static_cast<std::int32_t>(word); }

Action move(const Instruction& i) {
    return lanewise<1>(i, [](std::uint32_t a) { return a; });
}

Action add(const Instruction& i) { // IADD3, IADD3.X, VIADD
    return [c = Carrying(i)](Warp& warp, LaneMask lanes) {
        const Lanes carries = c.carried_in(warp);
        WideLanes sums;
        for (int lane = 0; lane < warp_size; ++lane) sums[lane] = carries[lane];
        for (const Operand& source : c.sources) {
            const Lanes values = warp.value(source);
            // -x is ~x + 1, whose carry counts: that of -0 too.
            for (int lane = 0; lane < warp_size; ++lane)
                sums[lane] += source.negated && values[lane] == 0 ? std::uint64_t{1} << 32 : values[lane];
        }
        c.write(warp, lanes, sums);
    };
}

Action multiply_add(const Instruction& i) { // IMAD and IMAD.X
    return [c = Carrying(i)](Warp& warp, LaneMask lanes) {
        const Lanes a = warp.value(c.sources[0]), b = warp.value(c.sources[1]), d = warp.value(c.sources[2]);
        const Lanes carries = c.carried_in(warp);
        WideLanes sums;
        for (int lane = 0; lane < warp_size; ++lane)
            sums[lane] = std::uint64_t{a[lane] * b[lane]} + d[lane] + carries[lane];
        c.write(warp, lanes, sums);
    };
}

/// IMAD.WIDE: all 64 bits; IMAD.HI: the upper half.
Action multiply_wide(const Instruction& i) {
    const bool is_signed = !i.has("U32"), high = i.has("HI");
    return [c = Carrying(i), is_signed, high](Warp& warp, LaneMask lanes) {
        const Lanes a = warp.value(c.sources[0]), b = warp.value(c.sources[1]), carries = c.carried_in(warp);
        const WideLanes d = warp.wide(c.sources[2]);
        WideLanes sums;
        LaneMask carry = 0;
        for (int lane = 0; lane < warp_size; ++lane) {
            const std::uint64_t product =
                is_signed ? static_cast<std::uint64_t>(signed_word(a[lane]) * signed_word(b[lane]))
                          : std::uint64_t{a[lane]} * b[lane];
            sums[lane] = product + d[lane] + carries[lane];
            carry |= LaneMask{sums[lane] < product} << lane;
        }
        if (!c.out.empty()) warp.write_predicate(c.out[0], lanes, carry);
        if (!high) return warp.write_wide(c.result, lanes, sums);
        Lanes upper;
        for (int lane = 0; lane < warp_size; ++lane)
            upper[lane] = static_cast<std::uint32_t>(sums[lane] >> 32);
        warp.write(c.result, lanes, upper);
    };
}

Action imad(const Instruction& i) {
    return i.has("WIDE") || i.has("HI") ? multiply_wide(i) : multiply_add(i);
}

Action lea(const Instruction& i) {
    const bool high = i.has("HI"), is_signed = i.has("SX32");
    return [c = Carrying(i), high, is_signed](Warp& warp, LaneMask lanes) {
        const bool has_upper = high && !is_signed;
        const Lanes a = warp.value(c.sources[0]), b = warp.value(c.sources[1]), carries = c.carried_in(warp);
        const Lanes upper = has_upper ? warp.value(c.sources[2]) : Lanes{};
        const std::uint64_t shift = c.sources.back().bits;
        WideLanes sums;
        for (int lane = 0; lane < warp_size; ++lane) {
            std::uint64_t whole = std::uint64_t{upper[lane]} << 32 | a[lane];
            if (is_signed) whole = static_cast<std::uint64_t>(signed_word(a[lane]));
            const std::uint64_t shifted = whole << shift;
            sums[lane] = (high ? shifted >> 32 : shifted & 0xFFFF'FFFF) + b[lane] + carries[lane];
        }
        c.write(warp, lanes, sums);
    };
}

std::uint32_t funnel(std::uint32_t low, std::uint32_t shift, std::uint32_t high, bool left, bool upper) {
    const std::uint64_t whole = std::uint64_t{high} << 32 | low;
    if (shift > 63) return 0;
    const std::uint64_t shifted = left ? whole << shift : whole >> shift;
    return static_cast<std::uint32_t>(upper ? shifted >> 32 : shifted);
}

Action shift(const Instruction& i) {
    const bool left = i.has("L"), upper = i.has("HI"), wraps = i.has("W"),
               is_signed = i.has("S32") || i.has("S64");
    const std::uint32_t wrap = i.has("U64") || i.has("S64") ? 63 : 31;
    return lanewise<3>(i, [=](std::uint32_t low, std::uint32_t shift, std::uint32_t high) {
        if (wraps) shift &= wrap;
        if (left || !upper) return funnel(low, shift, high, left, upper);
        if (is_signed) return static_cast<std::uint32_t>(signed_word(high) >> std::min(shift, 31U));
        return shift > 31 ? 0 : high >> shift;
    });
}

/// A function of three bits, applied to all bits of three words.
std::uint32_t look_up(std::uint32_t table, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t result = 0;
    for (std::uint32_t k = 0; k < 8; ++k)
        if ((table >> k & 1) != 0)
            result |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    return result;
}

Action lop3(const Instruction& i) {
    Operands operands = i.operands;
    const bool has_predicate = is_predicate(operands[0]), both = i.has("PAND");
    if (!has_predicate)
        operands.insert(operands.begin(), Operand{.kind = Kind::predicate, .index = true_predicate});
    if (operands.size() < 6) throw unknown(i);
    return [operands, has_predicate, both](Warp& warp, LaneMask lanes) {
        const Lanes a = warp.value(operands[2]), b = warp.value(operands[3]), c = warp.value(operands[4]);
        const auto table = static_cast<std::uint32_t>(operands[5].bits);
        Lanes result;
        if (table == 0xC0)
            for (int lane = 0; lane < warp_size; ++lane) result[lane] = a[lane] & b[lane];
        else
            for (int lane = 0; lane < warp_size; ++lane)
                result[lane] = look_up(table, a[lane], b[lane], c[lane]);
        if (has_predicate) {
            const LaneMask set = lanes_where([&](int lane) { return result[lane] != 0; });
            const LaneMask other = operands.size() > 6 ? warp.predicate(operands[6]) : LaneMask{0};
            warp.write_predicate(operands[0], lanes, both ? set & other : set | other);
        }
        warp.write(operands[1], lanes, result);
    };
}

Action plop3(const Instruction& i) {
    if (i.operands.size() != 7) throw unknown(i);
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        const LaneMask a = warp.predicate(operands[2]), b = warp.predicate(operands[3]),
                       c = warp.predicate(operands[4]);
        for (std::size_t k = 0; k < 2; ++k)
            warp.write_predicate(operands[k], lanes,
                                 look_up(static_cast<std::uint32_t>(operands[5 + k].bits), a, b, c));
    };
}

enum class Order : std::uint8_t { less, less_equal, greater, greater_equal, equal, unequal };

Order order_of(const Instruction& i) {
    static constexpr std::pair<const char*, Order> names[] = {
        {"LT", Order::less},          {"LE", Order::less_equal}, {"GT", Order::greater},
        {"GE", Order::greater_equal}, {"EQ", Order::equal},      {"NE", Order::unequal}};
    for (const auto& [name, order] : names)
        if (i.has(name)) return order;
    throw unknown(i);
}

bool holds(Order order, std::int64_t a, std::int64_t b) {
    switch (order) {
    case Order::less: return a < b;
    case Order::less_equal: return a <= b;
    case Order::greater: return a > b;
    case Order::greater_equal: return a >= b;
    case Order::equal: return a == b;
    case Order::unequal: return a != b;
    }
    return false;
}

/// Upper words compare together with the outcome of the lower ones.
bool holds_above(Order order, std::int64_t a, std::int64_t b, bool below) {
    if (a == b) return below;
    return holds(order, a, b);
}

Action isetp(const Instruction& i) {
    const bool is_signed = !i.has("U32"), extended = i.has("EX");
    const char combination = i.has("OR") ? '|' : i.has("XOR") ? '^' : '&';
    if (i.operands.size() < (extended ? 6U : 5U)) throw unknown(i);
    return [operands = i.operands, order = order_of(i), is_signed, extended, combination](Warp& warp,
                                                                                          LaneMask lanes) {
        const Lanes a = warp.value(operands[2]), b = warp.value(operands[3]);
        const LaneMask below = extended ? warp.predicate(operands[5]) : 0;
        const LaneMask set = lanes_where([&](int lane) {
            const std::int64_t x = is_signed ? signed_word(a[lane]) : std::int64_t{a[lane]};
            const std::int64_t y = is_signed ? signed_word(b[lane]) : std::int64_t{b[lane]};
            return extended ? holds_above(order, x, y, (below >> lane & 1) != 0) : holds(order, x, y);
        });
        warp.write_comparison(operands, lanes, set, combination);
    };
}

Action select_integer(const Instruction& i) {
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        const Lanes a = warp.value(operands[1]), b = warp.value(operands[2]);
        const LaneMask first = warp.predicate(operands[3]);
        Lanes result;
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = (first >> lane & 1) != 0 ? a[lane] : b[lane];
        warp.write(operands[0], lanes, result);
    };
}

/// The least or the greatest of the sources; the predicate behind them says which. VIADDMNMX adds the first two.
Action minmax_of_integers(const Instruction& i) {
    const bool is_signed = !i.has("U32"), adds = i.base == "VIADDMNMX", clamps = i.has("RELU");
    return [operands = i.operands, is_signed, adds, clamps](Warp& warp, LaneMask lanes) {
        const LaneMask least = warp.predicate(operands.back());
        Lanes result = warp.value(operands[1]);
        for (std::size_t k = 2; k + 1 < operands.size(); ++k) {
            const Lanes other = warp.value(operands[k]);
            for (int lane = 0; lane < warp_size; ++lane) {
                const bool other_is_less = is_signed ? signed_word(other[lane]) < signed_word(result[lane])
                                                     : other[lane] < result[lane];
                if (adds && k == 2)
                    result[lane] += other[lane];
                else if (other_is_less == ((least >> lane & 1) != 0))
                    result[lane] = other[lane];
            }
        }
        for (std::uint32_t& value : result)
            if (clamps && signed_word(value) < 0) value = 0;
        warp.write(operands[0], lanes, result);
    };
}

std::uint32_t permuted(std::uint32_t low, std::uint32_t selection, std::uint32_t high) {
    const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
    std::uint32_t result = 0;
    for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t selector = selection >> 4 * k & 15;
        std::uint32_t byte = static_cast<std::uint32_t>(bytes >> 8 * (selector & 7)) & 0xFF;
        if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0; // the sign alone
        result |= byte << 8 * k;
    }
    return result;
}

Action prmt(const Instruction& i) { return lanewise<3>(i, permuted); }

Action popc(const Instruction& i) {
    return lanewise<1>(i, [](std::uint32_t a) { return static_cast<std::uint32_t>(std::popcount(a)); });
}

Action flo(const Instruction& i) {
    const bool as_shift = i.has("SH"), is_signed = !i.has("U32");
    return lanewise<1>(i, [=](std::uint32_t a) {
        if (is_signed && signed_word(a) < 0) a = ~a;
        const auto zeros = static_cast<std::uint32_t>(std::countl_zero(a));
        return a == 0 ? 0xFFFF'FFFF : as_shift ? zeros : 31 - zeros;
    });
}

Action brev(const Instruction& i) {
    return lanewise<1>(i, [](std::uint32_t a) {
        std::uint32_t result = 0;
        for (int k = 0; k < 32; ++k) result |= (a >> k & 1) << (31 - k);
        return result;
    });
}

Action iabs(const Instruction& i) {
    return lanewise<1>(i, [](std::uint32_t a) { return signed_word(a) < 0 ? 0 - a : a; });
}

/// SGXT R4, R3, 0x7: the lowest bits of a word, with their sign or none.
Action extend(const Instruction& i) {
    return lanewise<2>(i, [is_signed = !i.has("U32")](std::uint32_t a, std::uint32_t bits) -> std::uint32_t {
        if (bits == 0 || bits > 31) return bits == 0 ? 0 : a;
        const std::uint32_t unused = 32 - bits;
        return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(a << unused) >> unused)
                         : a << unused >> unused;
    });
}

/// A part of a word as a number: \param k-th of those of so many bits.
std::int64_t part_of(std::uint32_t word, std::uint32_t k, std::uint32_t bits, bool is_signed) {
    const std::uint32_t part = word << (32 - bits * (k + 1)) >> (32 - bits);
    return is_signed && part >> (bits - 1) != 0 ? std::int64_t{part} - (std::int64_t{1} << bits)
                                                : std::int64_t{part};
}

/// IDP.4A.S8.S8 R4, R5, R6, R7: four products of bytes; 2A: two of halves, and of the lower or the upper two bytes.
Action dot_product(const Instruction& i) {
    const bool four = i.has("4A"), high = i.has("HI");
    if (i.modifiers.size() < 3) throw unknown(i);
    const bool first = i.modifiers[i.modifiers.size() - 2].starts_with("S"),
               second = i.modifiers.back().starts_with("S");
    return lanewise<3>(i, [=](std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
        for (std::uint32_t k = 0; k < (four ? 4U : 2U); ++k)
            sum += static_cast<std::uint32_t>(part_of(a, k, four ? 8 : 16, first) *
                                              part_of(b, four || !high ? k : k + 2, 8, second));
        return sum;
    });
}

/// VABSDIFF.U32 R13, R0, R13, 0x1
Action absolute_difference(const Instruction& i) {
    return lanewise<3>(i, [is_signed = !i.has("U32")](std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
        const bool less = is_signed ? signed_word(a) < signed_word(b) : a < b;
        return sum + (less ? b - a : a - b);
    });
}

/// P2R R5, PR, R6, 0x8: these predicates as bits, the others of a word.
Action p2r(const Instruction& i) {
    if (i.operands.size() != 4) throw unknown(i);
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        const Lanes others = warp.value(operands[2]);
        const auto mask = static_cast<std::uint32_t>(operands[3].bits);
        Lanes result;
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = (warp.predicates_of(lane) & mask) | (others[lane] & ~mask);
        warp.write(operands[0], lanes, result);
    };
}

/// R2P PR, R5, 0x8
Action r2p(const Instruction& i) {
    if (i.operands.size() != 3) throw unknown(i);
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        const Lanes values = warp.value(operands[1]);
        for_each_lane(lanes, [&](int lane) {
            warp.set_predicates(lane, values[lane], static_cast<std::uint32_t>(operands[2].bits));
        });
    };
}

/// LDC, ULDC. Lanes with different offsets are served one offset after the other.
Action load_constant(const Instruction& i) {
    const std::uint32_t bytes = bytes_of(i), words = (bytes + 3) / 4;
    const bool is_signed = i.has("S8") || i.has("S16");
    if (i.operands.size() != 2 || i.operands[1].kind != Kind::constant) throw unknown(i);
    return [to = i.operands[0], from = i.operands[1], bytes, words, is_signed](Warp& warp, LaneMask lanes) {
        const Lanes offsets = warp.constant_offsets(from);
        warp.step.same = distinct(offsets, lanes);
        for (std::uint32_t k = 0; k < words; ++k) {
            Operand part = to;
            if (to.index != zero_register && to.index != zero_uniform_register)
                part.index += static_cast<std::uint8_t>(k);
            Lanes values{};
            for_each_lane(lanes, [&](int lane) {
                const std::uint32_t place = offsets[lane] + 4 * k;
                if (bytes >= 4) {
                    values[lane] = warp.block().constant(from.index, place);
                    return;
                }
                const std::uint32_t whole = warp.block().constant(from.index, place & ~3U) >> place % 4 * 8;
                const std::uint32_t unused = 32 - 8 * bytes;
                values[lane] =
                    is_signed
                        ? static_cast<std::uint32_t>(static_cast<std::int32_t>(whole << unused) >> unused)
                        : whole << unused >> unused;
            });
            warp.write(part, lanes, values);
        }
    };
}

std::uint32_t thread_extent(const Warp& warp, int lane, char axis) {
    const Dim3 extents = warp.block().launch().block;
    const std::uint64_t thread = std::uint64_t{warp.number()} * warp_size + static_cast<std::uint32_t>(lane);
    const Dim3 place{static_cast<std::uint32_t>(thread % extents.x),
                     static_cast<std::uint32_t>(thread / extents.x % extents.y),
                     static_cast<std::uint32_t>(thread / extents.x / extents.y)};
    return axis == 'X' ? place.x : axis == 'Y' ? place.y : place.z;
}

Action special_register(const Instruction& i) {
    const std::string name = i.operands.at(1).text;
    const Operand to = i.operands[0];
    const char axis = name.back();
    if (name == "SRZ" || name.starts_with("SR_CLOCK") ||
        name.starts_with("SR_GLOBALTIMER")) { // time stands still
        return [to, wide = i.base == "CS2R" && !i.has("32")](Warp& warp, LaneMask lanes) {
            wide ? warp.write_wide(to, lanes, {}) : warp.write(to, lanes, {});
        };
    }
    if (name == "SR_SWINHI")
        return [to](Warp& warp, LaneMask lanes) {
            Lanes values;
            values.fill(shared_window);
            warp.write(to, lanes, values);
        };
    if (name.starts_with("SR_TID."))
        return [to, axis](Warp& warp, LaneMask lanes) {
            Lanes values;
            for (int lane = 0; lane < warp_size; ++lane) values[lane] = thread_extent(warp, lane, axis);
            warp.write(to, lanes, values);
        };
    if (name == "SR_LANEID")
        return [to](Warp& warp, LaneMask lanes) {
            Lanes values;
            for (int lane = 0; lane < warp_size; ++lane) values[lane] = static_cast<std::uint32_t>(lane);
            warp.write(to, lanes, values);
        };
    if (name == "SR_EQMASK" || name == "SR_LTMASK" || name == "SR_LEMASK" || name == "SR_GTMASK" ||
        name == "SR_GEMASK")
        return [to, equal = name[3] == 'E' || name[4] == 'E', lower = name[3] == 'L',
                higher = name[3] == 'G'](Warp& warp, LaneMask lanes) {
            Lanes values;
            for (int lane = 0; lane < warp_size; ++lane) {
                const LaneMask own = LaneMask{1} << lane, below = own - 1;
                values[lane] = (equal ? own : 0) | (lower ? below : 0) | (higher ? ~(own | below) : 0);
            }
            warp.write(to, lanes, values);
        };
    if (name.starts_with("SR_CTAID.") || name == "SR_CgaCtaId" || name == "SR_VIRTUALSMID")
        return [to, axis](Warp& warp, LaneMask lanes) {
            const Dim3 block = warp.block().index();
            Lanes values;
            values.fill(axis == 'X' ? block.x : axis == 'Y' ? block.y : axis == 'Z' ? block.z : 0);
            warp.write(to, lanes, values);
        };
    throw NotUnderstood("the model does not know the special register " + name);
}

} // namespace

std::span<const Opcode> integer_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"MOV", " ", move},
        {"R2UR", " ", move},
        {"IADD3", " X ", add},
        {"VIADD", " ", add},
        {"IMAD", " MOV IADD SHL U32 WIDE HI X ", imad},
        {"LEA", " HI X SX32 ", lea},
        {"SHF", " L R U32 S32 U64 S64 HI W ", shift},
        {"LOP3", " LUT PAND ", lop3},
        {"PLOP3", " LUT ", plop3},
        {"ISETP", " LT LE GT GE EQ NE U32 AND OR XOR EX ", isetp},
        {"SEL", " ", select_integer},
        {"VIMNMX", " U32 RELU ", minmax_of_integers},
        {"VIMNMX3", " U32 RELU ", minmax_of_integers},
        {"VIADDMNMX", " U32 RELU ", minmax_of_integers},
        {"PRMT", " ", prmt},
        {"POPC", " ", popc},
        {"FLO", " U32 SH ", flo},
        {"BREV", " ", brev},
        {"IABS", " ", iabs},
        {"P2R", " ", p2r},
        {"R2P", " ", r2p},
        {"SGXT", " U32 ", extend},
        {"IDP", " 4A 2A LO HI U8 S8 U16 S16 ", dot_product},
        {"VABSDIFF", " U32 ", absolute_difference},
        {"LDC", " U8 S8 U16 S16 64 128 ", load_constant},
        {"S2R", " ", special_register},
        {"S2UR", " ", special_register},
        {"CS2R", " 32 ", special_register},
    };
    return opcodes;
}

} // namespace emulator::machine_code
