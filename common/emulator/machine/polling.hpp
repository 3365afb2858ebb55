/// \file
/// Whether a kernel may wait for what other blocks do.
#pragma once

namespace emulator {

struct Code;

/// Whether the function has a loop that looks at global memory anew in each turn, as one that waits for
/// another block has to: by an atomic, or a load that is volatile or ordered. In a function that is called,
/// any such instruction will do: the loop may be in its caller.
bool may_poll(const Code& code);

} // namespace emulator
