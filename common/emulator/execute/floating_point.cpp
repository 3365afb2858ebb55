/// Floating-point arithmetic: add, sub, mul, fma, div, abs, neg, min, max, rcp, sqrt, rsqrt, sin, cos, lg2,
/// ex2, tanh, copysign.
///
/// Correctly rounded operations are bit-equal to the device's. The approximate ones (`.approx`, `.full`) are
/// more exact than the device's and differ from them in the last bits.
#include "emulator/execute/families.hpp"
#include "emulator/execute/fp16.hpp"
#include "emulator/execute/lanewise.hpp"
#include "emulator/execute/opcodes.hpp"

#include <cfenv>
#include <cmath>
#include <limits>

#ifdef __x86_64__
#include <pmmintrin.h>
#else
#include "emulator/execute/rounding.hpp"
#endif

namespace emulator {

namespace {

using ptx::Type;

// ---- scalar operations, on float and double ----

struct Add {
    template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Subtract {
    template <class T> T operator()(T a, T b) const { return a - b; }
};
struct Multiply {
    template <class T> T operator()(T a, T b) const { return a * b; }
};
struct FusedMultiplyAdd {
    template <class T> T operator()(T a, T b, T c) const { return std::fma(a, b, c); }
};
struct Divide {
    template <class T> T operator()(T a, T b) const { return a / b; }
};
struct Reciprocal {
    template <class T> T operator()(T a) const { return T{1} / a; }
};
struct SquareRoot {
    template <class T> T operator()(T a) const { return std::sqrt(a); }
};
struct ReciprocalSquareRoot {
    template <class T> T operator()(T a) const {
        return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
    }
};
struct Sine {
    float operator()(float a) const { return std::sin(a); }
};
struct Cosine {
    float operator()(float a) const { return std::cos(a); }
};
struct Log2 {
    float operator()(float a) const { return std::log2(a); }
};
struct Exp2 {
    float operator()(float a) const { return std::exp2(a); }
};
struct Tanh {
    float operator()(float a) const { return std::tanh(a); }
};
/// The operand that is a number, if only one is; -0 orders before +0.
struct Minimum {
    template <class T> T operator()(T a, T b) const {
        if (std::isnan(a)) return b;
        if (std::isnan(b)) return a;
        if (a == b) return std::signbit(a) ? a : b;
        return a < b ? a : b;
    }
};
struct Maximum {
    template <class T> T operator()(T a, T b) const {
        if (std::isnan(a)) return b;
        if (std::isnan(b)) return a;
        if (a == b) return std::signbit(a) ? b : a;
        return a < b ? b : a;
    }
};
template <auto operation> struct NanWins {
    template <class T> T operator()(T a, T b) const {
        return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : operation(a, b);
    }
};

// ---- what modifiers make of them ----

template <class T> T flush(T value) { // .ftz: a subnormal number becomes a zero of its sign
    return std::fabs(value) < std::numeric_limits<T>::min() ? std::copysign(T{0}, value) : value;
}

template <class T> T saturate(T value) { // .sat: to 0 … 1, a NaN to 0
    return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

/// A NaN result of f32 has the device's one bit pattern; f64 keeps what IEEE arithmetic gives.
inline float canonical(float value) { return std::isnan(value) ? std::bit_cast<float>(0x7FFF'FFFFu) : value; }
inline double canonical(double value) { return value; }

template <auto operation, bool ftz, bool sat> struct Modified {
    template <class... T> auto operator()(T... operands) const {
        const auto exact = ftz ? flush(operation(flush(operands)...)) : operation(operands...);
        return sat ? saturate(exact) : canonical(exact);
    }
};

/// a * b + c rounded to odd: if the result is inexact, its last bit is set. Rounding it again to fewer bits
/// then gives the same as rounding once. a * b must be exact, like the product of two 16-bit numbers.
struct FusedMultiplyAddToOdd {
    double operator()(double a, double b, double c) const {
        const double product = a * b, sum = product + c;
        const double from_c = sum - product, error = (product - (sum - from_c)) + (c - from_c);
        if (!(std::fabs(error) > 0) || !std::isfinite(sum) || (std::bit_cast<std::uint64_t>(sum) & 1) != 0)
            return sum;
        return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
    }
};

/// On f16 and bf16: in double precision, rounded once.
template <auto operation, bool ftz, bool sat> struct InDouble {
    template <class T> static double widen(T value) {
        const bool subnormal = (value.bits & 0x7FFF) < (1 << T::significand_bits);
        return ftz && subnormal ? std::copysign(0.0, to_double(value)) : to_double(value);
    }
    /// Whether it is subnormal when rounded to as many bits as a normal number has.
    template <class T> static bool is_tiny(double exact) {
        const double least = std::ldexp(1.0, 2 - (1 << (T::exponent_bits - 1)));
        return std::fabs(exact) < least - least / (4 << T::significand_bits);
    }
    template <class T, class... Ts> T operator()(T first, Ts... others) const {
        double exact = 0;
        if constexpr (std::is_same_v<std::remove_const_t<decltype(operation)>, FusedMultiplyAdd>)
            exact = FusedMultiplyAddToOdd{}(widen(first), widen(others)...);
        else
            exact = operation(widen(first), widen(others)...);
        if (ftz && is_tiny<T>(exact)) exact = std::copysign(0.0, exact);
        return from_double<T>(sat ? saturate(exact) : exact, FE_TONEAREST);
    }
};

// ---- rounding modes ----

#ifdef __x86_64__

/// A rounding mode and `.ftz` as bits of MXCSR, the host's control register. The host flushes what the device
/// flushes: a result that is subnormal when rounded to 24 bits with an unbounded exponent. `flush` alone
/// comes too late for 2^-126 (1 - 2^-24): rounded to the fewer bits of subnormal numbers, it is 2^-126.
std::uint32_t mode_bits(int rounding, bool ftz) {
    const std::uint32_t flushing = _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON;
    return static_cast<std::uint32_t>(rounding) << 3 | (ftz ? flushing : 0); // FE_ macros are the x87's bits
}

struct ModeDetail : Detail {
    Handler inner = nullptr;
    std::uint32_t mode = 0; ///< bits of MXCSR
};

void in_its_mode(Warp& warp, const Instruction& instruction, LaneMask active) {
    const unsigned int usual = _mm_getcsr();
    const auto& detail = instruction.detail_as<ModeDetail>();
    _mm_setcsr(usual | detail.mode);
    detail.inner(warp, instruction, active);
    _mm_setcsr(usual);
}

/// Executes it with `handler`, under the host's control register.
template <auto, std::size_t>
void execute_in_mode(Decoding& statement, Type type, Handler handler, int rounding, bool ftz, bool /*sat*/) {
    statement.execute_with(handler);
    const std::uint32_t mode = mode_bits(rounding, ftz && type == Type::f32);
    if (mode == 0) return; // the usual one
    auto& detail = statement.detail<ModeDetail>();
    detail.inner = handler;
    detail.mode = mode;
    statement.execute_with(&in_its_mode);
}

#else // The host only rounds to nearest: compute in integers.

template <class T> T in_mode(Add, RoundingMode mode, T a, T b) { return sum_in_mode(a, b, mode); }
template <class T> T in_mode(Subtract, RoundingMode mode, T a, T b) {
    return std::isnan(b) ? a - b : sum_in_mode(a, -b, mode); // a NaN keeps its sign
}
template <class T> T in_mode(Multiply, RoundingMode mode, T a, T b) { return product_in_mode(a, b, mode); }
template <class T> T in_mode(FusedMultiplyAdd, RoundingMode mode, T a, T b, T c) {
    return fma_in_mode(a, b, c, mode);
}
template <class T> T in_mode(Divide, RoundingMode mode, T a, T b) { return quotient_in_mode(a, b, mode); }
template <class T> T in_mode(Reciprocal, RoundingMode mode, T a) { return quotient_in_mode(T(1), a, mode); }
template <class T> T in_mode(SquareRoot, RoundingMode mode, T a) { return root_in_mode(a, mode); }

struct ModeDetail : Detail {
    RoundingMode mode;
    bool sat = false;
};

template <auto operation, class T, std::size_t arity>
void in_its_mode(Warp& warp, const Instruction& instruction, LaneMask active) {
    const auto& detail = instruction.detail_as<ModeDetail>();
    Cell<T>* const result = warp.cells<Cell<T>>(instruction.destination);
    for_each_lane(active, [&](int lane) {
        const auto operand = [&](std::size_t k) {
            const T value = from_cell<T>(warp.cells<Cell<T>>(instruction.sources[k])[lane]);
            return detail.mode.ftz ? flush(value) : value;
        };
        const auto apply = [&]<std::size_t... k>(std::index_sequence<k...>) {
            return in_mode(operation, detail.mode, operand(k)...);
        };
        const T value = apply(std::make_index_sequence<arity>{});
        result[lane] = to_cell<T>(detail.sat ? saturate(value) : canonical(value));
    });
}

/// Executes it with `handler`, or in integers if the host does not round that way.
template <auto operation, std::size_t arity>
void execute_in_mode(Decoding& statement, Type type, Handler handler, int rounding, bool ftz, bool sat) {
    statement.execute_with(handler);
    const bool flushes = ftz && type == Type::f32;
    if (rounding == FE_TONEAREST && !flushes) return;
    // rsqrt is approximate: it has no rounding, and no result near the subnormal numbers.
    if constexpr (!std::is_same_v<std::remove_const_t<decltype(operation)>, ReciprocalSquareRoot>) {
        auto& detail = statement.detail<ModeDetail>();
        detail.mode = {rounding, flushes};
        detail.sat = sat;
        statement.execute_with(type == Type::f64 ? &in_its_mode<operation, double, arity>
                                                 : &in_its_mode<operation, float, arity>);
    }
}

#endif

// ---- decoding ----

template <auto operation, std::size_t arity, bool ftz, bool sat> Handler half_handler(Type type) {
    constexpr InDouble<operation, ftz, sat> half{};
    switch (type) {
    case Type::f16: return same_type_handler<half, Half, arity>();
    case Type::bf16: return same_type_handler<half, BFloat, arity>();
    case Type::f16x2: return same_type_handler<OnBoth<half>{}, Packed<Half>, arity>();
    case Type::bf16x2: return same_type_handler<OnBoth<half>{}, Packed<BFloat>, arity>();
    default: return nullptr;
    }
}

/// For f32 and, with `halves`, the 16-bit types.
template <auto operation, std::size_t arity, bool halves, bool ftz, bool sat>
Handler modified_handler(Type type) {
    if (type == Type::f32) return same_type_handler<Modified<operation, ftz, sat>{}, float, arity>();
    if constexpr (halves) return half_handler<operation, arity, ftz, sat>(type);
    return nullptr;
}

/// For an exact operation, which only `.ftz` modifies.
template <auto operation, std::size_t arity> Handler exact_handler(Type type, bool ftz) {
    if (type == Type::f64) return same_type_handler<Modified<operation, false, false>{}, double, arity>();
    return ftz ? modified_handler<operation, arity, true, true, false>(type)
               : modified_handler<operation, arity, true, false, false>(type);
}

template <auto operation, std::size_t arity, bool halves>
Handler rounded_handler(Type type, bool ftz, bool sat) {
    if (type == Type::f64) return same_type_handler<Modified<operation, false, false>{}, double, arity>();
    if (ftz)
        return sat ? modified_handler<operation, arity, halves, true, true>(type)
                   : modified_handler<operation, arity, halves, true, false>(type);
    return sat ? modified_handler<operation, arity, halves, false, true>(type)
               : modified_handler<operation, arity, halves, false, false>(type);
}

/// An operation with a rounding, `.ftz` and `.sat`, on f32, f64 and, with `halves`, the 16-bit types.
template <auto operation, std::size_t arity, bool halves = true>
void decode_rounded(Decoding& statement, Type type) {
    const bool is_wide = type == Type::f64;
    const int rounding = rounding_mode(statement.take_any({".rn", ".rz", ".rm", ".rp"}));
    const bool ftz = !is_wide && statement.take(".ftz");
    const bool sat = !is_wide && statement.take(".sat");
    const Handler handler = rounded_handler<operation, arity, halves>(type, ftz, sat);
    if (!handler) statement.no_such_type(type);
    if (rounding != FE_TONEAREST && type != Type::f32 && type != Type::f64) statement.no_such_type(type);
    take_operands(statement, type, arity);
    execute_in_mode<operation, arity>(statement, type, handler, rounding, ftz, sat);
}

/// An exact operation: only `.ftz` may modify it.
template <auto operation, std::size_t arity> void decode_exact(Decoding& statement, Type type) {
    const bool ftz = type != Type::f64 && statement.take(".ftz");
    const Handler handler = exact_handler<operation, arity>(type, ftz);
    if (!handler) statement.no_such_type(type);
    take_operands(statement, type, arity);
    statement.execute_with(handler);
}

/// An operation of f32 or f64 only.
template <auto operation, std::size_t arity> void decode_float_or_double(Decoding& statement, Type type) {
    statement.take_any({".approx", ".full"}); // computed exactly here
    decode_rounded<operation, arity, false>(statement, type);
}

template <auto operation, std::size_t arity> void decode_plain(Decoding& statement) {
    decode_float_or_double<operation, arity>(statement, statement.take_type());
}

/// The upper half of an f64, with zeros below: the device's tables take no more. Subnormal numbers become
/// zeros.
template <auto operation> struct OnUpperHalf {
    static double cut(double value) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(flush(value)) >> 32 << 32);
    }
    double operator()(double a) const { return cut(operation(cut(a))); }
};

/// rcp and rsqrt, which f64 has with .approx.ftz as well.
template <auto operation> void decode_reciprocal(Decoding& statement) {
    const bool is_approximate = statement.take(".approx");
    const Type type = statement.take_type();
    if (type != Type::f64 || !is_approximate || !statement.take(".ftz"))
        return decode_float_or_double<operation, 1>(statement, type);
    take_operands(statement, type, 1);
    statement.execute_with(&lanewise<OnUpperHalf<operation>{}, double, double>);
}

/// tanh and ex2 of the 16-bit types: in single precision, rounded.
template <auto operation> struct InSingle {
    template <class T> T operator()(T a) const {
        return from_double<T>(operation(static_cast<float>(to_double(a))), FE_TONEAREST);
    }
};
template <auto operation> Handler approximate_half_handler(Type type) {
    switch (type) {
    case Type::f16: return same_type_handler<InSingle<operation>{}, Half, 1>();
    case Type::bf16: return same_type_handler<InSingle<operation>{}, BFloat, 1>();
    case Type::f16x2: return same_type_handler<OnBoth<InSingle<operation>{}>{}, Packed<Half>, 1>();
    case Type::bf16x2: return same_type_handler<OnBoth<InSingle<operation>{}>{}, Packed<BFloat>, 1>();
    default: return nullptr;
    }
}

/// An approximate operation that f32 has, and with `halves` the 16-bit types.
template <auto operation, bool halves = false> void decode_approximate(Decoding& statement) {
    statement.take(".approx");
    const bool ftz = statement.take(".ftz");
    const Type type = statement.take_type();
    if constexpr (halves) {
        if (const Handler handler = approximate_half_handler<operation>(type)) {
            take_operands(statement, type, 1);
            return statement.execute_with(handler);
        }
    }
    if (type != Type::f32) statement.no_such_type(type);
    take_operands(statement, type, 1);
    statement.execute_with(ftz ? &lanewise<Modified<operation, true, false>{}, float, float>
                               : &lanewise<Modified<operation, false, false>{}, float, float>);
}

template <auto operation> void decode_min_max(Decoding& statement, Type type) {
    if (statement.take(".NaN"))
        decode_exact<NanWins<operation>{}, 2>(statement, type);
    else
        decode_exact<operation, 2>(statement, type);
}

/// .relu: negative numbers become zero.
template <class T> bool is_negative(T value) {
    return (value.bits & 0x8000) != 0 && !std::isnan(to_double(value));
}
template <bool ftz> struct FusedNotNegative {
    template <class T> T operator()(T a, T b, T c) const {
        const T result = InDouble<FusedMultiplyAdd{}, ftz, false>{}(a, b, c);
        return is_negative(result) ? T{0} : result;
    }
};

template <bool ftz> Handler fma_relu_handler(Type type) {
    constexpr FusedNotNegative<ftz> fused{};
    switch (type) {
    case Type::f16: return same_type_handler<fused, Half, 3>();
    case Type::bf16: return same_type_handler<fused, BFloat, 3>();
    case Type::f16x2: return same_type_handler<OnBoth<fused>{}, Packed<Half>, 3>();
    case Type::bf16x2: return same_type_handler<OnBoth<fused>{}, Packed<BFloat>, 3>();
    default: return nullptr;
    }
}

void decode_fma_relu(Decoding& statement, Type type) {
    statement.take(".rn");
    const Handler handler =
        statement.take(".ftz") ? fma_relu_handler<true>(type) : fma_relu_handler<false>(type);
    if (!handler) statement.no_such_type(type);
    take_operands(statement, type, 3);
    statement.execute_with(handler);
}

void decode_fma(Decoding& statement) { decode_floating_point_fma(statement, statement.take_type()); }

// ---- operations on the sign ----

/// A NaN keeps its sign: the device adds a zero to |a| or -a, which it treats as input modifiers.
struct Absolute {
    template <class T> T operator()(T a) const { return std::isnan(a) ? a : std::fabs(a); }
};
struct Negate {
    template <class T> T operator()(T a) const { return std::isnan(a) ? a : -a; }
};

/// The sign of a, the rest of b.
template <class Bits, Bits sign_bit> struct CopySign {
    Bits operator()(Bits a, Bits b) const { return (a & sign_bit) | (b & ~sign_bit); }
};

void decode_copysign(Decoding& statement) {
    using std::uint32_t, std::uint64_t;
    const Type type = statement.take_type();
    take_operands(statement, type, 2);
    if (type == Type::f32)
        statement.execute_with(same_type_handler<CopySign<uint32_t, 0x8000'0000>{}, uint32_t, 2>());
    else if (type == Type::f64)
        statement.execute_with(same_type_handler<CopySign<uint64_t, uint64_t{1} << 63>{}, uint64_t, 2>());
    else
        statement.no_such_type(type);
}

} // namespace

int rounding_mode(std::string_view modifier) {
    if (modifier.starts_with(".rz")) return FE_TOWARDZERO;
    if (modifier.starts_with(".rm")) return FE_DOWNWARD;
    if (modifier.starts_with(".rp")) return FE_UPWARD;
    return FE_TONEAREST;
}

void decode_floating_point_add(Decoding& statement, Type type) { decode_rounded<Add{}, 2>(statement, type); }
void decode_floating_point_sub(Decoding& statement, Type type) {
    decode_rounded<Subtract{}, 2>(statement, type);
}
void decode_floating_point_mul(Decoding& statement, Type type) {
    decode_rounded<Multiply{}, 2>(statement, type);
}
void decode_floating_point_fma(Decoding& statement, Type type) {
    if (statement.take(".relu")) return decode_fma_relu(statement, type);
    decode_rounded<FusedMultiplyAdd{}, 3>(statement, type);
}
void decode_floating_point_div(Decoding& statement, Type type) {
    decode_float_or_double<Divide{}, 2>(statement, type);
}
void decode_floating_point_abs(Decoding& statement, Type type) {
    decode_exact<Absolute{}, 1>(statement, type);
}
void decode_floating_point_neg(Decoding& statement, Type type) { decode_exact<Negate{}, 1>(statement, type); }
void decode_floating_point_min(Decoding& statement, Type type) { decode_min_max<Minimum{}>(statement, type); }
void decode_floating_point_max(Decoding& statement, Type type) { decode_min_max<Maximum{}>(statement, type); }

std::span<const Opcode> floating_point_opcodes() {
    static constexpr Opcode opcodes[] = {
        {"fma", decode_fma},
        {"rcp", decode_reciprocal<Reciprocal{}>},
        {"sqrt", decode_plain<SquareRoot{}, 1>},
        {"rsqrt", decode_reciprocal<ReciprocalSquareRoot{}>},
        {"sin", decode_approximate<Sine{}>},
        {"cos", decode_approximate<Cosine{}>},
        {"lg2", decode_approximate<Log2{}>},
        {"ex2", decode_approximate<Exp2{}, true>},
        {"tanh", decode_approximate<Tanh{}, true>},
        {"copysign", decode_copysign},
    };
    return opcodes;
}

} // namespace emulator
