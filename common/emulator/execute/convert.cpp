/// Moves and conversions: mov, cvt, cvta, isspacep, mapa, getctarank.
#include "emulator/execute/families.hpp"
#include "emulator/execute/fp16.hpp"
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"
#include "emulator/execute/rounding.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/memory/address_space.hpp"

#include <cfenv>
#include <chrono>
#include <cmath>
#include <limits>

namespace emulator {

namespace {

using ptx::Operand, ptx::Space, ptx::Type;
using std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t, std::int32_t, std::int64_t;

bool is_floating_point(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

// ---- cvt: the scalar function ----

struct Conversion {
    Type to = Type::none, from = Type::none;
    int rounding = 0;             ///< an FE_ macro of `<cfenv>`
    bool to_whole_number = false; ///< .rni .rzi .rmi .rpi
    bool ftz = false, sat = false, relu = false;
};

uint64_t extend(uint64_t bits, Type type) {
    const uint32_t unused = 64 - 8 * ptx::size_of(type);
    if (ptx::is_signed(type)) return static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
    return bits << unused >> unused;
}

struct Range {
    __int128 least, greatest;
};

Range range_of(Type type) {
    const uint32_t width = 8 * ptx::size_of(type);
    const __int128 one = 1;
    if (ptx::is_signed(type)) return {-(one << (width - 1)), (one << (width - 1)) - 1};
    return {0, (one << width) - 1};
}

uint64_t integer_to_integer(uint64_t bits, const Conversion& conversion) {
    const uint64_t value = extend(bits, conversion.from);
    if (!conversion.sat) return extend(value, conversion.to);
    const __int128 exact =
        ptx::is_signed(conversion.from) ? __int128{static_cast<int64_t>(value)} : __int128{value};
    const Range range = range_of(conversion.to);
    return extend(static_cast<uint64_t>(exact < range.least      ? range.least
                                        : exact > range.greatest ? range.greatest
                                                                 : exact),
                  conversion.to);
}

double flush(double value, Type type) {
    if (type == Type::f32 && std::fabs(value) < std::numeric_limits<float>::min())
        return std::copysign(0.0, value);
    return value;
}

double read_floating_point(uint64_t bits, Type type) {
    switch (type) {
    case Type::f16: return to_double(Half{static_cast<uint16_t>(bits)});
    case Type::bf16: return to_double(BFloat{static_cast<uint16_t>(bits)});
    case Type::f32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default: return std::bit_cast<double>(bits);
    }
}

/// Rounds to whole numbers under `rounding`, whatever the thread's rounding mode is.
double whole_number(double value, int rounding) {
    switch (rounding) {
    case FE_TOWARDZERO: return std::trunc(value);
    case FE_DOWNWARD: return std::floor(value);
    case FE_UPWARD: return std::ceil(value);
    default: return std::nearbyint(value);
    }
}

uint64_t floating_point_to_integer(double value, const Conversion& conversion) {
    const uint32_t width = 8 * ptx::size_of(conversion.to);
    if (std::isnan(value)) { // as the PTX ISA has it
        const bool zero = conversion.from != Type::f64 && width != 64;
        return zero ? 0 : extend(uint64_t{1} << (width - 1), conversion.to);
    }
    const double whole = whole_number(value, conversion.rounding);
    const Range range = range_of(conversion.to); // values beyond the range are clamped to it
    if (whole <= static_cast<double>(range.least))
        return extend(static_cast<uint64_t>(range.least), conversion.to);
    if (whole >= static_cast<double>(range.greatest))
        return extend(static_cast<uint64_t>(range.greatest), conversion.to);
    return extend(static_cast<uint64_t>(static_cast<__int128>(whole)), conversion.to);
}

#ifdef __x86_64__
/// Result(value) under a rounding mode. `volatile` keeps the compiler from moving the conversion out of it.
template <class Result, class Source> Result rounded(Source value, int rounding) {
    if (rounding == FE_TONEAREST) return static_cast<Result>(value);
    const volatile Source input = value;
    std::fesetround(rounding);
    const volatile Result result = static_cast<Result>(input);
    std::fesetround(FE_TONEAREST);
    return result;
}
#else
template <class Result, class Source> Result rounded(Source value, int rounding) {
    return converted_in_mode<Result>(value, rounding);
}
#endif

/// Whether `.ftz` turns it into a zero. A device decides that as for arithmetic: if it is subnormal when
/// rounded to 24 bits with an unbounded exponent (seen on an H200).
bool is_flushed(double value, int rounding) {
    constexpr double smallest = 0x1p-126, scale = 0x1p64;
    return std::fabs(value) < smallest &&
           std::fabs(rounded<float>(value * scale, rounding)) < smallest * scale;
}

uint64_t write_floating_point(double value, const Conversion& conversion) {
    if (conversion.sat) value = value > 0 ? (value < 1 ? value : 1.0) : 0.0;
    if (conversion.relu && !(value > 0) && !std::isnan(value)) value = 0;
    switch (conversion.to) {
    case Type::f16: return from_double<Half>(value, conversion.rounding).bits;
    case Type::bf16: return from_double<BFloat>(value, conversion.rounding).bits;
    case Type::f32: {
        if (std::isnan(value)) return 0x7FFF'FFFF;
        if (conversion.ftz && is_flushed(value, conversion.rounding)) value = std::copysign(0.0, value);
        return std::bit_cast<uint32_t>(rounded<float>(value, conversion.rounding));
    }
    default: return std::bit_cast<uint64_t>(value);
    }
}

template <class Integer> uint64_t integer_to_floating_point(Integer value, const Conversion& conversion) {
    // Round once: a 64-bit integer must not pass through double on its way to float.
    if (conversion.to == Type::f32) {
        const float result = rounded<float>(value, conversion.rounding);
        return write_floating_point(result, conversion);
    }
    if (conversion.to == Type::f64)
        return std::bit_cast<uint64_t>(rounded<double>(value, conversion.rounding));
    // f16 and bf16 keep at most 11 bits: a double that records whether anything was cut off rounds the same
    // way.
    double exact = static_cast<double>(value);
    if (static_cast<__int128>(exact) != static_cast<__int128>(value)) {
        exact = rounded<double>(value, FE_TOWARDZERO);
        exact = std::bit_cast<double>(std::bit_cast<uint64_t>(exact) | 1);
    }
    return write_floating_point(exact, conversion);
}

/// Conversions from and to f64 keep a NaN's sign and as much of its payload as fits.
uint64_t convert_nan(uint64_t bits, Type from, Type to) {
    struct Format {
        uint32_t width, significand_bits;
    };
    const auto format = [](Type type) -> Format {
        if (type == Type::f64) return {64, 52};
        return type == Type::f32 ? Format{32, 23} : type == Type::f16 ? Format{16, 10} : Format{16, 7};
    };
    const Format source = format(from), result = format(to);
    const uint64_t sign = bits >> (source.width - 1) & 1, quiet = uint64_t{1} << 51;
    const uint64_t payload = (bits << (52 - source.significand_bits) & ((uint64_t{1} << 52) - 1)) | quiet;
    const uint64_t exponent = (uint64_t{1} << (result.width - 1 - result.significand_bits)) - 1;
    return sign << (result.width - 1) | exponent << result.significand_bits |
           payload >> (52 - result.significand_bits);
}

/// Converts the value in the low bits of `bits`. The result is sign- or zero-extended to 64 bits, depending
/// on `to`.
uint64_t convert(uint64_t bits, const Conversion& conversion) {
    if (!is_floating_point(conversion.from)) {
        if (!is_floating_point(conversion.to)) return integer_to_integer(bits, conversion);
        const uint64_t value = extend(bits, conversion.from);
        return ptx::is_signed(conversion.from)
                   ? integer_to_floating_point(static_cast<int64_t>(value), conversion)
                   : integer_to_floating_point(value, conversion);
    }
    // The device shifts: a NaN keeps its bits.
    if (conversion.from == Type::bf16 && conversion.to == Type::f32 && !conversion.sat)
        return (bits & 0xFFFF) << 16;
    double value = read_floating_point(bits, conversion.from);
    if (conversion.ftz) value = flush(value, conversion.from);
    if (!is_floating_point(conversion.to)) return floating_point_to_integer(value, conversion);
    if (std::isnan(value) && !conversion.sat && (conversion.from == Type::f64 || conversion.to == Type::f64))
        return convert_nan(bits, conversion.from, conversion.to);
    if (conversion.to_whole_number) value = whole_number(value, conversion.rounding);
    return write_floating_point(value, conversion);
}

// ---- cvt: handlers ----

/// Any conversion; the instruction's detail describes it.
struct ConversionDetail : Detail {
    Conversion conversion;
};

template <class To, class From> struct Cast {
    constexpr To operator()(From value) const { return static_cast<To>(value); }
};
/// Of a number in the low bits of a wide register.
template <class Low> struct ExtendLow {
    constexpr uint64_t operator()(uint64_t bits) const {
        return static_cast<uint64_t>(int64_t{static_cast<Low>(bits)});
    }
};

/// Toward zero. A value beyond the range becomes the end of the range, and NaN becomes zero.
template <class To> struct Truncate {
    constexpr To operator()(float value) const {
        constexpr auto least = std::numeric_limits<To>::min(), greatest = std::numeric_limits<To>::max();
        constexpr float past = 2 * static_cast<float>(greatest / 2 + 1);
        if (value >= past) return greatest;
        if (value > static_cast<float>(least)) return static_cast<To>(value);
        return value <= static_cast<float>(least) ? least : 0;
    }
};

/// Common conversions that take one machine instruction per lane, as rows of cells.
Handler quick_conversion(const Conversion& c, bool wide_source) {
    if (c.to_whole_number && c.rounding == FE_TOWARDZERO && c.from == Type::f32 && !c.sat && !c.ftz) {
        if (c.to == Type::s32) return &lanewise<Truncate<int32_t>{}, int32_t, float>;
        if (c.to == Type::u32) return &lanewise<Truncate<uint32_t>{}, uint32_t, float>;
    }
    if (c.sat || c.ftz || c.relu || c.to_whole_number || c.rounding != FE_TONEAREST) return nullptr;
    const auto is = [&](Type to, Type from) { return c.to == to && c.from == from; };
    if (!wide_source) {
        if (is(Type::u64, Type::u32) || is(Type::s64, Type::u32))
            return &lanewise<Cast<uint64_t, uint32_t>{}, uint64_t, uint32_t>;
        if (is(Type::s64, Type::s32) || is(Type::u64, Type::s32))
            return &lanewise<Cast<int64_t, int32_t>{}, int64_t, int32_t>;
        if (is(Type::u32, Type::u16) || is(Type::s32, Type::u16))
            return &lanewise<Cast<uint32_t, uint16_t>{}, uint32_t, uint16_t>;
        if (is(Type::s32, Type::s16) || is(Type::u32, Type::s16))
            return &lanewise<Cast<int32_t, int16_t>{}, int32_t, int16_t>;
        if (is(Type::u16, Type::u32) || is(Type::u16, Type::s32))
            return &lanewise<Cast<uint16_t, uint32_t>{}, uint16_t, uint32_t>;
        if (is(Type::f32, Type::s32)) return &lanewise<Cast<float, int32_t>{}, float, int32_t>;
        if (is(Type::f32, Type::u32)) return &lanewise<Cast<float, uint32_t>{}, float, uint32_t>;
        if (is(Type::f64, Type::s32)) return &lanewise<Cast<double, int32_t>{}, double, int32_t>;
        if (is(Type::f64, Type::u32)) return &lanewise<Cast<double, uint32_t>{}, double, uint32_t>;
        if (is(Type::f64, Type::f32)) return &lanewise<Cast<double, float>{}, double, float>;
    } else {
        if (is(Type::u32, Type::u64) || is(Type::s32, Type::s64) || is(Type::u32, Type::s64) ||
            is(Type::s32, Type::u64))
            return &lanewise<Cast<uint32_t, uint64_t>{}, uint32_t, uint64_t>;
        if (is(Type::s64, Type::s32) || is(Type::u64, Type::s32))
            return &lanewise<ExtendLow<int32_t>{}, uint64_t, uint64_t>;
        if (is(Type::s64, Type::u32) || is(Type::u64, Type::u32))
            return &lanewise<ExtendLow<uint32_t>{}, uint64_t, uint64_t>;
        if (is(Type::f32, Type::f64)) return &lanewise<Cast<float, double>{}, float, double>;
        if (is(Type::f64, Type::s64)) return &lanewise<Cast<double, int64_t>{}, double, int64_t>;
        if (is(Type::f64, Type::u64)) return &lanewise<Cast<double, uint64_t>{}, double, uint64_t>;
    }
    return nullptr;
}

template <class To, class From>
void convert_lanes(Warp& warp, const Instruction& instruction, LaneMask active) {
    const Conversion& conversion = instruction.detail_as<ConversionDetail>().conversion;
    To* const result = warp.cells<To>(instruction.destination);
    const From* const source = warp.cells<From>(instruction.sources[0]);
    for_each_lane(active,
                  [&](int lane) { result[lane] = static_cast<To>(convert(source[lane], conversion)); });
}

/// Two f32 to a pair of 16-bit numbers; the first source becomes the upper half.
void convert_pair(Warp& warp, const Instruction& instruction, LaneMask active) {
    const Conversion& conversion = instruction.detail_as<ConversionDetail>().conversion;
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    const uint32_t* const high = warp.cells<uint32_t>(instruction.sources[0]);
    const uint32_t* const low = warp.cells<uint32_t>(instruction.sources[1]);
    for_each_lane(active, [&](int lane) {
        result[lane] =
            static_cast<uint32_t>(convert(high[lane], conversion) << 16 | convert(low[lane], conversion));
    });
}

void decode_cvt(Decoding& statement) {
    if (decode_fp8_cvt(statement)) return;
    Conversion conversion;
    const std::string_view rounding =
        statement.take_any({".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"});
    conversion.rounding = rounding_mode(rounding);
    conversion.to_whole_number = rounding.size() == 4;
    conversion.relu = statement.take(".relu");
    conversion.ftz = statement.take(".ftz");
    conversion.sat = statement.take(".sat");
    conversion.to = statement.take_type();
    conversion.from = statement.take_type();
    const auto known = [](Type type) { return ptx::is_integer(type) || is_floating_point(type); };

    auto& detail = statement.detail<ConversionDetail>();
    const bool pair = conversion.to == Type::f16x2 || conversion.to == Type::bf16x2;
    if (pair) {
        if (conversion.from != Type::f32) statement.no_such_type(conversion.from);
        take_operands(statement, Type::b32, 2);
        conversion.to = conversion.to == Type::f16x2 ? Type::f16 : Type::bf16;
        detail.conversion = conversion;
        return statement.execute_with(&convert_pair);
    }
    if (!known(conversion.to)) statement.no_such_type(conversion.to);
    if (!known(conversion.from)) statement.no_such_type(conversion.from);
    statement.expect_operands(2, 2);
    bool wide_source = false, wide_result = false;
    statement.instruction.sources[0] =
        statement.loose_source(statement.operand(1), conversion.from, wide_source);
    statement.instruction.destination =
        statement.loose_destination(statement.operand(0), conversion.to, wide_result);
    detail.conversion = conversion;

    const Handler quick = wide_result == (ptx::size_of(conversion.to) == 8)
                              ? quick_conversion(conversion, wide_source)
                              : nullptr;
    if (quick)
        statement.execute_with(quick);
    else if (wide_result)
        statement.execute_with(wide_source ? &convert_lanes<uint64_t, uint64_t>
                                           : &convert_lanes<uint64_t, uint32_t>);
    else
        statement.execute_with(wide_source ? &convert_lanes<uint32_t, uint64_t>
                                           : &convert_lanes<uint32_t, uint32_t>);
}

// ---- mov ----

struct Same {
    template <class T> constexpr T operator()(T value) const { return value; }
};

constexpr Handler copy_32 = &lanewise<Same{}, uint32_t, uint32_t>;
constexpr Handler copy_64 = &lanewise<Same{}, uint64_t, uint64_t>;

void copy_predicate(Warp& warp, const Instruction& instruction, LaneMask active) {
    const LaneMask value = instruction.as_read(0, warp.predicate(instruction.sources[0]));
    LaneMask& result = warp.predicate(instruction.destination);
    result = (result & ~active) | (value & active);
}

/// Of `{a, b}`: the first one is the lowest.
struct Parts : Detail {
    std::vector<Row> rows;
    uint32_t bytes = 0; ///< of each
};

void pack(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& parts = instruction.detail_as<Parts>();
    const uint32_t part_bits = 8 * parts.bytes;
    const bool wide_part = parts.bytes == 8, wide_result = instruction.bytes == 8;
    for_each_lane(active, [&](int lane) {
        uint64_t value = 0;
        for (std::size_t i = 0; i < parts.rows.size(); ++i) {
            const uint64_t part = wide_part ? warp.cells<uint64_t>(parts.rows[i])[lane]
                                            : warp.cells<uint32_t>(parts.rows[i])[lane];
            value |= (part_bits == 64 ? part : part & ((uint64_t{1} << part_bits) - 1)) << (part_bits * i);
        }
        if (wide_result)
            warp.cells<uint64_t>(instruction.destination)[lane] = value;
        else
            warp.cells<uint32_t>(instruction.destination)[lane] = static_cast<uint32_t>(value);
    });
}

void unpack(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& parts = instruction.detail_as<Parts>();
    const uint32_t part_bits = 8 * parts.bytes;
    const bool wide_source = instruction.bytes == 8;
    for_each_lane(active, [&](int lane) {
        const uint64_t value = wide_source ? warp.cells<uint64_t>(instruction.sources[0])[lane]
                                           : warp.cells<uint32_t>(instruction.sources[0])[lane];
        for (std::size_t i = 0; i < parts.rows.size(); ++i)
            if (parts.rows[i] != no_row)
                warp.cells<uint32_t>(parts.rows[i])[lane] =
                    static_cast<uint32_t>(value >> (part_bits * i) & ((uint64_t{1} << part_bits) - 1));
    });
}

Type unsigned_of_size(uint32_t bytes) {
    return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64;
}

/// `mov.b64 d, {a, b}` or `mov.b64 {a, b}, d`.
void decode_packing(Decoding& statement, Type type, const Operand& list, bool packs) {
    const auto parts = static_cast<uint32_t>(list.elements.size());
    if ((parts != 2 && parts != 4) || ptx::size_of(type) < 2 * parts / 2 || ptx::size_of(type) % parts != 0 ||
        type == Type::b128)
        statement.unsupported(list.place, "a vector of this size is not supported here");
    const Type part = unsigned_of_size(ptx::size_of(type) / parts);
    auto& detail = statement.detail<Parts>();
    detail.bytes = ptx::size_of(part);
    statement.instruction.bytes = static_cast<std::uint16_t>(ptx::size_of(type));
    for (const Operand& element : list.elements) {
        bool wide = false;
        if (packs)
            detail.rows.push_back(statement.loose_source(element, part, wide));
        else if (element.kind == Operand::Kind::sink)
            detail.rows.push_back(no_row);
        else
            detail.rows.push_back(statement.loose_destination(element, part, wide));
        if (wide) statement.unsupported(element.place, "a 64-bit part is not supported here");
    }
    if (packs)
        statement.instruction.destination = statement.destination(0, type);
    else
        statement.instruction.sources[0] = statement.source(1, type);
    statement.execute_with(packs ? &pack : &unpack);
}

uint64_t nanoseconds() {
    using namespace std::chrono;
    return static_cast<uint64_t>(
        duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

/// The host's clocks: they never run backward. Their values have no other meaning.
template <class T, int shift> void read_clock(Warp& warp, const Instruction& instruction, LaneMask active) {
    const T now = static_cast<T>(nanoseconds() >> shift);
    T* const result = warp.cells<T>(instruction.destination);
    for_each_lane(active, [&](int lane) { result[lane] = now; });
}

Handler clock_reader(std::string_view name, bool wide) {
    if (wide) return name == "%clock64" || name == "%globaltimer" ? &read_clock<uint64_t, 0> : nullptr;
    if (name == "%clock" || name == "%globaltimer_lo") return &read_clock<uint32_t, 0>;
    return name == "%clock_hi" || name == "%globaltimer_hi" ? &read_clock<uint32_t, 32> : nullptr;
}

void decode_mov(Decoding& statement) {
    statement.take(".volatile");
    const Type type = statement.take_type();
    statement.expect_operands(2, 2);
    if (type == Type::b128) return decode_b128_mov(statement);
    const Operand& target = statement.operand(0);
    const Operand& source = statement.operand(1);
    if (target.kind == Operand::Kind::list) return decode_packing(statement, type, target, false);
    if (source.kind == Operand::Kind::list) return decode_packing(statement, type, source, true);
    statement.instruction.destination = statement.destination(0, type);
    if (type == Type::pred) {
        statement.take_predicate(0, source);
        return statement.execute_with(&copy_predicate);
    }
    const bool wide = ptx::size_of(type) == 8;
    if (source.kind == Operand::Kind::special)
        if (const Handler clock = clock_reader(source.name, wide)) return statement.execute_with(clock);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.execute_with(wide ? copy_64 : copy_32);
}

// ---- cvta and isspacep ----

uint64_t window_of(Space space) {
    switch (space) {
    case Space::shared:
    case Space::shared_cluster: return shared_window;
    case Space::local: return local_window;
    case Space::param: return param_window;
    default: return 0; // global and constant addresses are generic addresses
    }
}

template <class T, bool to_generic>
void convert_address(Warp& warp, const Instruction& instruction, LaneMask active) {
    T* const result = warp.cells<T>(instruction.destination);
    const T* const source = warp.cells<T>(instruction.sources[0]);
    const T window = static_cast<T>(instruction.immediate);
    for_each_lane(
        active, [&](int lane) { result[lane] = to_generic ? source[lane] + window : source[lane] - window; });
}

void decode_cvta(Decoding& statement) {
    const bool from_generic = statement.take(".to");
    const Space space = statement.take_space();
    const Type type = statement.take_type();
    if (type != Type::u64) statement.no_such_type(type);
    if (space == Space::generic) statement.invalid(statement.statement().place, "cvta needs a state space");
    take_operands(statement, type, 1);
    statement.instruction.immediate = window_of(space);
    if (statement.instruction.immediate == 0)
        statement.execute_with(copy_64);
    else
        statement.execute_with(from_generic ? &convert_address<uint64_t, false>
                                            : &convert_address<uint64_t, true>);
}

/// Sets the predicate of the lanes whose generic address, without its low `shift` bits, is `place`.
void find_addresses(Warp& warp, const Instruction& instruction, LaneMask active, int shift, uint64_t place) {
    const uint64_t* const address = warp.cells<uint64_t>(instruction.sources[0]);
    LaneMask found = 0;
    for_each_lane(active,
                  [&](int lane) { found |= LaneMask{address[lane] >> shift == place >> shift} << lane; });
    LaneMask& result = warp.predicate(instruction.destination);
    result = (result & ~active) | found;
}

/// The space's window is the immediate.
void is_in_space(Warp& warp, const Instruction& instruction, LaneMask active) {
    find_addresses(warp, instruction, active, std::countr_zero(window_mask), instruction.immediate);
}

/// What .shared means without ::cluster.
void is_in_own_shared(Warp& warp, const Instruction& instruction, LaneMask active) {
    find_addresses(warp, instruction, active, shared_rank_shift, shared_window + warp.block().shared_base());
}

void decode_isspacep(Decoding& statement) {
    const Space space = statement.take_space();
    if (space == Space::generic || space == Space::constant)
        statement.unsupported(statement.statement().place,
                              "'isspacep' is not supported for this state space");
    statement.expect_operands(2, 2);
    statement.instruction.destination = statement.destination(0, Type::pred);
    statement.instruction.sources[0] = statement.source(1, Type::u64);
    statement.instruction.immediate = window_of(space);
    statement.execute_with(space == Space::shared ? &is_in_own_shared : &is_in_space);
}

// ---- mapa and getctarank ----

/// Addresses of shared memory include the block's rank; generic ones also the window.
constexpr uint64_t rank_mask = 0xFFull << shared_rank_shift;

template <class T> void map_address(Warp& warp, const Instruction& instruction, LaneMask active) {
    T* const result = warp.cells<T>(instruction.destination);
    const T* const address = warp.cells<T>(instruction.sources[0]);
    const uint32_t* const rank = warp.cells<uint32_t>(instruction.sources[1]);
    for_each_lane(active, [&](int lane) {
        result[lane] = (address[lane] & ~static_cast<T>(rank_mask)) |
                       static_cast<T>((rank[lane] & 0xFFu) << shared_rank_shift);
    });
}

template <class T> void rank_of_address(Warp& warp, const Instruction& instruction, LaneMask active) {
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
    const T* const address = warp.cells<T>(instruction.sources[0]);
    for_each_lane(active, [&](int lane) {
        result[lane] = static_cast<uint32_t>((address[lane] & rank_mask) >> shared_rank_shift);
    });
}

/// Takes the type of mapa or getctarank: of the address.
Type take_cluster_address(Decoding& statement) {
    const bool is_shared = statement.take(".shared::cluster");
    const Type type = statement.take_type();
    if (type != Type::u64 && !(is_shared && type == Type::u32)) statement.no_such_type(type);
    return type;
}

void decode_mapa(Decoding& statement) {
    const Type type = take_cluster_address(statement);
    statement.expect_operands(3, 3);
    statement.instruction.destination = statement.destination(0, type);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, Type::u32);
    statement.execute_with(type == Type::u64 ? &map_address<uint64_t> : &map_address<uint32_t>);
}

void decode_getctarank(Decoding& statement) {
    const Type type = take_cluster_address(statement);
    statement.expect_operands(2, 2);
    statement.instruction.destination = statement.destination(0, Type::u32);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.execute_with(type == Type::u64 ? &rank_of_address<uint64_t> : &rank_of_address<uint32_t>);
}

} // namespace

std::span<const Opcode> convert_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"mov", decode_mov},           {"cvt", decode_cvt},   {"cvta", decode_cvta},
        {"isspacep", decode_isspacep}, {"mapa", decode_mapa}, {"getctarank", decode_getctarank},
    };
    return opcodes;
}

} // namespace emulator
