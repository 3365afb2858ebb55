/// For the library that lessons run on. It has no checkers and builds in half the time.
#include "emulator/runtime/observation.hpp"
#include "emulator/session/request.hpp"

#include <cstdio>
#include <cstdlib>

namespace emulator {

Observation* Observation::instance() {
    [[maybe_unused]] static const bool was_asked = [] {
        const bool asked = std::getenv(request_variable) != nullptr;
        if (asked)
            std::fprintf(
                stderr,
                "emulator: nothing is observed: %s only works with the library that comes with `emulate`\n",
                request_variable);
        return asked;
    }();
    return nullptr;
}

} // namespace emulator
