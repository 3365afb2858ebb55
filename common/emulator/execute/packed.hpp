/// \file
/// Two 16-bit numbers in one 32-bit register.
#pragma once

namespace emulator {

template <class T> struct Packed { T low, high; };

/// An operation on each of the two by itself.
template <auto operation> struct OnBoth {
    template <class T, class... Ts> constexpr Packed<T> operator()(Packed<T> first, Ts... others) const {
        return {operation(first.low, others.low...), operation(first.high, others.high...)};
    }
};

} // namespace emulator
