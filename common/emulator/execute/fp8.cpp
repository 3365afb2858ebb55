/// Conversions of pairs of 8-bit floating-point numbers: e4m3x2 and e5m2x2.
#include "emulator/execute/families.hpp"
#include "emulator/execute/fp16.hpp"
#include "emulator/execute/lanewise.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>

namespace emulator {

namespace {

using ptx::Type;
using std::uint16_t, std::uint32_t, std::uint8_t;

constexpr uint8_t not_a_number = 0x7F;

uint8_t with_sign(double value, int magnitude) {
    return static_cast<uint8_t>(magnitude | (std::signbit(value) ? 0x80 : 0));
}

/// .relu: negative numbers become zero.
template <bool relu> double clamped(double value) {
    return relu && std::signbit(value) && !std::isnan(value) ? 0.0 : value;
}

template <auto narrow, bool relu> struct FromSingles {
    uint16_t operator()(float high, float low) const {
        return static_cast<uint16_t>(narrow(clamped<relu>(high)) << 8 | narrow(clamped<relu>(low)));
    }
};
template <auto narrow, bool relu> struct FromHalves {
    uint16_t operator()(uint32_t pair) const {
        const Half high{static_cast<uint16_t>(pair >> 16)}, low{static_cast<uint16_t>(pair)};
        return static_cast<uint16_t>(narrow(clamped<relu>(to_double(high))) << 8 |
                                     narrow(clamped<relu>(to_double(low))));
    }
};
template <auto widen, bool relu> struct ToHalves {
    uint32_t operator()(uint16_t pair) const {
        const auto half = [](int bits) -> uint32_t {
            return from_double<Half>(clamped<relu>(widen(static_cast<uint8_t>(bits))), FE_TONEAREST).bits;
        };
        return half(pair >> 8) << 16 | half(pair & 0xFF);
    }
};

struct Handlers {
    Handler from_singles, from_halves, to_halves;
};

template <auto narrow, auto widen, bool relu> constexpr Handlers handlers() {
    return {&lanewise<FromSingles<narrow, relu>{}, uint16_t, float, float>,
            &lanewise<FromHalves<narrow, relu>{}, uint16_t, uint32_t>,
            &lanewise<ToHalves<widen, relu>{}, uint32_t, uint16_t>};
}

/// The nearest number of a format with 4 and 3, or 5 and 2 bits; a number that is too large becomes the
/// largest one.
uint8_t to_e4m3(double value) {
    if (std::isnan(value)) return not_a_number;
    const double magnitude = std::fabs(value);
    if (magnitude >= 448) return with_sign(value, 0x7E);
    // From 256 on the exponent is the one that other formats use for infinity and NaN.
    if (magnitude >= 256)
        return with_sign(value, 0x78 + static_cast<int>(std::nearbyint(magnitude / 32)) - 8);
    return with_sign(value, detail::to_16_bits(magnitude, 4, 3, FE_TONEAREST));
}

uint8_t to_e5m2(double value) {
    if (std::isnan(value)) return not_a_number;
    const int magnitude = detail::to_16_bits(std::fabs(value), 5, 2, FE_TONEAREST);
    return with_sign(value, std::min(magnitude, 0x7B));
}

double from_e4m3(uint8_t bits) {
    const int magnitude = bits & 0x7F;
    const double sign = bits & 0x80 ? -1.0 : 1.0;
    if (magnitude == 0x7F) return std::nan("");
    if (magnitude >= 0x78) return sign * 32 * (magnitude - 0x70);
    return sign * detail::from_16_bits(static_cast<uint16_t>(magnitude), 4, 3);
}

double from_e5m2(uint8_t bits) { return to_double(Half{static_cast<uint16_t>(bits << 8)}); }

} // namespace

bool decode_fp8_cvt(Decoding& statement) {
    const std::string_view name = statement.take_any({".e4m3x2", ".e5m2x2"});
    if (name.empty()) return false;
    const bool is_result = !statement.take_any({".satfinite"}).empty();
    const bool relu = statement.take(".relu");
    statement.take(".rn");
    const Handlers of =
        name == ".e4m3x2"
            ? (relu ? handlers<&to_e4m3, &from_e4m3, true>() : handlers<&to_e4m3, &from_e4m3, false>())
            : (relu ? handlers<&to_e5m2, &from_e5m2, true>() : handlers<&to_e5m2, &from_e5m2, false>());
    const Type other = statement.take_type();
    if (other != Type::f16x2 && !(is_result && other == Type::f32)) statement.no_such_type(other);
    const bool from_singles = other == Type::f32;
    statement.expect_operands(from_singles ? 3 : 2, from_singles ? 3 : 2);
    statement.instruction.destination = statement.destination(0, is_result ? Type::b16 : Type::b32);
    statement.instruction.sources[0] = statement.source(1, is_result ? other : Type::b16);
    if (from_singles) statement.instruction.sources[1] = statement.source(2, other);
    statement.execute_with(from_singles ? of.from_singles : is_result ? of.from_halves : of.to_halves);
    return true;
}

} // namespace emulator
