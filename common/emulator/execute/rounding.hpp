/// \file
/// Arithmetic on f32 and f64 in integers, with PTX's rounding modes and `.ftz`: for hosts that can only round
/// to nearest, such as WebAssembly.
#pragma once

#include <cfenv>

namespace emulator {

struct RoundingMode {
    int direction = FE_TONEAREST; ///< an FE_ macro of `<cfenv>`
    /// A result that is subnormal when rounded with an unbounded exponent becomes a zero. Operands are not
    /// flushed.
    bool ftz = false;
};

// `T` is float or double. The host rounds to nearest meanwhile.
template <class T> T sum_in_mode(T a, T b, RoundingMode mode);
template <class T> T product_in_mode(T a, T b, RoundingMode mode);
template <class T> T fma_in_mode(T a, T b, T c, RoundingMode mode);
template <class T> T quotient_in_mode(T a, T b, RoundingMode mode);
template <class T> T root_in_mode(T a, RoundingMode mode);

} // namespace emulator
