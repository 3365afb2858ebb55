/// Bits: and, or, xor, not, cnot, lop3, shl, shr, shf, popc, clz, brev, bfind, fns, bfe, bfi, bmsk, prmt.
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"

#include <algorithm>
#include <bit>

namespace emulator {

namespace {

using ptx::Type;
using std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t, std::int32_t, std::int64_t;

// ---- scalar operations ----

struct And {
    template <class T> constexpr T operator()(T a, T b) const { return a & b; }
};
struct Or {
    template <class T> constexpr T operator()(T a, T b) const { return a | b; }
};
struct ExclusiveOr {
    template <class T> constexpr T operator()(T a, T b) const { return a ^ b; }
};
struct Not {
    template <class T> constexpr T operator()(T a) const { return static_cast<T>(~a); }
};
struct LogicalNot {
    template <class T> constexpr T operator()(T a) const { return a == 0 ? 1 : 0; }
};
/// Shift amounts beyond the width shift everything out.
struct ShiftLeft {
    template <class T> constexpr T operator()(T a, uint32_t count) const {
        return count < 8 * sizeof(T) ? static_cast<T>(static_cast<Cell<T>>(a) << count) : T{0};
    }
};
struct ShiftRight {
    template <class T> constexpr T operator()(T a, uint32_t count) const {
        constexpr uint32_t widest = 8 * sizeof(T) - 1;
        if (std::is_signed_v<T>) return static_cast<T>(a >> (count < widest ? count : widest));
        return count <= widest ? static_cast<T>(a >> count) : T{0};
    }
};
/// The 64 bits b:a, shifted by c: `wraps` takes c modulo 32, otherwise it is clamped to 32.
template <bool left, bool wraps> struct FunnelShift {
    constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        const uint32_t count = wraps ? c & 31 : (c < 32 ? c : 32);
        const uint64_t both = uint64_t{b} << 32 | a;
        return static_cast<uint32_t>(left ? both << count >> 32 : both >> count);
    }
};
struct PopulationCount {
    template <class T> constexpr uint32_t operator()(T a) const {
        return static_cast<uint32_t>(std::popcount(a));
    }
};
struct CountLeadingZeros {
    template <class T> constexpr uint32_t operator()(T a) const {
        return static_cast<uint32_t>(std::countl_zero(a));
    }
};
struct ReverseBits {
    template <class T> constexpr T operator()(T a) const {
        T result = 0;
        for (std::size_t i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1 | (a >> i & 1));
        return result;
    }
};
/// The position of the highest bit that differs from the sign (of an unsigned number: is set); all ones if
/// there is none.
template <bool as_shift_amount> struct FindHighestBit {
    template <class T> constexpr uint32_t operator()(T a) const {
        const auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
        if (bits == 0) return 0xFFFF'FFFF;
        const auto leading = static_cast<uint32_t>(std::countl_zero(bits));
        return as_shift_amount ? leading : static_cast<uint32_t>(8 * sizeof(T)) - 1 - leading;
    }
};
/// The lowest `count` bits.
template <class T> constexpr T low_bits(uint32_t count) {
    return count < 8 * sizeof(T) ? static_cast<T>((T{1} << count) - 1) : static_cast<T>(~T{0});
}
/// `length` bits of a from `first` up, sign-extended from the highest bit taken (or the highest that exists).
struct ExtractBits {
    template <class T> constexpr T operator()(T a, uint32_t first, uint32_t length) const {
        constexpr uint32_t highest = 8 * sizeof(T) - 1;
        first &= 0xFF;
        length &= 0xFF;
        const uint32_t sign_place = first + length - 1 < highest ? first + length - 1 : highest;
        const bool sign = std::is_signed_v<T> && length != 0 && (a >> sign_place & 1) != 0;
        using Bits = std::make_unsigned_t<T>;
        const uint32_t count = first > highest ? 0 : std::min(length, highest + 1 - first);
        const Bits taken = static_cast<Bits>(a) >> (first & highest) & low_bits<Bits>(count);
        return static_cast<T>(sign ? taken | ~low_bits<Bits>(count) : taken);
    }
};
/// b with `length` bits of a put in from `first` up.
struct InsertBits {
    template <class T> constexpr T operator()(T a, T b, uint32_t first, uint32_t length) const {
        first &= 0xFF;
        if (first >= 8 * sizeof(T)) return b;
        const T taken = low_bits<T>(length & 0xFF) << first;
        return (b & ~taken) | (a << first & taken);
    }
};
/// `count` ones from `first` up.
template <bool wraps> struct BitMask {
    constexpr uint32_t operator()(uint32_t first, uint32_t count) const {
        if (wraps) {
            first &= 31;
            count &= 31;
        }
        if (first >= 32) return 0;
        const uint64_t ones = count >= 32 ? 0xFFFF'FFFFull : (1ull << count) - 1;
        return static_cast<uint32_t>(ones << first);
    }
};
/// The position of the offset-th set bit of `mask`, counted from `base` up (offset > 0) or down (offset < 0).
struct FindNthSet {
    constexpr uint32_t operator()(uint32_t mask, uint32_t base, int32_t offset) const {
        base &= 31;
        if (offset == 0) return (mask >> base & 1) != 0 ? base : 0xFFFF'FFFF;
        const int step = offset > 0 ? 1 : -1;
        int64_t left = offset > 0 ? int64_t{offset} : -int64_t{offset};
        for (int place = static_cast<int>(base); place >= 0 && place < 32; place += step)
            if ((mask >> place & 1) != 0 && --left == 0) return static_cast<uint32_t>(place);
        return 0xFFFF'FFFF;
    }
};

/// Byte `place` of the eight bytes b:a, or its sign spread over a byte.
constexpr uint32_t pick_byte(uint64_t bytes, uint32_t selector) {
    const auto byte = static_cast<uint32_t>(bytes >> (8 * (selector & 7)) & 0xFF);
    if ((selector & 8) == 0) return byte;
    return (byte & 0x80) != 0 ? 0xFF : 0;
}
constexpr uint32_t four_bytes(uint64_t bytes, uint32_t selectors) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) result |= pick_byte(bytes, selectors >> (4 * i) & 15) << (8 * i);
    return result;
}
struct PermuteBytes {
    constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        return four_bytes(uint64_t{b} << 32 | a, c);
    }
};
/// The fixed permutations of `prmt`, by c modulo 4.
template <uint16_t for_0, uint16_t for_1, uint16_t for_2, uint16_t for_3> struct PermuteBytesBy {
    constexpr uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
        const uint16_t selectors[] = {for_0, for_1, for_2, for_3};
        return four_bytes(uint64_t{b} << 32 | a, selectors[c & 3]);
    }
};

// ---- decoding ----

template <class Operation> struct OnPredicates {
    static void execute(Warp& warp, const Instruction& instruction, LaneMask active) {
        const LaneMask a = instruction.as_read(0, warp.predicate(instruction.sources[0]));
        const LaneMask b = instruction.sources[1] == no_row
                               ? 0
                               : instruction.as_read(1, warp.predicate(instruction.sources[1]));
        LaneMask& result = warp.predicate(instruction.destination);
        result = (result & ~active) | (Operation::apply(a, b) & active);
    }
};
struct AndMasks {
    static LaneMask apply(LaneMask a, LaneMask b) { return a & b; }
};
struct OrMasks {
    static LaneMask apply(LaneMask a, LaneMask b) { return a | b; }
};
struct XorMasks {
    static LaneMask apply(LaneMask a, LaneMask b) { return a ^ b; }
};
struct NotMask {
    static LaneMask apply(LaneMask a, LaneMask) { return ~a; }
};

void take_predicates(Decoding& statement, std::size_t arity) {
    statement.expect_operands(arity + 1, arity + 1);
    statement.instruction.destination = statement.destination(0, Type::pred);
    for (std::size_t k = 0; k < arity; ++k) statement.take_predicate(k, statement.operand(k + 1));
}

template <auto operation, std::size_t arity, class OnMasks> void decode_bitwise(Decoding& statement) {
    const Type type = statement.take_type();
    if (type == Type::pred) {
        take_predicates(statement, arity);
        return statement.execute_with(&OnPredicates<OnMasks>::execute);
    }
    take_operands(statement, type, arity);
    switch (type) {
    case Type::b16: return statement.execute_with(same_type_handler<operation, uint16_t, arity>());
    case Type::b32: return statement.execute_with(same_type_handler<operation, uint32_t, arity>());
    case Type::b64: return statement.execute_with(same_type_handler<operation, uint64_t, arity>());
    default: statement.no_such_type(type);
    }
}

template <auto operation> void decode_shift(Decoding& statement) {
    const Type type = statement.take_type();
    statement.expect_operands(3, 3);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, Type::u32);
    switch (type) {
    case Type::b16:
    case Type::u16: return statement.execute_with(&lanewise<operation, uint16_t, uint16_t, uint32_t>);
    case Type::s16: return statement.execute_with(&lanewise<operation, int16_t, int16_t, uint32_t>);
    case Type::b32:
    case Type::u32: return statement.execute_with(&lanewise<operation, uint32_t, uint32_t, uint32_t>);
    case Type::s32: return statement.execute_with(&lanewise<operation, int32_t, int32_t, uint32_t>);
    case Type::b64:
    case Type::u64: return statement.execute_with(&lanewise<operation, uint64_t, uint64_t, uint32_t>);
    case Type::s64: return statement.execute_with(&lanewise<operation, int64_t, int64_t, uint32_t>);
    default: statement.no_such_type(type);
    }
}

void decode_funnel_shift(Decoding& statement) {
    const std::string_view direction = statement.take_any({".l", ".r"});
    const std::string_view mode = statement.take_any({".wrap", ".clamp"});
    const Type type = statement.take_type();
    if (type != Type::b32 || direction.empty() || mode.empty()) statement.no_such_type(type);
    take_operands(statement, Type::b32, 3);
    const bool left = direction == ".l", wraps = mode == ".wrap";
    using Wl = FunnelShift<true, true>;
    using Wr = FunnelShift<false, true>;
    using Cl = FunnelShift<true, false>;
    using Cr = FunnelShift<false, false>;
    if (wraps)
        statement.execute_with(left ? same_type_handler<Wl{}, uint32_t, 3>()
                                    : same_type_handler<Wr{}, uint32_t, 3>());
    else
        statement.execute_with(left ? same_type_handler<Cl{}, uint32_t, 3>()
                                    : same_type_handler<Cr{}, uint32_t, 3>());
}

/// Counts of bits: the result has 32 bits whatever the operand's width.
template <auto operation> void decode_count(Decoding& statement) {
    const Type type = statement.take_type();
    statement.expect_operands(2, 2);
    statement.instruction.destination = statement.destination(0, Type::u32);
    statement.instruction.sources[0] = statement.source(1, type);
    switch (type) {
    case Type::b32:
    case Type::u32: return statement.execute_with(&lanewise<operation, uint32_t, uint32_t>);
    case Type::b64:
    case Type::u64: return statement.execute_with(&lanewise<operation, uint32_t, uint64_t>);
    case Type::s32: return statement.execute_with(&lanewise<operation, uint32_t, int32_t>);
    case Type::s64: return statement.execute_with(&lanewise<operation, uint32_t, int64_t>);
    default: statement.no_such_type(type);
    }
}

template <auto operation> void decode_bit_count(Decoding& statement) {
    const Type type = statement.take_type();
    statement.expect_operands(2, 2);
    statement.instruction.destination = statement.destination(0, Type::u32);
    statement.instruction.sources[0] = statement.source(1, type);
    if (type == Type::b32)
        statement.execute_with(&lanewise<operation, uint32_t, uint32_t>);
    else if (type == Type::b64)
        statement.execute_with(&lanewise<operation, uint32_t, uint64_t>);
    else
        statement.no_such_type(type);
}

void decode_bfind(Decoding& statement) {
    if (statement.take(".shiftamt"))
        decode_count<FindHighestBit<true>{}>(statement);
    else
        decode_count<FindHighestBit<false>{}>(statement);
}

void decode_brev(Decoding& statement) {
    const Type type = statement.take_type();
    take_operands(statement, type, 1);
    if (type == Type::b32)
        statement.execute_with(&lanewise<ReverseBits{}, uint32_t, uint32_t>);
    else if (type == Type::b64)
        statement.execute_with(&lanewise<ReverseBits{}, uint64_t, uint64_t>);
    else
        statement.no_such_type(type);
}

void decode_bfe(Decoding& statement) {
    const Type type = statement.take_type();
    statement.expect_operands(4, 4);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, Type::u32);
    statement.instruction.sources[2] = statement.source(3, Type::u32);
    switch (type) {
    case Type::u32:
        return statement.execute_with(&lanewise<ExtractBits{}, uint32_t, uint32_t, uint32_t, uint32_t>);
    case Type::s32:
        return statement.execute_with(&lanewise<ExtractBits{}, int32_t, int32_t, uint32_t, uint32_t>);
    case Type::u64:
        return statement.execute_with(&lanewise<ExtractBits{}, uint64_t, uint64_t, uint32_t, uint32_t>);
    case Type::s64:
        return statement.execute_with(&lanewise<ExtractBits{}, int64_t, int64_t, uint32_t, uint32_t>);
    default: statement.no_such_type(type);
    }
}

/// The one instruction with four sources.
struct FourthSource : Detail {
    Row row = no_row;
};

template <class T> void insert_bits(Warp& warp, const Instruction& instruction, LaneMask active) {
    T* const result = warp.cells<T>(instruction.destination);
    const T* const a = warp.cells<T>(instruction.sources[0]);
    const T* const b = warp.cells<T>(instruction.sources[1]);
    const uint32_t* const first = warp.cells<uint32_t>(instruction.sources[2]);
    const uint32_t* const length = warp.cells<uint32_t>(instruction.detail_as<FourthSource>().row);
#pragma GCC ivdep // two rows are the same or don't overlap
    for (int lane = 0; lane < warp_size; ++lane) {
        const T value = InsertBits{}(a[lane], b[lane], first[lane], length[lane]);
        result[lane] = (active >> lane & 1) != 0 ? value : result[lane];
    }
}

void decode_bfi(Decoding& statement) {
    const Type type = statement.take_type();
    statement.expect_operands(5, 5);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, type);
    statement.instruction.sources[2] = statement.source(3, Type::u32);
    statement.detail<FourthSource>().row = statement.source(4, Type::u32);
    if (type == Type::b32)
        statement.execute_with(&insert_bits<uint32_t>);
    else if (type == Type::b64)
        statement.execute_with(&insert_bits<uint64_t>);
    else
        statement.no_such_type(type);
}

void decode_bmsk(Decoding& statement) {
    const std::string_view mode = statement.take_any({".wrap", ".clamp"});
    if (mode.empty()) statement.invalid(statement.statement().place, "bmsk needs .wrap or .clamp");
    const Type type = statement.take_type();
    if (type != Type::b32) statement.no_such_type(type);
    take_operands(statement, type, 2);
    statement.execute_with(mode == ".wrap" ? same_type_handler<BitMask<true>{}, uint32_t, 2>()
                                           : same_type_handler<BitMask<false>{}, uint32_t, 2>());
}

void decode_fns(Decoding& statement) {
    const Type type = statement.take_type();
    if (type != Type::b32) statement.no_such_type(type);
    take_operands(statement, type, 3);
    statement.execute_with(&lanewise<FindNthSet{}, uint32_t, uint32_t, uint32_t, int32_t>);
}

/// Bit i of the table is the result where (a, b, c) are the bits of i.
void three_input_logic(Warp& warp, const Instruction& instruction, LaneMask active) {
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    const uint32_t* const a = warp.cells<uint32_t>(instruction.sources[0]);
    const uint32_t* const b = warp.cells<uint32_t>(instruction.sources[1]);
    const uint32_t* const c = warp.cells<uint32_t>(instruction.sources[2]);
    const auto table = static_cast<uint32_t>(instruction.immediate);
    for_each_lane(active, [&](int lane) {
        uint32_t value = 0;
        for (uint32_t i = 0; i < 8; ++i)
            if ((table >> i & 1) != 0)
                value |= (i & 4 ? a[lane] : ~a[lane]) & (i & 2 ? b[lane] : ~b[lane]) &
                         (i & 1 ? c[lane] : ~c[lane]);
        result[lane] = value;
    });
}

/// The predicate to combine with the result's.
struct PredicateDetail : Detail {
    Row row = no_row;
    bool negated = false;
    bool is_and = false; ///< else or
};

/// d|p: the predicate is whether the result has bits, combined with another one.
void three_input_logic_and_predicate(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& detail = instruction.detail_as<PredicateDetail>();
    three_input_logic(warp, instruction, active);
    const uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    const LaneMask other = warp.predicate(detail.row) ^ (detail.negated ? all_lanes : 0);
    LaneMask found = 0;
    for_each_lane(active, [&](int lane) { found |= LaneMask{result[lane] != 0} << lane; });
    found = detail.is_and ? found & other : found | other;
    LaneMask& predicate = warp.predicate(instruction.second);
    predicate = (predicate & ~active) | (found & active);
}

/// lop3.{and|or}.b32 d|p, a, b, c, table, [!]q
void decode_lop3_with_predicate(Decoding& statement, std::string_view combination) {
    statement.expect_operands(6, 6);
    const ptx::Operand& target = statement.operand(0);
    if (target.kind != ptx::Operand::Kind::pair)
        statement.invalid(target.place, "this lop3 writes a register and a predicate: d|p");
    const bool is_used = target.elements[0].kind != ptx::Operand::Kind::sink;
    statement.instruction.destination =
        is_used ? statement.destination(target.elements[0], Type::b32) : statement.scratch_row();
    statement.instruction.second = statement.destination(target.elements[1], Type::pred);
    for (std::size_t k = 0; k < 3; ++k) statement.instruction.sources[k] = statement.source(k + 1, Type::b32);
    statement.instruction.immediate = statement.constant(statement.operand(4)) & 0xFF;
    auto& detail = statement.detail<PredicateDetail>();
    detail.row = statement.predicate(statement.operand(5), detail.negated);
    detail.is_and = combination == ".and";
    statement.execute_with(&three_input_logic_and_predicate);
}

void decode_lop3(Decoding& statement) {
    const std::string_view combination = statement.take_any({".and", ".or"});
    const Type type = statement.take_type();
    if (type != Type::b32) statement.no_such_type(type);
    if (!combination.empty()) return decode_lop3_with_predicate(statement, combination);
    statement.expect_operands(5, 5);
    statement.instruction.destination = statement.destination(0, type);
    for (std::size_t k = 0; k < 3; ++k) statement.instruction.sources[k] = statement.source(k + 1, type);
    statement.instruction.immediate = statement.constant(statement.operand(4)) & 0xFF;
    statement.execute_with(&three_input_logic);
}

void decode_prmt(Decoding& statement) {
    const Type type = statement.take_type();
    if (type != Type::b32) statement.no_such_type(type);
    const std::string_view mode = statement.take_any({".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"});
    take_operands(statement, type, 3);
    const Handler handler =
        mode.empty()     ? same_type_handler<PermuteBytes{}, uint32_t, 3>()
        : mode == ".f4e" ? same_type_handler<PermuteBytesBy<0x3210, 0x4321, 0x5432, 0x6543>{}, uint32_t, 3>()
        : mode == ".b4e" ? same_type_handler<PermuteBytesBy<0x5670, 0x6701, 0x7012, 0x0123>{}, uint32_t, 3>()
        : mode == ".rc8" ? same_type_handler<PermuteBytesBy<0x0000, 0x1111, 0x2222, 0x3333>{}, uint32_t, 3>()
        : mode == ".ecl" ? same_type_handler<PermuteBytesBy<0x3210, 0x3211, 0x3222, 0x3333>{}, uint32_t, 3>()
        : mode == ".ecr" ? same_type_handler<PermuteBytesBy<0x0000, 0x1110, 0x2210, 0x3210>{}, uint32_t, 3>()
                         : same_type_handler<PermuteBytesBy<0x1010, 0x3232, 0x1010, 0x3232>{}, uint32_t, 3>();
    statement.execute_with(handler);
}

} // namespace

std::span<const Opcode> logic_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"and", decode_bitwise<And{}, 2, AndMasks>},
        {"or", decode_bitwise<Or{}, 2, OrMasks>},
        {"xor", decode_bitwise<ExclusiveOr{}, 2, XorMasks>},
        {"not", decode_bitwise<Not{}, 1, NotMask>},
        {"cnot", decode_bitwise<LogicalNot{}, 1, NotMask>},
        {"lop3", decode_lop3},
        {"shl", decode_shift<ShiftLeft{}>},
        {"shr", decode_shift<ShiftRight{}>},
        {"shf", decode_funnel_shift},
        {"popc", decode_bit_count<PopulationCount{}>},
        {"clz", decode_bit_count<CountLeadingZeros{}>},
        {"brev", decode_brev},
        {"bfind", decode_bfind},
        {"fns", decode_fns},
        {"bfe", decode_bfe},
        {"bfi", decode_bfi},
        {"bmsk", decode_bmsk},
        {"prmt", decode_prmt},
    };
    return opcodes;
}

} // namespace emulator
