/// Integer arithmetic: add, sub, mul, mad, div, rem, abs, neg, min, max, sad, mul24, mad24, dp4a, dp2a.
#include "emulator/execute/families.hpp"
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"

#include <algorithm>

namespace emulator {

namespace {

using ptx::Type;

// ---- scalar operations: everything wraps, as on the device ----

template <class T> using Unsigned = std::make_unsigned_t<T>;

/// Twice as wide, of the same signedness.
template <class T> struct WiderOf;
template <> struct WiderOf<std::uint16_t> { using type = std::uint32_t; };
template <> struct WiderOf<std::int16_t> { using type = std::int32_t; };
template <> struct WiderOf<std::uint32_t> { using type = std::uint64_t; };
template <> struct WiderOf<std::int32_t> { using type = std::int64_t; };
template <> struct WiderOf<std::uint64_t> { using type = unsigned __int128; };
template <> struct WiderOf<std::int64_t> { using type = __int128; };
template <class T> using Wider = typename WiderOf<T>::type;

/// Wide enough that neither promotion to int nor overflow matters.
template <class T> using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct Add {
    template <class T> constexpr T operator()(T a, T b) const {
        return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
    }
};
struct Subtract {
    template <class T> constexpr T operator()(T a, T b) const {
        return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
    }
};
struct MultiplyLow {
    template <class T> constexpr T operator()(T a, T b) const {
        return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
    }
};
struct MultiplyHigh {
    template <class T> constexpr T operator()(T a, T b) const {
        return static_cast<T>((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T)));
    }
};
struct MultiplyWide {
    template <class T> constexpr Wider<T> operator()(T a, T b) const { return Wider<T>(a) * Wider<T>(b); }
};
template <auto multiply> struct ThenAdd {
    template <class T, class Sum> constexpr Sum operator()(T a, T b, Sum c) const {
        return Add{}(static_cast<Sum>(multiply(a, b)), c);
    }
};
struct AddSaturating {
    constexpr std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{a} + b, INT32_MIN, INT32_MAX));
    }
};
struct SubtractSaturating {
    constexpr std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{a} - b, INT32_MIN, INT32_MAX));
    }
};
struct MultiplyHighAddSaturating {
    constexpr std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
        return AddSaturating{}(MultiplyHigh{}(a, b), c);
    }
};
/// PTX does not define division by zero. Here quotient and remainder are all ones, as NVIDIA's routines
/// return.
struct Divide {
    template <class T> constexpr T operator()(T a, T b) const {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (sizeof(T) <= 4) {
            // Processors divide vectors of doubles but not of integers. The truncated quotient is the
            // integers': a true quotient below a whole number k is below it by at least 1 / |b|, far more
            // than rounding to 53 bits can change.
            return static_cast<T>(static_cast<std::int64_t>(static_cast<double>(a) / static_cast<double>(b)));
        } else {
            if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract{}(T{0}, a);
            return static_cast<T>(a / b);
        }
    }
};
struct Remainder {
    template <class T> constexpr T operator()(T a, T b) const {
        if (b == 0) return static_cast<T>(-1);
        return Subtract{}(a, MultiplyLow{}(Divide{}(a, b), b));
    }
};

template <auto operation>
constexpr bool divides = std::is_same_v<std::remove_const_t<decltype(operation)>, Divide> ||
                         std::is_same_v<std::remove_const_t<decltype(operation)>, Remainder>;

/// Programs usually divide by the same number in all lanes: then one division is enough, and the rest are
/// multiplications by the inverse. Rounding may make a whole quotient too small by 1, never too large: a
/// quotient that is not whole is below the next whole number by at least 2^-32 of it.
template <auto operation>
void divide_by_one_number(Warp& warp, const Instruction& instruction, LaneMask active) {
    using std::uint32_t;
    const uint32_t* const a = warp.cells<uint32_t>(instruction.sources[0]);
    const uint32_t* const b = warp.cells<uint32_t>(instruction.sources[1]);
    const uint32_t divisor = b[std::countr_zero(active)];
    const LaneMask others = lanes_where([&](int lane) { return b[lane] != divisor; });
    if ((others & active) != 0 || divisor == 0)
        return lanewise<operation, uint32_t, uint32_t, uint32_t>(warp, instruction, active);
    const double inverse = 1.0 / divisor;
    uint32_t* const result = warp.cells<uint32_t>(instruction.destination);
#pragma GCC ivdep
    for (int lane = 0; lane < warp_size; ++lane) {
        const auto quotient = static_cast<uint32_t>(a[lane] * inverse);
        const uint32_t remainder = a[lane] - quotient * divisor;
        const bool too_small = remainder >= divisor;
        const uint32_t value = std::is_same_v<std::remove_const_t<decltype(operation)>, Divide>
                                   ? quotient + (too_small ? 1 : 0)
                                   : remainder - (too_small ? divisor : 0);
        result[lane] = (active >> lane & 1) != 0 ? value : result[lane];
    }
}

struct Absolute {
    template <class T> constexpr T operator()(T a) const { return a < 0 ? Subtract{}(T{0}, a) : a; }
};
struct Negate {
    template <class T> constexpr T operator()(T a) const { return Subtract{}(T{0}, a); }
};
struct Minimum {
    template <class T> constexpr T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Maximum {
    template <class T> constexpr T operator()(T a, T b) const { return a < b ? b : a; }
};
/// .relu: at least zero
template <auto operation> struct NotNegative {
    template <class T> constexpr T operator()(T a, T b) const { return Maximum{}(operation(a, b), T{0}); }
};

/// c + |a - b|
struct SumOfAbsoluteDifference {
    template <class T> constexpr T operator()(T a, T b, T c) const {
        return Add{}(c, a < b ? Subtract{}(b, a) : Subtract{}(a, b));
    }
};

/// The low 24 bits of `a`, sign-extended for a signed type.
template <class T> constexpr std::int64_t low_24_bits(T a) {
    if constexpr (std::is_signed_v<T>)
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 8) >> 8;
    else
        return a & 0xFF'FFFF;
}
struct Multiply24Low {
    template <class T> constexpr T operator()(T a, T b) const {
        return static_cast<T>(low_24_bits(a) * low_24_bits(b));
    }
};
struct Multiply24High {
    template <class T> constexpr T operator()(T a, T b) const {
        return static_cast<T>((low_24_bits(a) * low_24_bits(b)) >> 16);
    }
};

/// c + the sum of the products of `count` packed parts of a and b.
template <class A, class B, int count, int first_b> struct DotProduct {
    constexpr std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
        constexpr int a_bits = 32 / count;
        for (int i = 0; i < count; ++i)
            c += static_cast<std::uint32_t>(std::int32_t{static_cast<A>(a >> (a_bits * i))} *
                                            std::int32_t{static_cast<B>(b >> (8 * (i + first_b)))});
        return c;
    }
};

// ---- decoding ----

template <auto operation, std::size_t arity> Handler for_integer(Type type) {
    switch (type) {
    case Type::u16: return same_type_handler<operation, std::uint16_t, arity>();
    case Type::s16: return same_type_handler<operation, std::int16_t, arity>();
    case Type::u32:
        if constexpr (divides<operation>) return &divide_by_one_number<operation>;
        return same_type_handler<operation, std::uint32_t, arity>();
    case Type::s32: return same_type_handler<operation, std::int32_t, arity>();
    case Type::u64: return same_type_handler<operation, std::uint64_t, arity>();
    case Type::s64: return same_type_handler<operation, std::int64_t, arity>();
    default: return nullptr;
    }
}

template <auto operation, std::size_t arity> void decode_integer(Decoding& statement, Type type) {
    const Handler handler = for_integer<operation, arity>(type);
    if (!handler) statement.no_such_type(type);
    take_operands(statement, type, arity);
    statement.execute_with(handler);
}

template <auto operation, std::size_t arity> void decode_plain(Decoding& statement) {
    decode_integer<operation, arity>(statement, statement.take_type());
}

/// The packed types, and those that all have.
template <auto operation> void decode_integer_or_packed(Decoding& statement, Type type) {
    if (type != Type::u16x2 && type != Type::s16x2) return decode_integer<operation, 2>(statement, type);
    take_operands(statement, type, 2);
    statement.execute_with(type == Type::u16x2
                               ? same_type_handler<OnBoth<operation>{}, Packed<std::uint16_t>, 2>()
                               : same_type_handler<OnBoth<operation>{}, Packed<std::int16_t>, 2>());
}

bool is_integer_or_packed(Type type) {
    return ptx::is_integer(type) || type == Type::u16x2 || type == Type::s16x2;
}

template <auto operation, void (*floating_point)(Decoding&, Type)> void decode_min_max(Decoding& statement) {
    const Type type = statement.take_type();
    if (!is_integer_or_packed(type)) return floating_point(statement, type);
    decode_integer_or_packed<operation>(statement, type);
    if (type == Type::s32 && statement.take(".relu"))
        statement.execute_with(same_type_handler<NotNegative<operation>{}, std::int32_t, 2>());
    if (type == Type::s16x2 && statement.take(".relu"))
        statement.execute_with(
            same_type_handler<OnBoth<NotNegative<operation>{}>{}, Packed<std::int16_t>, 2>());
}

/// For opcodes that exist for integers and floating-point numbers alike.
template <auto integer_operation, std::size_t arity, void (*floating_point)(Decoding&, Type)>
void decode_either(Decoding& statement) {
    const Type type = statement.take_type();
    if (ptx::is_integer(type))
        decode_integer<integer_operation, arity>(statement, type);
    else
        floating_point(statement, type);
}

template <auto operation, auto saturating, void (*floating_point)(Decoding&, Type)>
void decode_add(Decoding& statement) {
    if (decode_carry(statement)) return;
    const Type type = statement.take_type();
    if (!is_integer_or_packed(type)) return floating_point(statement, type);
    decode_integer_or_packed<operation>(statement, type);
    if (type == Type::s32 && statement.take(".sat"))
        statement.execute_with(&lanewise<saturating, std::int32_t, std::int32_t, std::int32_t>);
}

Type twice_as_wide(Decoding& statement, Type type) {
    switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: statement.no_such_type(type);
    }
}

template <auto operation, bool adds> void decode_wide(Decoding& statement, Type type) {
    const auto handler = [&]<class T>(T) -> Handler {
        if constexpr (adds)
            return &lanewise<operation, Wider<T>, T, T, Wider<T>>;
        else
            return &lanewise<operation, Wider<T>, T, T>;
    };
    const Type wide = twice_as_wide(statement, type);
    statement.expect_operands(adds ? 4 : 3, adds ? 4 : 3);
    statement.instruction.destination = statement.destination(0, wide);
    statement.instruction.sources[0] = statement.source(1, type);
    statement.instruction.sources[1] = statement.source(2, type);
    if constexpr (adds) statement.instruction.sources[2] = statement.source(3, wide);
    switch (type) {
    case Type::u16: return statement.execute_with(handler(std::uint16_t{}));
    case Type::s16: return statement.execute_with(handler(std::int16_t{}));
    case Type::u32: return statement.execute_with(handler(std::uint32_t{}));
    default: return statement.execute_with(handler(std::int32_t{}));
    }
}

void decode_mul(Decoding& statement) {
    const std::string_view part = statement.take_any({".lo", ".hi", ".wide"});
    const Type type = statement.take_type();
    if (!ptx::is_integer(type)) return decode_floating_point_mul(statement, type);
    if (part == ".lo")
        decode_integer<MultiplyLow{}, 2>(statement, type);
    else if (part == ".hi")
        decode_integer<MultiplyHigh{}, 2>(statement, type);
    else if (part == ".wide")
        decode_wide<MultiplyWide{}, false>(statement, type);
    else
        statement.invalid(statement.statement().place, "an integer mul needs .lo, .hi or .wide");
}

void decode_mad(Decoding& statement) {
    if (decode_carry(statement)) return;
    const std::string_view part = statement.take_any({".lo", ".hi", ".wide"});
    const Type type = statement.take_type();
    if (!ptx::is_integer(type)) return decode_floating_point_fma(statement, type);
    if (part == ".lo")
        decode_integer<ThenAdd<MultiplyLow{}>{}, 3>(statement, type);
    else if (part == ".wide")
        decode_wide<ThenAdd<MultiplyWide{}>{}, true>(statement, type);
    else if (part == ".hi") {
        decode_integer<ThenAdd<MultiplyHigh{}>{}, 3>(statement, type);
        if (type == Type::s32 && statement.take(".sat"))
            statement.execute_with(same_type_handler<MultiplyHighAddSaturating{}, std::int32_t, 3>());
    } else
        statement.invalid(statement.statement().place, "an integer mad needs .lo, .hi or .wide");
}

template <auto low, auto high, std::size_t arity> void decode_24(Decoding& statement) {
    const std::string_view part = statement.take_any({".lo", ".hi"});
    const Type type = statement.take_type();
    take_operands(statement, type, arity);
    const bool is_high = part == ".hi";
    if (part.empty()) statement.invalid(statement.statement().place, "this instruction needs .lo or .hi");
    if (type == Type::u32)
        statement.execute_with(is_high ? same_type_handler<high, std::uint32_t, arity>()
                                       : same_type_handler<low, std::uint32_t, arity>());
    else if (type == Type::s32)
        statement.execute_with(is_high ? same_type_handler<high, std::int32_t, arity>()
                                       : same_type_handler<low, std::int32_t, arity>());
    else
        statement.no_such_type(type);
}

template <class A, class B> Handler dot_product_handler(int count, bool high) {
    using std::uint32_t;
    if (count == 4) return &lanewise<DotProduct<A, B, 4, 0>{}, uint32_t, uint32_t, uint32_t, uint32_t>;
    using A16 = std::conditional_t<std::is_signed_v<A>, std::int16_t, std::uint16_t>;
    if (high) return &lanewise<DotProduct<A16, B, 2, 2>{}, uint32_t, uint32_t, uint32_t, uint32_t>;
    return &lanewise<DotProduct<A16, B, 2, 0>{}, uint32_t, uint32_t, uint32_t, uint32_t>;
}

template <int count> void decode_dot_product(Decoding& statement) {
    const std::string_view half = count == 2 ? statement.take_any({".lo", ".hi"}) : "";
    const Type a = statement.take_type();
    const Type b = statement.take_type();
    if ((a != Type::u32 && a != Type::s32) || (b != Type::u32 && b != Type::s32)) statement.no_such_type(a);
    if (count == 2 && half.empty()) statement.invalid(statement.statement().place, "dp2a needs .lo or .hi");
    take_operands(statement, Type::b32, 3);
    const bool high = half == ".hi";
    const bool a_signed = a == Type::s32, b_signed = b == Type::s32;
    if (a_signed && b_signed)
        statement.execute_with(dot_product_handler<std::int8_t, std::int8_t>(count, high));
    else if (a_signed)
        statement.execute_with(dot_product_handler<std::int8_t, std::uint8_t>(count, high));
    else if (b_signed)
        statement.execute_with(dot_product_handler<std::uint8_t, std::int8_t>(count, high));
    else
        statement.execute_with(dot_product_handler<std::uint8_t, std::uint8_t>(count, high));
}

} // namespace

std::span<const Opcode> integer_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"add", decode_add<Add{}, AddSaturating{}, decode_floating_point_add>},
        {"sub", decode_add<Subtract{}, SubtractSaturating{}, decode_floating_point_sub>},
        {"mul", decode_mul},
        {"mad", decode_mad},
        {"div", decode_either<Divide{}, 2, decode_floating_point_div>},
        {"rem", decode_plain<Remainder{}, 2>},
        {"abs", decode_either<Absolute{}, 1, decode_floating_point_abs>},
        {"neg", decode_either<Negate{}, 1, decode_floating_point_neg>},
        {"min", decode_min_max<Minimum{}, decode_floating_point_min>},
        {"max", decode_min_max<Maximum{}, decode_floating_point_max>},
        {"sad", decode_plain<SumOfAbsoluteDifference{}, 3>},
        {"mul24", decode_24<Multiply24Low{}, Multiply24High{}, 2>},
        {"mad24", decode_24<ThenAdd<Multiply24Low{}>{}, ThenAdd<Multiply24High{}>{}, 3>},
        {"dp4a", decode_dot_product<4>},
        {"dp2a", decode_dot_product<2>},
    };
    return opcodes;
}

} // namespace emulator
