/// What emscripten's C++ library lacks. It is included in front of every file that emscripten compiles.
/// Debian 12's emscripten (3.1.6) lacks all of it. A part goes by itself where the library has it.
#pragma once

/// \cond the library's own names

#include <version>

#ifndef __cpp_lib_bit_cast
namespace std {
template <class To, class From> constexpr To bit_cast(const From& from) noexcept {
    return __builtin_bit_cast(To, from);
}
} // namespace std
#endif

#if !defined(__cpp_lib_to_chars) && _LIBCPP_VERSION < 200000 // which has that for double, not for long double
#include <charconv>
#include <cstdlib>

namespace std {
/// For the lexer: a number begins there, and a zero byte follows the text.
inline from_chars_result from_chars(const char* first, const char*, double& value) {
    char* end = nullptr;
    value = strtod(first, &end);
    return {end, errc{}};
}
} // namespace std
#endif

#ifndef __cpp_lib_jthread
#include <thread>
#include <utility>

namespace std {
/// It only has to compile: without threads none is started.
class jthread : public thread {
public:
    using thread::thread;
    jthread(jthread&&) = default;
    ~jthread() {
        if (joinable()) join();
    }
};
} // namespace std
#endif

/// \endcond
