/// \file
/// From sizes that are known when the program runs to launches: compiled block sizes, and grids sized for the
/// card.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace harness {

/// Calls `use` with `block`, a power of two from 32 to 1024, as a constant that can be a template argument:
/// \code
///     harness::with_block_size(pass.block, [&](auto block_size) {
///         reduce5<block_size><<<pass.grid, pass.block, pass.shared_bytes>>>(…);
///     });
/// \endcode
/// `use` is compiled once for each of the six.
template <class Use> void with_block_size(unsigned block, const Use& use) {
    switch (block) {
    case 32: return use(std::integral_constant<unsigned, 32>());
    case 64: return use(std::integral_constant<unsigned, 64>());
    case 128: return use(std::integral_constant<unsigned, 128>());
    case 256: return use(std::integral_constant<unsigned, 256>());
    case 512: return use(std::integral_constant<unsigned, 512>());
    case 1024: return use(std::integral_constant<unsigned, 1024>());
    default: throw std::logic_error("no kernel is compiled for blocks of " + std::to_string(block));
    }
}

/// How many blocks of a kernel the device holds at once: what one multiprocessor holds (the occupancy) times
/// the multiprocessors. \param kernel the kernel, as a host program sees it \param shared_bytes dynamic
/// shared memory of a block \throws DeviceError when a multiprocessor cannot hold even one
unsigned resident_blocks(const void* kernel, unsigned block, std::size_t shared_bytes);

/// The same, for `resident_blocks(reduce6<256>, 256, 1024)`.
template <class... Parameters>
unsigned resident_blocks(void (*kernel)(Parameters...), unsigned block, std::size_t shared_bytes = 0) {
    return resident_blocks(reinterpret_cast<const void*>(kernel), block, shared_bytes);
}

/// How many multiprocessors the device has.
unsigned multiprocessors();

/// Lets blocks of the kernel have so much dynamic shared memory: a launch may have more than 48 KiB only if
/// it was allowed to before. \throws DeviceError when a block cannot have as much
void allow_shared_bytes(const void* kernel, std::size_t shared_bytes);

} // namespace harness
