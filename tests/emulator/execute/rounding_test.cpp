// Arithmetic and conversions without rounding modes against this machine's own, in all of its rounding modes.

#include "reference.hpp"

#include "emulator/execute/rounding.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

#ifdef __x86_64__
#include <pmmintrin.h>
#endif

using namespace emulator;
using namespace emulator::fixture;

namespace {

constexpr int directions[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

#ifdef __x86_64__
constexpr bool processor_flushes = true; // what a device flushes: what is subnormal after the rounding
void set_flushing(bool flushes) { _MM_SET_FLUSH_ZERO_MODE(flushes ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF); }
#else
constexpr bool processor_flushes = false; // aarch64's does too, but it looks before the rounding
void set_flushing(bool /*flushes*/) {}
#endif

/// action(), computed by the processor in that mode. The operands are volatile, so that it happens meanwhile.
template <class Action> auto on_processor(RoundingMode mode, Action action) {
    std::fesetround(mode.direction);
    set_flushing(mode.ftz);
    const volatile auto result = action();
    set_flushing(false);
    std::fesetround(FE_TONEAREST);
    return result;
}

template <class T> bool is_same(T a, T b) { return std::isnan(a) ? std::isnan(b) : bits_of(a) == bits_of(b); }

/// Compares all operations on these operands, in all modes.
template <class T> class AgainstProcessor {
public:
    void compare(T x, T y, T z) {
        const volatile T a = x, b = y, c = z;
        for (const int direction : directions)
            for (const bool ftz : {false, true}) {
                if (ftz && (sizeof(T) == 8 || !processor_flushes)) continue; // PTX has it for f32 alone
                const RoundingMode mode{direction, ftz};
                const auto expect = [&](const char* operation, T result, auto action) {
                    const T right = on_processor(mode, action);
                    if (!is_same<T>(result, right) && ++failures_ < 5)
                        ADD_FAILURE() << operation << std::hexfloat << " of " << x << ", " << y << ", " << z
                                      << " is " << right << ", not " << result << ", in mode " << direction
                                      << (ftz ? " ftz" : "");
                };
                expect("the sum", sum_in_mode(x, y, mode), [&] { return a + b; });
                expect("the product", product_in_mode(x, y, mode), [&] { return a * b; });
                expect("the quotient", quotient_in_mode(x, y, mode), [&] { return a / b; });
                expect("the root", root_in_mode(x, mode), [&] { return std::sqrt(a); });
                expect("the fma", fma_in_mode(x, y, z, mode), [&] { return std::fma(a, b, c); });
            }
    }

private:
    int failures_ = 0;
};

/// Any exponent, and often few bits: then many results are exact, or in the middle between two numbers.
template <class T> T any_number(Numbers& numbers) {
    using Bits = UnsignedOf<sizeof(T)>;
    constexpr int significand_bits = std::numeric_limits<T>::digits - 1;
    const std::uint64_t kind = numbers.next() % 4;
    auto bits = static_cast<Bits>(numbers.next());
    if (kind == 0) bits &= ~((Bits{1} << (significand_bits - 3)) - 1); // four bits
    if (kind == 1)
        bits |= (Bits{1} << significand_bits) - 1 - numbers.next() % 4; // just below a power of two
    return std::bit_cast<T>(bits);
}

} // namespace

TEST(Rounding, agrees_with_the_processor_on_edge_values) {
    for_types<float, double>([]<class T>() {
        AgainstProcessor<T> against_processor;
        for (const T a : edge_values<T>())
            for (const T b : edge_values<T>())
                for (const T c : edge_values<T>()) against_processor.compare(a, b, c);
    });
}

TEST(Rounding, agrees_with_the_processor_on_any_numbers) {
    for_types<float, double>([]<class T>() {
        AgainstProcessor<T> against_processor;
        Numbers numbers;
        for (int k = 0; k < 5000; ++k)
            against_processor.compare(any_number<T>(numbers), any_number<T>(numbers), any_number<T>(numbers));
    });
}

TEST(Rounding, agrees_with_the_processor_where_results_underflow_and_cancel) {
    for_types<float, double>([]<class T>() {
        AgainstProcessor<T> against_processor;
        Numbers numbers;
        const int least = std::numeric_limits<T>::min_exponent;
        for (int k = 0; k < 5000; ++k) {
            const T a = std::ldexp(any_number<T>(numbers), 0), b = any_number<T>(numbers);
            if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) continue;
            // a * b and a / b close to the least normal number
            const auto near = [&](int exponent) {
                return std::ldexp(b, exponent + static_cast<int>(numbers.next() % 60) - 30 - std::ilogb(b));
            };
            against_processor.compare(a, near(least - std::ilogb(a)), near(least));
            against_processor.compare(a, near(std::ilogb(a) - least), T(1));
            // a * b + c with c close to -a * b, and a + b with b close to -a
            const T x = std::ldexp(a, -std::ilogb(a)), y = std::ldexp(b, -std::ilogb(b));
            against_processor.compare(x, y, std::nextafter(-x * y, T(numbers.next() % 3) - 1));
            against_processor.compare(
                x, std::ldexp(std::nextafter(-x, T(0)), static_cast<int>(numbers.next() % 3) - 1), y);
        }
    });
}

namespace {

/// Result(value) in all directions.
template <class Result, class Source> void compare_conversion(Source value) {
    const volatile Source input = value;
    for (const int direction : directions) {
        const Result right = on_processor({direction, false}, [&] { return static_cast<Result>(input); });
        EXPECT_TRUE(is_same<Result>(converted_in_mode<Result>(value, direction), right))
            << std::hexfloat << value << " is " << right << " in mode " << direction;
    }
}

} // namespace

TEST(Rounding, converts_as_the_processor) {
    Numbers numbers;
    for (const double value : edge_values<double>()) compare_conversion<float>(value);
    for (int k = 0; k < 5000; ++k) {
        compare_conversion<float>(any_number<double>(numbers));
        // In float's range.
        compare_conversion<float>(std::ldexp(any_number<float>(numbers) * (1 + 0x1p-40), 0));
    }
    for (int k = 0; k < 5000; ++k) {
        const std::uint64_t bits = numbers.next() >> numbers.next() % 64;
        compare_conversion<float>(bits);
        compare_conversion<float>(static_cast<std::int64_t>(bits));
        compare_conversion<float>(-static_cast<std::int64_t>(bits));
        compare_conversion<double>(bits);
        compare_conversion<double>(-static_cast<std::int64_t>(bits));
    }
}
