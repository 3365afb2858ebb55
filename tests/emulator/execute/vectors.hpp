/// Pure arithmetic as a table: forms of instructions with thousands of operands each. Tests compare what the
/// emulator makes of them with an independent reference, and with what a GPU has made of the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace emulator::vectors {

struct Operands {
    std::uint64_t a = 0, b = 0, c = 0;
};

/// What operands look like: the edges of the type, and how random ones are made.
enum class Domain { integers, f16, bf16, f16x2, bf16x2, f32, f64 };

struct Form {
    std::string instruction; ///< "add.rn.ftz.f32"
    char result = 'r';       ///< the register: h 16 bits, r 32, d 64, p a predicate
    std::string sources;     ///< one letter each
    Domain domain = Domain::integers;
    /// From the low bits of the operands, which hold anything above.
    std::function<std::uint64_t(const Operands&)> expected;
};

/// All types with all modifiers.
const std::vector<Form>& forms();

/// The same in every run: every combination of edge values, or of three operands some, and random ones.
std::vector<Operands> operands_of(const Form& form);

/// A module whose kernel `k(operands, results)` executes the form once in each thread.
std::string module_text(const Form& form);

constexpr std::uint32_t threads_per_block = 128; ///< there are that many operands, or a multiple

/// The bits of a result as they are compared: of f64 all NaNs are one.
std::uint64_t comparable(const Form& form, std::uint64_t result);

/// One number for all results of a form (FNV-1a).
std::uint64_t digest(const Form& form, const std::uint64_t* results, std::size_t count);

} // namespace emulator::vectors
