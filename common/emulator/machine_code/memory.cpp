#include "emulator/machine/memory_traffic.hpp"
#include "emulator/machine_code/actions.hpp"
#include "emulator/machine_code/warp.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace emulator::machine_code {
namespace {

using Kind = Operand::Kind;

constexpr std::uint64_t line_bytes = 128; ///< of the L1 cache

// LD, ST and ATOM have generic addresses. Those are of global memory: to point to shared memory, code has to ask for a
// special register that the model does not know.

std::uint32_t extended(std::uint64_t value, std::uint32_t bytes, bool is_signed) {
    if (is_signed && bytes == 1) return static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
    if (is_signed && bytes == 2) return static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
    return static_cast<std::uint32_t>(value);
}

/// The register that is `words` further.
Operand later(Operand operand, std::uint32_t words) {
    if (operand.index != zero_register) operand.index = static_cast<std::uint8_t>(operand.index + words);
    return operand;
}

/// What the request costs, for the warp's step.
void count(Warp& warp, AccessKind kind, bool shared, std::uint32_t bytes, LaneMask lanes,
           const WideLanes& addresses) {
    WideLanes each; // as LaneAddresses wants it: the others repeat the first active lane's
    for (int lane = 0; lane < warp_size; ++lane) {
        each[lane] = addresses[(lanes >> lane & 1) != 0 ? static_cast<std::size_t>(lane) : first_lane(lanes)];
        if (shared) each[lane] &= 0xFF'FFFF;
    }
    const Access access{.space = shared ? ptx::Space::shared : ptx::Space::global,
                        .kind = kind,
                        .bytes = bytes,
                        .active = lanes,
                        .addresses = LaneAddresses(each.data())};
    if (shared) {
        const Wavefronts passes = wavefronts(access);
        warp.step.passes = static_cast<std::uint8_t>(passes.count);
        warp.step.conflicts = static_cast<std::uint8_t>(passes.count - passes.ideal);
        return;
    }
    const bool is_atomic = kind == AccessKind::atom || kind == AccessKind::red;
    warp.step.sectors = static_cast<std::uint8_t>(is_atomic ? atomic_sectors(access) : sectors(access));
    BlockState& block = warp.block();
    block.begin_request();
    std::array<std::uint64_t, warp_size> lines; // where each begins
    std::size_t number = 0;
    for_each_lane(lanes, [&](int lane) {
        const std::uint64_t first = each[lane] / sector_bytes, last = (each[lane] + bytes - 1) / sector_bytes;
        for (std::uint64_t sector = first; sector <= last; ++sector) {
            const bool is_absent = block.misses(sector), stores = kind == AccessKind::store;
            if (stores ? !block.stores_first(sector) : !is_absent) continue;
            ++warp.step.misses;
            warp.step.in_l2 += (stores ? !is_absent : block.fetched_with_neighbor(sector)) ? 1 : 0;
        }
        lines[number++] = each[lane] / line_bytes; // an access of a lane lies in one line
    });
    if (kind == AccessKind::load) {
        const auto [least, most] = std::minmax_element(each.begin(), each.end());
        const auto fetched = static_cast<std::uint64_t>(warp.step.misses - warp.step.in_l2);
        block.loaded()[warp.step.instruction].add(
            {.begin = *least, .end = *most + bytes, .sectors = fetched});
    }
    std::sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(number));
    warp.step.lines = static_cast<std::uint8_t>(
        std::unique(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(number)) - lines.begin());
}

/// How many lanes use the most popular address.
std::uint8_t most_popular(LaneMask lanes, const WideLanes& addresses) {
    WideLanes sorted;
    std::size_t number = 0;
    for_each_lane(lanes, [&](int lane) { sorted[number++] = addresses[lane]; });
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(number));
    std::size_t most = 0;
    for (std::size_t k = 0, first = 0; k < number; ++k) {
        if (sorted[k] != sorted[first]) first = k;
        most = std::max(most, k - first + 1);
    }
    return static_cast<std::uint8_t>(most);
}

Action load(const Instruction& i) { // LDS, LDG, LD
    const bool shared = i.base == "LDS", is_signed = i.has("S8") || i.has("S16");
    if (i.operands.size() != 2) throw unknown(i);
    return [operands = i.operands, shared, is_signed, may_poll = i.has("STRONG"),
            bytes = bytes_of(i)](Warp& warp, LaneMask lanes) {
        const WideLanes addresses = warp.addresses(operands[1]);
        if (may_poll) warp.block().poll(addresses[first_lane(lanes)]);
        count(warp, AccessKind::load, shared, bytes, lanes, addresses);
        const std::uint32_t word = std::min(bytes, 4U);
        for (std::uint32_t from = 0; from < bytes; from += 4) {
            Lanes values{};
            for_each_lane(lanes, [&](int lane) {
                const std::uint64_t address = addresses[lane] + from;
                values[lane] = extended(shared ? warp.block().load_shared(address, word)
                                               : warp.block().load_global(address, word),
                                        word, is_signed);
            });
            warp.write(later(operands[0], from / 4), lanes, values);
        }
    };
}

Action store(const Instruction& i) { // STS, STG, ST
    const bool shared = i.base == "STS";
    if (i.operands.size() != 2) throw unknown(i);
    return [operands = i.operands, shared, bytes = bytes_of(i)](Warp& warp, LaneMask lanes) {
        const WideLanes addresses = warp.addresses(operands[0]);
        count(warp, AccessKind::store, shared, bytes, lanes, addresses);
        const std::uint32_t word = std::min(bytes, 4U);
        for (std::uint32_t from = 0; from < bytes; from += 4) {
            const Lanes values = warp.value(later(operands[1], from / 4));
            for_each_lane(lanes, [&](int lane) {
                const std::uint64_t address = addresses[lane] + from;
                shared ? warp.block().store_shared(address, values[lane], word)
                       : warp.block().store_global(address, values[lane], word);
            });
        }
    };
}

/// LDL, STL: a word of all lanes lies together, so that a warp's access is one line. The L1 cache has it.
Action local(const Instruction& i) {
    const bool loads = i.base == "LDL";
    const std::uint32_t words = bytes_of(i) / 4;
    if (i.operands.size() != 2 || words == 0) throw unknown(i);
    return [operands = i.operands, loads, words](Warp& warp, LaneMask lanes) {
        const WideLanes addresses = warp.addresses(operands[loads ? 1 : 0]);
        warp.step.lines = static_cast<std::uint8_t>(words);
        warp.step.sectors = static_cast<std::uint8_t>(4 * words);
        for (std::uint32_t k = 0; k < words; ++k) {
            const Operand data = later(operands[loads ? 0 : 1], k);
            Lanes values = loads ? Lanes{} : warp.value(data);
            for_each_lane(lanes, [&](int lane) {
                std::uint32_t& word = warp.local(static_cast<std::uint32_t>(addresses[lane] / 4 + k))[lane];
                loads ? values[lane] = word : word = values[lane];
            });
            if (loads) warp.write(data, lanes, values);
        }
    };
}

template <class Word> Word combined(std::string_view operation, Word old, Word value, bool is_signed) {
    using Signed = std::make_signed_t<Word>;
    const bool less = is_signed ? static_cast<Signed>(value) < static_cast<Signed>(old) : value < old;
    if (operation == "ADD") return static_cast<Word>(old + value);
    if (operation == "AND") return old & value;
    if (operation == "OR") return old | value;
    if (operation == "XOR") return old ^ value;
    if (operation == "EXCH") return value;
    if (operation == "MIN") return less ? value : old;
    if (operation == "MAX") return less ? old : value;
    if (operation == "INC") return old >= value ? 0 : old + 1;
    return old == 0 || old > value ? value : old - 1; // DEC
}

float sum_of(std::uint64_t a, std::uint64_t b) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(a)) +
           std::bit_cast<float>(static_cast<std::uint32_t>(b));
}

/// The operands of an atomic: where to, the address, the values. RED and POPC.INC have less of them.
struct Atomic {
    Operand done{.kind = Kind::predicate,
                 .index = true_predicate}; ///< of ATOM: else code does it, in shared memory
    Operand result{.kind = Kind::reg};
    Operand address;
    std::vector<Operand> values;
    std::string operation;
    std::uint32_t bytes = 4;
    bool shared = false, is_signed = false, is_float = false, has_result = false;
    bool tells_success = false; ///< CAST: 1 instead of the old value, if that was as expected
    bool counts_lanes = false;  ///< POPC.INC: those with one word in a single pass

    explicit Atomic(const Instruction& i)
        : bytes(bytes_of(i)), shared(i.base == "ATOMS"), is_signed(i.has("S32") || i.has("S64")),
          is_float(i.has("F32")) {
        for (const Operand& operand : i.operands) {
            if (operand.kind == Kind::address)
                address = operand;
            else if (operand.kind == Kind::reg && address.kind != Kind::address)
                result = operand;
            else if (operand.kind != Kind::predicate)
                values.push_back(operand);
            else if (i.base == "ATOM")
                done = operand;
        }
        has_result = result.index != zero_register;
        static constexpr const char* names[] = {"ADD", "AND", "OR",  "XOR", "EXCH",
                                                "MIN", "MAX", "DEC", "CAS"};
        for (const char* name : names)
            if (i.has(name)) operation = name;
        if (i.has("CAST")) operation = "CAS";
        tells_success = i.has("CAST");
        counts_lanes = i.has("POPC");
        if (i.has("INC")) operation = counts_lanes ? "ADD" : "INC"; // ATOMS.POPC.INC: each lane adds 1
        if (operation.empty() || (is_float && operation != "ADD")) throw unknown(i);
    }

    bool counts() const { return operation == "ADD" || operation == "INC"; }

    std::uint64_t updated(std::uint64_t old, std::uint64_t first, std::uint64_t second) const {
        if (operation == "CAS") return old == first ? second : old;
        if (is_float) return std::bit_cast<std::uint32_t>(sum_of(old, first));
        return bytes == 8 ? combined<std::uint64_t>(operation, old, first, is_signed)
                          : combined<std::uint32_t>(operation, static_cast<std::uint32_t>(old),
                                                    static_cast<std::uint32_t>(first), is_signed);
    }
};

WideLanes words(const Warp& warp, const Operand& operand, std::uint32_t bytes) {
    if (bytes == 8) return warp.wide(operand);
    const Lanes narrow = warp.value(operand);
    WideLanes result;
    std::copy(narrow.begin(), narrow.end(), result.begin());
    return result;
}

Action atomic(const Instruction& i) {
    return [a = Atomic(i)](Warp& warp, LaneMask lanes) {
        const WideLanes addresses = warp.addresses(a.address);
        count(warp, a.has_result ? AccessKind::atom : AccessKind::red, a.shared, a.bytes, lanes, addresses);
        warp.step.same = a.counts_lanes ? 1 : most_popular(lanes, addresses);
        WideLanes first, second{}, old{};
        first.fill(1);
        if (!a.values.empty()) first = words(warp, a.values[0], a.bytes);
        if (a.values.size() > 1) second = words(warp, a.values[1], a.bytes);
        BlockState& block = warp.block();
        for_each_lane(lanes, [&](int lane) {
            const std::uint64_t at = addresses[lane];
            if (!a.shared) block.atomic_words().insert(at);
            old[lane] = a.shared ? block.load_shared(at, a.bytes) : block.load_global(at, a.bytes);
            const std::uint64_t value = a.updated(old[lane], first[lane], second[lane]);
            if (!a.shared && a.has_result && a.counts()) block.count(at, a.bytes, value - old[lane]);
            a.shared ? block.store_shared(at, value, a.bytes) : block.store_global(at, value, a.bytes);
            if (a.tells_success) old[lane] = old[lane] == first[lane] ? 1 : 0;
        });
        warp.write_predicate(a.done, lanes, lanes);
        if (!a.has_result) return;
        if (a.bytes == 8 && !a.tells_success) return warp.write_wide(a.result, lanes, old);
        Lanes narrow;
        for (int lane = 0; lane < warp_size; ++lane) narrow[lane] = static_cast<std::uint32_t>(old[lane]);
        warp.write(a.result, lanes, narrow);
    };
}

} // namespace

std::uint32_t bytes_of(const Instruction& i) {
    static constexpr std::pair<const char*, std::uint32_t> sizes[] = {{"128", 16}, {"64", 8}, {"U16", 2},
                                                                      {"S16", 2},  {"U8", 1}, {"S8", 1}};
    for (const auto& [name, bytes] : sizes)
        if (i.has(name)) return bytes;
    return 4;
}

std::span<const Opcode> memory_opcodes() {
    static constexpr const char* access =
        " E 64 128 U8 S8 U16 S16 CONSTANT STRONG GPU SYS CTA EF EL LTC128B LTC64B LTC256B NA ";
    static constexpr const char* atomics = " E 64 S32 S64 F32 FTZ RN STRONG GPU SYS CTA ADD AND OR XOR EXCH "
                                           "MIN MAX INC DEC CAS CAST SPIN POPC 32 ";
    static constexpr Opcode opcodes[] = {
        {"LDS", " U8 S8 U16 S16 64 128 ", load},
        {"STS", " U8 U16 64 128 ", store},
        {"LDG", access, load},
        {"LD", access, load},
        {"STG", access, store},
        {"ST", access, store},
        {"LDL", " 64 128 ", local},
        {"STL", " 64 128 ", local},
        {"ATOM", atomics, atomic},
        {"ATOMS", atomics, atomic},
        {"ATOMG", atomics, atomic},
        {"RED", atomics, atomic},
        {"REDG", atomics, atomic},
        // Fences: blocks are interpreted one after the other, so nothing can overtake.
        {"MEMBAR", " SC ALL GPU SYS CTA ", no_effect},
        {"ERRBAR", " ", no_effect},
        {"CGAERRBAR", " ", no_effect},
        {"CCTL", " IVALL ", no_effect},
    };
    return opcodes;
}

} // namespace emulator::machine_code
