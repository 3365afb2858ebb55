/// Launch sizes that are known only at run time: block sizes as template arguments, and grids sized for the
/// card.
#pragma once

#include <cstddef>
#include <type_traits>

namespace harness {

/// \throws std::logic_error
[[noreturn]] void refuse_block_size(unsigned int block);

/// Calls `use` with `block`, a power of two from 32 to 1024, as a constant for a template argument:
/// \code
///     harness::with_block_size(pass.block, [&](auto block_size) {
///         reduce5<block_size><<<pass.grid, pass.block, pass.shared_bytes>>>(…);
///     });
/// \endcode
/// `use` is compiled once per block size, six times.
template <class Use> void with_block_size(unsigned int block, const Use& use) {
    switch (block) {
    case 32: return use(std::integral_constant<unsigned int, 32>());
    case 64: return use(std::integral_constant<unsigned int, 64>());
    case 128: return use(std::integral_constant<unsigned int, 128>());
    case 256: return use(std::integral_constant<unsigned int, 256>());
    case 512: return use(std::integral_constant<unsigned int, 512>());
    case 1024: return use(std::integral_constant<unsigned int, 1024>());
    default: refuse_block_size(block);
    }
}

/// How many blocks of a kernel are resident on the device at once: blocks per multiprocessor (the occupancy)
/// times multiprocessors. \param kernel its address in host code \param shared_bytes dynamic shared memory
/// per block \throws DeviceError if a multiprocessor cannot hold one block
unsigned int resident_blocks(const void* kernel, unsigned int block, std::size_t shared_bytes);

/// The same with a typed kernel: `resident_blocks(reduce6<256>, 256, 1024)`.
template <class... Parameters>
unsigned int resident_blocks(void (*kernel)(Parameters...), unsigned int block,
                             std::size_t shared_bytes = 0) {
    return resident_blocks(reinterpret_cast<const void*>(kernel), block, shared_bytes);
}

/// How many multiprocessors the device has.
unsigned int multiprocessors();

/// Allows the kernel this much dynamic shared memory per block. A launch with more than 48 KiB fails without.
/// \throws DeviceError if a block cannot have as much
void allow_shared_bytes(const void* kernel, std::size_t shared_bytes);

} // namespace harness
