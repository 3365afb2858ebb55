/// One scalar operation, applied to every active lane: the loop of every arithmetic instruction.
///
/// The scalar operations are pure functions, passed as values of empty types with an `operator()`. They must
/// have a result for every operand, even for a division by zero: inactive lanes are computed too, and their
/// results dropped.
#pragma once

#include "emulator/machine/warp.hpp"
#include "emulator/program/decoder.hpp"
#include "emulator/program/lanes.hpp"

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace emulator {

namespace detail {

template <auto operation, class Result, class... Sources, std::size_t... k>
void lanewise(Warp& warp, const Instruction& instruction, LaneMask active, std::index_sequence<k...>) {
    Cell<Result>* const result = warp.cells<Cell<Result>>(instruction.destination);
    const std::tuple<const Cell<Sources>*...> sources{warp.cells<Cell<Sources>>(instruction.sources[k])...};
    if (active == all_lanes) {
#pragma GCC ivdep // two rows are the same or don't overlap
        for (int lane = 0; lane < warp_size; ++lane)
            result[lane] = to_cell<Result>(operation(from_cell<Sources>(std::get<k>(sources)[lane])...));
    } else {
#pragma GCC ivdep
        for (int lane = 0; lane < warp_size; ++lane) {
            const Cell<Result> value =
                to_cell<Result>(operation(from_cell<Sources>(std::get<k>(sources)[lane])...));
            result[lane] = (active >> lane & 1) != 0 ? value : result[lane];
        }
    }
}

} // namespace detail

/// destination[lane] = operation(sources[lane]...)
template <auto operation, class Result, class... Sources>
void lanewise(Warp& warp, const Instruction& instruction, LaneMask active) {
    detail::lanewise<operation, Result, Sources...>(warp, instruction, active,
                                                    std::index_sequence_for<Sources...>{});
}

#ifdef __AVX512F__
/// AVX-512's comparison of integers for `condition`.
template <auto condition, class T> constexpr int comparison() {
    constexpr bool less = condition(T{0}, T{1}), equal = condition(T{0}, T{0}),
                   greater = condition(T{1}, T{0});
    if (less) return equal ? _MM_CMPINT_LE : greater ? _MM_CMPINT_NE : _MM_CMPINT_LT;
    return !equal ? _MM_CMPINT_NLE : greater ? _MM_CMPINT_NLT : _MM_CMPINT_EQ;
}

/// GCC 12 does not use mask registers for the loop in `lanes_where`.
template <auto condition, class T> LaneMask lanes_where_wide(const Cell<T>* a, const Cell<T>* b) {
    constexpr int how = comparison<condition, T>();
    constexpr int at_once = 64 / sizeof(T);
    LaneMask result = 0;
    for (int lane = 0; lane < warp_size; lane += at_once) {
        const __m512i left = _mm512_load_si512(a + lane), right = _mm512_load_si512(b + lane);
        LaneMask found = 0;
        if constexpr (std::is_same_v<T, std::int32_t>) found = _mm512_cmp_epi32_mask(left, right, how);
        if constexpr (std::is_same_v<T, std::uint32_t>) found = _mm512_cmp_epu32_mask(left, right, how);
        if constexpr (std::is_same_v<T, std::int64_t>) found = _mm512_cmp_epi64_mask(left, right, how);
        if constexpr (std::is_same_v<T, std::uint64_t>) found = _mm512_cmp_epu64_mask(left, right, how);
        result |= found << lane;
    }
    return result;
}
#endif

/// Bit `lane` of the result is condition(a[lane], b[lane]).
template <auto condition, class Source> LaneMask lanes_where(const Cell<Source>* a, const Cell<Source>* b) {
#ifdef __AVX512F__
    if constexpr (std::is_integral_v<Source> && sizeof(Source) >= 4)
        return lanes_where_wide<condition, Source>(a, b);
#endif
    return lanes_where(
        [&](int lane) { return condition(from_cell<Source>(a[lane]), from_cell<Source>(b[lane])); });
}

/// The same for the cells of two rows.
template <auto condition, class Source> LaneMask lanes_where(Warp& warp, Row a, Row b) {
    return lanes_where<condition, Source>(warp.cells<Cell<Source>>(a), warp.cells<Cell<Source>>(b));
}

/// Makes `lanewise` handlers of a `T operation(T...)` with `arity` operands of the instruction's own type.
template <auto operation, class T, std::size_t arity> constexpr Handler same_type_handler() {
    if constexpr (arity == 1)
        return &lanewise<operation, T, T>;
    else if constexpr (arity == 2)
        return &lanewise<operation, T, T, T>;
    else
        return &lanewise<operation, T, T, T, T>;
}

/// Two 16-bit numbers in one 32-bit register.
template <class T> struct Packed { T low, high; };

/// An operation on each of the two by itself.
template <auto operation> struct OnBoth {
    template <class T, class... Ts> constexpr Packed<T> operator()(Packed<T> first, Ts... others) const {
        return {operation(first.low, others.low...), operation(first.high, others.high...)};
    }
};

/// Takes the destination and `arity` sources of one type, in the usual order.
inline void take_operands(Decoding& statement, ptx::Type type, std::size_t arity) {
    statement.expect_operands(arity + 1, arity + 1);
    statement.instruction.destination = statement.destination(0, type);
    for (std::size_t k = 0; k < arity; ++k) statement.instruction.sources[k] = statement.source(k + 1, type);
}

} // namespace emulator
