#include "emulator/machine_code/warp.hpp"

#include "emulator/text.hpp"

#include <algorithm>
#include <cstring>

namespace emulator::machine_code {
namespace {

using Kind = Operand::Kind;

// Where the driver puts what a kernel of sm_90 reads from constant bank 0.
constexpr std::uint64_t block_extents = 0x0, grid_extents = 0xC, parameter_place = 0x210;
// So many sectors are remembered. A cache holds fewer: those that are forgotten are no longer in it.
constexpr std::size_t most_sectors = 1'000'000;
constexpr std::size_t most_places = 200'000; ///< that tell how a block's accesses are spread
// More loads of one word in succession wait for another block to store it.
constexpr std::uint64_t most_polls = 1000;
// Where a block's shared memory begins: CUDA reserves the first KiB.
constexpr std::uint64_t shared_begin = 1024;

/// An access that the launch could not make on a card, unless the program is wrong.
NotUnderstood outside(const std::string& what) {
    return NotUnderstood("a block " + what +
                         "; under --time-only it may lack the results of earlier launches, which do not run");
}

/// Where the upper half of 64 bits is.
Operand upper_half(Operand operand) {
    if (operand.kind == Kind::constant) operand.bits += 4;
    if (operand.kind == Kind::immediate) operand.bits >>= 32;
    if (operand.kind == Kind::reg && operand.index != zero_register) ++operand.index;
    if (operand.kind == Kind::uniform && operand.index != zero_uniform_register) ++operand.index;
    return operand;
}

} // namespace

std::uint8_t distinct(const Lanes& values, LaneMask lanes) {
    Lanes sorted;
    std::ptrdiff_t count = 0;
    for_each_lane(lanes, [&](int lane) { sorted[static_cast<std::size_t>(count++)] = values[lane]; });
    std::sort(sorted.begin(), sorted.begin() + count);
    return static_cast<std::uint8_t>(std::unique(sorted.begin(), sorted.begin() + count) - sorted.begin());
}

BlockState::BlockState(const LaunchView& launch, const Constants& constants, std::uint64_t block)
    : launch_(launch), constants_(constants), index_(coordinates(block, launch.grid)),
      shared_(launch.shared_bytes) {}

std::uint32_t BlockState::constant(std::uint64_t bank, std::uint64_t offset) const {
    const Dim3 &block = launch_.block, &grid = launch_.grid;
    const std::uint32_t extents[] = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
    static_assert(grid_extents == block_extents + 12);
    if (bank == 0 && offset < sizeof extents) return extents[offset / 4];
    if (bank == 0 && offset >= parameter_place) {
        std::uint32_t word = 0;
        const std::uint64_t place = offset - parameter_place, size = launch_.parameters.size();
        if (place < size)
            std::memcpy(&word, launch_.parameters.data() + place, std::min<std::size_t>(4, size - place));
        return word;
    }
    if (bank == 0) return 0; // the stack, and the descriptor of global memory
    const std::size_t literals = constants_.literals.size();
    if (bank == 2 && literals >= 4 && offset <= literals - 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, constants_.literals.data() + offset, 4);
        return word;
    }
    if (const auto at = constants_.addresses.find(offset & ~7ULL);
        bank == 4 && at != constants_.addresses.end())
        return static_cast<std::uint32_t>(address_of(at->second) >> (offset & 4) * 8);
    const auto above = constants_.variables.upper_bound(offset);
    if (bank == 3 && above != constants_.variables.begin()) {
        const auto variable = std::prev(above);
        return static_cast<std::uint32_t>(
            load_global(address_of(variable->second) + offset - variable->first, 4));
    }
    throw NotUnderstood("the model does not know the constant c[" + hexadecimal(bank) + "][" +
                        hexadecimal(offset) + "]");
}

std::uint64_t BlockState::address_of(const std::string& variable) const {
    const std::uint64_t address = launch_.address_of(variable);
    if (address == 0) throw NotUnderstood("the model does not know the variable " + variable);
    return address;
}

std::uint64_t BlockState::load_global(std::uint64_t address, std::uint32_t bytes) const {
    std::uint64_t value = 0;
    const std::byte* const at = launch_.memory.bytes(address, bytes);
    if (!at) throw outside("loads from " + hexadecimal(address) + ", where no memory is");
    std::memcpy(&value, at, bytes);
    if (written_.empty()) return value;
    for (std::uint32_t k = 0; k < bytes; ++k) { // bytes of words
        const auto word = written_.find((address + k) / 4);
        if (word == written_.end()) continue;
        const std::uint64_t byte = word->second >> (address + k) % 4 * 8 & 0xFF;
        value = (value & ~(std::uint64_t{0xFF} << 8 * k)) | byte << 8 * k;
    }
    return value;
}

void BlockState::store_global(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
    if (!launch_.memory.bytes(address, bytes))
        throw outside("stores to " + hexadecimal(address) + ", where no memory is");
    const std::uint64_t last = (address + bytes - 1) / 4;
    for (std::uint64_t word = address / 4; word <= last; ++word) {
        std::uint32_t whole = 0;
        auto* const at = reinterpret_cast<std::byte*>(&whole);
        const bool is_whole = address <= word * 4 && word * 4 + 4 <= address + bytes;
        for (std::uint32_t k = 0; k < 4 && !is_whole; ++k) // An allocation may end within the word.
            if (launch_.memory.bytes(word * 4 + k, 1))
                at[k] = static_cast<std::byte>(load_global(word * 4 + k, 1));
        for (std::uint32_t k = 0; k < bytes; ++k)
            if ((address + k) / 4 == word) at[(address + k) % 4] = static_cast<std::byte>(value >> 8 * k);
        written_[word] = whole;
        if (written_.size() > launch_.most_words) throw NotUnderstood("a block writes too much to follow");
    }
}

void BlockState::count(std::uint64_t address, std::uint32_t bytes, std::uint64_t added) {
    Counter& counter = counters_[address];
    counter.bytes = bytes;
    counter.added += added;
}

void BlockState::add_to_counters(const Counters& counters, std::uint64_t blocks) {
    for (const auto& [address, counter] : counters)
        store_global(address, load_global(address, counter.bytes) + blocks * counter.added, counter.bytes);
}

void BlockState::reduce_at_barrier(std::string_view operation, LaneMask lanes, LaneMask set) {
    reduction_ = operation;
    holding_ += static_cast<std::uint32_t>(std::popcount(lanes & set));
    if ((lanes & ~set) != 0) all_hold_ = 0;
    if ((lanes & set) != 0) some_hold_ = 1;
}

void BlockState::pass_barrier() {
    if (reduction_.empty()) return;
    reduced_ = reduction_ == "POPC" ? holding_ : reduction_ == "AND" ? all_hold_ : some_hold_;
    reduction_.clear();
    holding_ = some_hold_ = 0;
    all_hold_ = 1;
}

void BlockState::poll(std::uint64_t address) {
    polls_ = address == polled_ ? polls_ + 1 : 0;
    polled_ = address;
    if (polls_ > most_polls) throw NotUnderstood("blocks that wait for each other are not modeled");
}

bool BlockState::misses(std::uint64_t sector) {
    if (touches_ > 0 && sector == latest_) return false; // lanes side by side
    latest_ = sector;
    if (touched_.size() >= most_sectors) touched_.clear();
    const auto [last, is_first] = touched_.try_emplace(sector, touches_);
    const bool is_gone = (touches_ - last->second) * 32 > launch_.cache_bytes;
    last->second = touches_++;
    return is_first || is_gone;
}

bool BlockState::stores_first(std::uint64_t sector) {
    if (stored_.size() >= most_sectors) stored_.clear();
    return stored_.insert(sector).second;
}

bool BlockState::fetched_with_neighbor(std::uint64_t sector) const {
    const auto neighbor = touched_.find(sector ^ 1);
    return neighbor != touched_.end() && neighbor->second < request_;
}

void BlockState::note_place(std::uint64_t sector, std::uint32_t instruction) {
    if (places_.size() < most_places) places_.push_back({sector, instruction});
}

std::size_t BlockState::shared_place(std::uint64_t address, std::uint32_t bytes) const {
    const std::uint64_t place = (address & 0xFF'FFFF) - shared_begin; // the rest names a block of a cluster
    if (place > shared_.size() || shared_.size() - place < bytes)
        throw outside("leaves its shared memory, at " + hexadecimal(address));
    return place;
}

std::uint64_t BlockState::load_shared(std::uint64_t address, std::uint32_t bytes) const {
    std::uint64_t value = 0;
    std::memcpy(&value, shared_.data() + shared_place(address, bytes), bytes);
    return value;
}

void BlockState::store_shared(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
    std::memcpy(shared_.data() + shared_place(address, bytes), &value, bytes);
}

Warp::Warp(BlockState& block, std::uint32_t number)
    : block_(&block), number_(number), registers_(256, Lanes{}) {
    const std::uint64_t threads = block.launch().block.count();
    existing_ = lanes_where([&](int lane) { return number * std::uint64_t{warp_size} + lane < threads; });
    predicates_[true_predicate] = uniform_predicates_[true_predicate] = all_lanes;
}

Lanes Warp::raw(const Operand& operand) const {
    Lanes values;
    if (operand.kind == Kind::reg) return registers_[operand.index];
    if (operand.kind == Kind::uniform) {
        values.fill(uniform_[operand.index]);
    } else if (operand.kind == Kind::immediate) {
        values.fill(static_cast<std::uint32_t>(operand.bits));
    } else if (operand.kind == Kind::constant) {
        const Lanes offsets = constant_offsets(operand);
        if (operand.index_register == zero_register)
            values.fill(block_->constant(operand.index, offsets[0]));
        else
            for (int lane = 0; lane < warp_size; ++lane) // Other lanes may hold any index.
                values[lane] = (active >> lane & 1) != 0 ? block_->constant(operand.index, offsets[lane]) : 0;
    } else {
        throw NotUnderstood("the model does not know the operand " + operand.text);
    }
    return values;
}

Lanes Warp::constant_offsets(const Operand& operand) const {
    Lanes offsets = registers_[operand.index_register];
    for (std::uint32_t& offset : offsets)
        offset += static_cast<std::uint32_t>(operand.bits) + uniform_[operand.uniform];
    return offsets;
}

Lanes Warp::value(const Operand& operand) const {
    Lanes values = raw(operand);
    if (operand.inverted)
        for (std::uint32_t& value : values) value = ~value;
    if (operand.negated)
        for (std::uint32_t& value : values) value = 0 - value;
    return values;
}

WideLanes Warp::wide(const Operand& operand) const {
    const Lanes lows = raw(operand), highs = raw(upper_half(operand));
    WideLanes values;
    for (int lane = 0; lane < warp_size; ++lane) {
        values[lane] = std::uint64_t{highs[lane]} << 32 | lows[lane];
        if (operand.inverted) values[lane] = ~values[lane];
        if (operand.negated) values[lane] = 0 - values[lane];
    }
    return values;
}

LaneMask Warp::predicate(const Operand& operand) const {
    const bool is_uniform = operand.kind == Kind::uniform_predicate;
    if (!is_uniform && operand.kind != Kind::predicate)
        throw NotUnderstood("the model does not know the operand " + operand.text);
    const LaneMask holds = (is_uniform ? uniform_predicates_ : predicates_)[operand.index];
    return operand.inverted ? ~holds : holds;
}

WideLanes Warp::addresses(const Operand& operand) const {
    Operand base{.kind = Kind::reg, .index = operand.index},
        uniform{.kind = Kind::uniform, .index = operand.uniform};
    WideLanes result{};
    const bool uniform_is_wide = operand.wide_base;
    const WideLanes added = uniform_is_wide ? wide(uniform) : WideLanes{};
    const WideLanes bases = operand.wide_base ? wide(base) : WideLanes{};
    const Lanes& narrow = registers_[operand.index];
    for (int lane = 0; lane < warp_size; ++lane)
        result[lane] =
            operand.wide_base
                ? bases[lane] + added[lane] + operand.bits
                : static_cast<std::uint32_t>(narrow[lane] + uniform_[operand.uniform] + operand.bits);
    return result;
}

void Warp::write_register(Kind kind, std::uint32_t index, LaneMask lanes, const Lanes& values) {
    if (kind == Kind::uniform) {
        if (index != zero_uniform_register) uniform_[index] = values[first_lane(lanes)];
        return;
    }
    if (kind != Kind::reg) throw NotUnderstood("the model does not know results that are no registers");
    if (index == zero_register) return;
    Lanes& to = registers_[index];
    for (int lane = 0; lane < warp_size; ++lane)
        to[lane] = (lanes >> lane & 1) != 0 ? values[lane] : to[lane];
}

void Warp::write(const Operand& to, LaneMask lanes, const Lanes& values) {
    write_register(to.kind, to.index, lanes, values);
}

void Warp::write_wide(const Operand& to, LaneMask lanes, const WideLanes& values) {
    Lanes lows, highs;
    for (int lane = 0; lane < warp_size; ++lane) {
        lows[lane] = static_cast<std::uint32_t>(values[lane]);
        highs[lane] = static_cast<std::uint32_t>(values[lane] >> 32);
    }
    write_register(to.kind, to.index, lanes, lows);
    write_register(to.kind, upper_half(to).index, lanes, highs);
}

void Warp::write_predicate(const Operand& to, LaneMask lanes, LaneMask values) {
    if (to.index == true_predicate) return;
    if (to.kind == Kind::uniform_predicate)
        uniform_predicates_[to.index] = (values & lanes) != 0 ? all_lanes : 0;
    else if (to.kind == Kind::predicate)
        predicates_[to.index] = (predicates_[to.index] & ~lanes) | (values & lanes);
    else
        throw NotUnderstood("the model does not know the result " + to.text);
}

void Warp::write_comparison(const std::vector<Operand>& operands, LaneMask lanes, LaneMask set,
                            char combination) {
    const LaneMask other = predicate(operands[4]);
    const auto combined = [&](LaneMask own) {
        return combination == '|' ? own | other : combination == '^' ? own ^ other : own & other;
    };
    write_predicate(operands[0], lanes, combined(set));
    write_predicate(operands[1], lanes, combined(~set));
}

bool Warp::stores_together(const std::vector<std::uint64_t>& sectors, bool often, bool sometimes) {
    const bool is_same = sometimes && !sectors.empty() &&
                         std::includes(stored_.begin(), stored_.end(), sectors.begin(), sectors.end());
    if (!is_same) stored_ = sectors;
    if (is_same && !often) stored_.clear();
    return is_same;
}

std::uint32_t Warp::predicates_of(int lane) const {
    std::uint32_t bits = 0;
    for (std::uint32_t k = 0; k < true_predicate; ++k) bits |= (predicates_[k] >> lane & 1) << k;
    return bits;
}

void Warp::set_predicates(int lane, std::uint32_t bits, std::uint32_t mask) {
    for (std::uint32_t k = 0; k < true_predicate; ++k)
        if ((mask >> k & 1) != 0)
            predicates_[k] = (predicates_[k] & ~(LaneMask{1} << lane)) | (bits >> k & 1) << lane;
}

} // namespace emulator::machine_code
