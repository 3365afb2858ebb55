#include "emulator/machine/memory_traffic.hpp"
#include "emulator/machine_code/actions.hpp"
#include "emulator/machine_code/warp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

namespace emulator::machine_code {
namespace {

using Kind = Operand::Kind;

constexpr std::uint64_t line_bytes = 128; ///< of the L1 cache
/// Lines of one request that the L1 looks up in a cycle, if each is in another part of it.
constexpr std::size_t tags_at_once = 4;
/// What a warp stores to no more lines than this, one store right behind the other, goes to the L2 together; to fewer than
/// twice as many, every second one.
constexpr std::size_t lines_stored_together = 4;

/// LD, ST and ATOM have generic addresses, of shared or of global memory.
bool is_generic(const Instruction& i) { return i.base == "LD" || i.base == "ST" || i.base == "ATOM"; }

/// The lanes whose addresses are of shared memory.
LaneMask shared_lanes(LaneMask lanes, const WideLanes& addresses) {
    return lanes & lanes_where([&](int lane) { return addresses[lane] >> 32 == shared_window; });
}

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

enum class Space : std::uint8_t { shared, global, local };

struct Request {
    Space space = Space::global;
    AccessKind kind = AccessKind::load;
    std::uint32_t bytes = 4;
};

/// The part of the L1 that a line of an allocation is in. How a card finds it is not known: lines at even distances are
/// not all in one.
std::size_t part_of_l1(std::uint64_t line) {
    std::uint64_t part = 0;
    for (; line != 0; line /= tags_at_once) part ^= line % tags_at_once;
    return part;
}

/// Passes of the data pipe, or cycles in which the L1 looks up the request's lines. \param first line of the allocation
std::uint32_t passes_of(const Access& access, std::span<const std::uint64_t> lines, std::uint64_t first) {
    std::array<std::uint32_t, tags_at_once> looked_up{};
    for (const std::uint64_t line : lines) ++looked_up[part_of_l1(line - first)];
    const auto words = static_cast<std::uint32_t>(std::popcount(access.active)) * access.bytes;
    return std::max({wavefronts(access).count, (words + 127) / 128,
                     *std::max_element(looked_up.begin(), looked_up.end())});
}

/// Of sectors that lanes store to, those of which they leave some bytes.
std::uint32_t partial_sectors(const Access& access, std::span<const std::uint64_t> sectors) {
    std::array<std::uint32_t, warp_size> bytes{}; ///< of each sector, one bit each: lanes may store the same
    for_each_lane(access.active, [&](int lane) {
        const std::uint64_t at = access.addresses.data()[lane];
        const auto place =
            std::lower_bound(sectors.begin(), sectors.end(), at / sector_bytes) - sectors.begin();
        const std::uint64_t own = (std::uint64_t{1} << access.bytes) - 1;
        bytes[static_cast<std::size_t>(place)] |= static_cast<std::uint32_t>(own << at % sector_bytes);
    });
    return static_cast<std::uint32_t>(
        std::count_if(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(sectors.size()),
                      [](std::uint32_t each) { return each != ~0U; }));
}

/// Adds what a request to memory beyond the L1 costs to the warp's step.
void count_lines(Warp& warp, const Request& request, const Access& access) {
    const bool loads = request.kind == AccessKind::load, stores = request.kind == AccessKind::store;
    timing::Step& step = warp.step;
    BlockState& block = warp.block();
    block.begin_request();
    std::vector<std::uint64_t> lines, all; // sectors
    std::uint32_t misses = 0, in_l2 = 0;
    for_each_lane(access.active, [&](int lane) {
        const std::uint64_t at = access.addresses.data()[lane];
        for (std::uint64_t sector = at / sector_bytes; sector <= (at + request.bytes - 1) / sector_bytes;
             ++sector) {
            all.push_back(sector);
            const bool is_absent = block.misses(sector);
            if (stores ? !block.stores_first(sector) : !is_absent) continue;
            const bool is_near = stores ? !is_absent : block.fetched_with_neighbor(sector);
            ++misses;
            in_l2 += is_near ? 1 : 0;
            if (request.space == Space::global && (stores || (loads && !is_near)))
                block.note_place(sector, step.instruction);
        }
        lines.push_back(at / line_bytes); // an access of a lane lies in one line
    });
    for (std::vector<std::uint64_t>* const places : {&lines, &all}) {
        std::sort(places->begin(), places->end());
        places->erase(std::unique(places->begin(), places->end()), places->end());
    }
    const bool is_atomic = !loads && !stores;
    const std::uint64_t first_line =
        block.launch().memory.allocation_of(access.addresses.data()[first_lane(access.active)]) / line_bytes;
    step.passes += static_cast<std::uint8_t>(is_atomic ? lines.size() : passes_of(access, lines, first_line));
    if (warp.stores_together(stores ? all : std::vector<std::uint64_t>{},
                             lines.size() <= lines_stored_together, lines.size() < 2 * lines_stored_together))
        return;
    step.sectors += static_cast<std::uint8_t>(is_atomic ? atomic_sectors(access) : all.size());
    step.lines += static_cast<std::uint8_t>(lines.size());
    step.first_line = static_cast<std::uint16_t>(lines.front() - first_line);
    if (stores) step.partial += static_cast<std::uint8_t>(partial_sectors(access, all));
    if (request.space == Space::local) { // which the L2 keeps
        in_l2 = misses = loads ? misses : 0;
    } else if (!is_atomic) {
        const auto [least, most] =
            std::minmax_element(access.addresses.data(), access.addresses.data() + warp_size);
        LoadedRanges& ranges = loads ? block.loaded() : block.stored();
        ranges[step.instruction].add(
            {.begin = *least, .end = *most + request.bytes, .sectors = loads ? misses - in_l2 : misses});
    }
    step.misses += static_cast<std::uint8_t>(misses);
    step.in_l2 += static_cast<std::uint8_t>(in_l2);
}

/// Adds what the request costs to the warp's step.
void count(Warp& warp, const Request& request, LaneMask lanes, const WideLanes& addresses) {
    if (lanes == 0) return;
    const bool shared = request.space == Space::shared;
    WideLanes each; // as LaneAddresses wants it: the others repeat the first active lane's
    for (int lane = 0; lane < warp_size; ++lane) {
        each[lane] = addresses[(lanes >> lane & 1) != 0 ? static_cast<std::size_t>(lane) : first_lane(lanes)];
        if (shared) each[lane] &= 0xFF'FFFF;
    }
    const Access access{.space = shared ? ptx::Space::shared : ptx::Space::global,
                        .kind = request.kind,
                        .bytes = request.bytes,
                        .active = lanes,
                        .addresses = LaneAddresses(each.data())};
    if (!shared) return count_lines(warp, request, access);
    const Wavefronts passes = wavefronts(access);
    warp.step.passes += static_cast<std::uint8_t>(passes.count);
    warp.step.conflicts += static_cast<std::uint8_t>(passes.count - passes.ideal);
}

/// The same for generic addresses, or for those of shared or global memory alone. \returns the lanes with shared ones
LaneMask count_generic(Warp& warp, Request request, bool generic, LaneMask lanes,
                       const WideLanes& addresses) {
    LaneMask shared = request.space == Space::shared ? lanes : 0;
    if (generic) shared = shared_lanes(lanes, addresses);
    request.space = Space::global;
    count(warp, request, lanes & ~shared, addresses);
    request.space = Space::shared;
    count(warp, request, shared, addresses);
    return shared;
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
    const bool is_signed = i.has("S8") || i.has("S16");
    if (i.operands.size() != 2) throw unknown(i);
    const Request request{.space = i.base == "LDS" ? Space::shared : Space::global, .bytes = bytes_of(i)};
    return [operands = i.operands, request, generic = is_generic(i), is_signed,
            may_poll = i.has("STRONG")](Warp& warp, LaneMask lanes) {
        const WideLanes addresses = warp.addresses(operands[1]);
        if (may_poll) warp.block().poll(addresses[first_lane(lanes)]);
        const LaneMask shared = count_generic(warp, request, generic, lanes, addresses);
        const std::uint32_t word = std::min(request.bytes, 4U);
        for (std::uint32_t from = 0; from < request.bytes; from += 4) {
            Lanes values{};
            for_each_lane(lanes, [&](int lane) {
                const std::uint64_t address = addresses[lane] + from;
                values[lane] = extended((shared >> lane & 1) != 0 ? warp.block().load_shared(address, word)
                                                                  : warp.block().load_global(address, word),
                                        word, is_signed);
            });
            warp.write(later(operands[0], from / 4), lanes, values);
        }
    };
}

Action store(const Instruction& i) { // STS, STG, ST
    if (i.operands.size() != 2) throw unknown(i);
    const Request request{.space = i.base == "STS" ? Space::shared : Space::global,
                          .kind = AccessKind::store,
                          .bytes = bytes_of(i)};
    return [operands = i.operands, request, generic = is_generic(i)](Warp& warp, LaneMask lanes) {
        const WideLanes addresses = warp.addresses(operands[0]);
        const LaneMask shared = count_generic(warp, request, generic, lanes, addresses);
        const std::uint32_t word = std::min(request.bytes, 4U);
        for (std::uint32_t from = 0; from < request.bytes; from += 4) {
            const Lanes values = warp.value(later(operands[1], from / 4));
            for_each_lane(lanes, [&](int lane) {
                const std::uint64_t address = addresses[lane] + from;
                (shared >> lane & 1) != 0 ? warp.block().store_shared(address, values[lane], word)
                                          : warp.block().store_global(address, values[lane], word);
            });
        }
    };
}

/// LDL, STL: a word of all lanes lies together, so that a warp's access to one word is one line.
Action local(const Instruction& i) {
    const bool loads = i.base == "LDL", is_signed = i.has("S8") || i.has("S16");
    if (i.operands.size() != 2) throw unknown(i);
    const Request request{.space = Space::local,
                          .kind = loads ? AccessKind::load : AccessKind::store,
                          .bytes = std::min(bytes_of(i), 4U)};
    return [operands = i.operands, loads, is_signed, request, words = (bytes_of(i) + 3) / 4](Warp& warp,
                                                                                             LaneMask lanes) {
        const WideLanes addresses = warp.addresses(operands[loads ? 1 : 0]);
        const std::uint32_t mask = request.bytes == 4 ? ~0U : (1U << 8 * request.bytes) - 1;
        for (std::uint32_t k = 0; k < words; ++k) {
            const Operand data = later(operands[loads ? 0 : 1], k);
            Lanes values = loads ? Lanes{} : warp.value(data);
            WideLanes places{};
            for_each_lane(lanes, [&](int lane) {
                const std::uint64_t place = addresses[lane] / 4 + k;
                const auto shift = static_cast<std::uint32_t>(addresses[lane] % 4 * 8);
                std::uint32_t& word = warp.local(static_cast<std::uint32_t>(place))[lane];
                if (loads) values[lane] = extended(word >> shift & mask, request.bytes, is_signed);
                if (!loads) word = (word & ~(mask << shift)) | (values[lane] & mask) << shift;
                places[lane] = std::uint64_t{warp.number() + 1} << 32 |
                               (place * line_bytes + static_cast<std::uint64_t>(lane) * 4);
            });
            count(warp, request, lanes, places);
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

std::uint64_t sum_of_floats(std::uint64_t a, std::uint64_t b) {
    return std::bit_cast<std::uint32_t>(std::bit_cast<float>(static_cast<std::uint32_t>(a)) +
                                        std::bit_cast<float>(static_cast<std::uint32_t>(b)));
}

std::uint64_t sum_of_doubles(std::uint64_t a, std::uint64_t b) {
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
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
    bool shared = false, generic = false, is_signed = false, is_float = false, has_result = false;
    bool tells_success = false; ///< CAST: 1 instead of the old value, if that was as expected
    bool counts_lanes = false;  ///< POPC.INC: those with one word in a single pass

    explicit Atomic(const Instruction& i)
        : bytes(bytes_of(i)), shared(i.base == "ATOMS"), generic(is_generic(i)),
          is_signed(i.has("S32") || i.has("S64")), is_float(i.has("F32") || i.has("F64")) {
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

    bool counts() const { return !is_float && (operation == "ADD" || operation == "INC"); }

    std::uint64_t updated(std::uint64_t old, std::uint64_t first, std::uint64_t second) const {
        if (operation == "CAS") return old == first ? second : old;
        if (is_float) return bytes == 8 ? sum_of_doubles(old, first) : sum_of_floats(old, first);
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
        const Request request{.space = a.shared ? Space::shared : Space::global,
                              .kind = a.has_result ? AccessKind::atom : AccessKind::red,
                              .bytes = a.bytes};
        const LaneMask shared = count_generic(warp, request, a.generic, lanes, addresses);
        warp.step.same = a.counts_lanes ? 1 : most_popular(lanes, addresses);
        WideLanes first, second{}, old{};
        first.fill(1);
        if (!a.values.empty()) first = words(warp, a.values[0], a.bytes);
        if (a.values.size() > 1) second = words(warp, a.values[1], a.bytes);
        BlockState& block = warp.block();
        for_each_lane(lanes, [&](int lane) {
            const std::uint64_t at = addresses[lane];
            const bool is_shared = (shared >> lane & 1) != 0;
            if (!is_shared) block.atomic_sectors().insert(at / sector_bytes);
            old[lane] = is_shared ? block.load_shared(at, a.bytes) : block.load_global(at, a.bytes);
            const std::uint64_t value = a.updated(old[lane], first[lane], second[lane]);
            if (!is_shared && a.has_result && a.counts()) block.count(at, a.bytes, value - old[lane]);
            is_shared ? block.store_shared(at, value, a.bytes) : block.store_global(at, value, a.bytes);
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

/// QSPC.E.S P0, RZ, [R6]: whether a generic address is of shared memory.
Action query_space(const Instruction& i) {
    if (!i.has("S") || i.operands.size() != 3) throw unknown(i);
    return [operands = i.operands](Warp& warp, LaneMask lanes) {
        warp.write_predicate(operands[0], lanes, shared_lanes(lanes, warp.addresses(operands[2])));
    };
}

} // namespace

std::uint32_t bytes_of(const Instruction& i) {
    static constexpr std::pair<const char*, std::uint32_t> sizes[] = {
        {"128", 16}, {"64", 8}, {"F64", 8}, {"U16", 2}, {"S16", 2}, {"U8", 1}, {"S8", 1}};
    for (const auto& [name, bytes] : sizes)
        if (i.has(name)) return bytes;
    return 4;
}

std::span<const Opcode> memory_opcodes() {
    static constexpr const char* access =
        " E 64 128 U8 S8 U16 S16 CONSTANT STRONG GPU SYS CTA EF EL LU LTC128B LTC64B LTC256B NA ";
    static constexpr const char* atomics =
        " E 64 S32 S64 F32 F64 FTZ RN STRONG GPU SYS CTA ADD AND OR XOR EXCH "
        "MIN MAX INC DEC CAS CAST SPIN POPC 32 ";
    static constexpr Opcode opcodes[] = {
        {"LDS", " U8 S8 U16 S16 64 128 ", load},
        {"STS", " U8 U16 64 128 ", store},
        {"LDG", access, load},
        {"LD", access, load},
        {"STG", access, store},
        {"ST", access, store},
        {"LDL", " U8 S8 U16 S16 64 128 LU ", local},
        {"STL", " U8 U16 64 128 ", local},
        {"ATOM", atomics, atomic},
        {"ATOMS", atomics, atomic},
        {"ATOMG", atomics, atomic},
        {"RED", atomics, atomic},
        {"REDG", atomics, atomic},
        {"QSPC", " E S ", query_space},
        // Fences: blocks are interpreted one after the other, so nothing can overtake.
        {"MEMBAR", " SC ALL GPU SYS CTA ", no_effect},
        {"ERRBAR", " ", no_effect},
        {"CGAERRBAR", " ", no_effect},
        {"CCTL", " IVALL ", no_effect},
    };
    return opcodes;
}

} // namespace emulator::machine_code
