#include "emulator/check/race/weak_memory.hpp"

#include "emulator/check/race/grid_order.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/schedule.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

namespace {

constexpr std::uint64_t word_bytes = 4, stored_page_bytes = 4096;

/// The last store to a word of global memory. Stores of a cluster between two of its fences count as one.
struct LastStore {
    std::uint32_t before = 0;  ///< what was there
    std::uint32_t cluster = 0; ///< who stored
    Stamp stamp = 0;           ///< its time; 0: all clusters see the value in memory
    unsigned char writes = 0;  ///< in this launch: 0, 1, or 2 for more
};

/// Memory holds the last value of each word. If a load is to get an older one, that is put there for this
/// instruction, until the next event at the latest.
class WeakMemoryObserver final : public Observer {
public:
    explicit WeakMemoryObserver(const Grid& grid) : grid_(grid) {}
    ~WeakMemoryObserver() override { put_back(); }
    WeakMemoryObserver(const WeakMemoryObserver&) = delete;
    WeakMemoryObserver& operator=(const WeakMemoryObserver&) = delete;

    bool wants(EventKind kind) const override {
        return is_global_access(kind) || kind == EventKind::instructions;
    }

    void block_started(Block& block) override {
        if (block.rank() != 0) return;
        ClusterState& state = clusters_[&block.cluster()];
        const Dim3 grid = grid_.configuration.grid, index = block.index();
        const std::uint64_t number =
            index.x + std::uint64_t{grid.x} * (index.y + std::uint64_t{grid.y} * index.z);
        state.number = static_cast<std::uint32_t>(number);
        state.ticks = 1;
        state.has_stored = false;
        state.seen_by_fences.clear();
        order_.start(state.view, state.number, state.number);
    }

    void accessed(const Warp& warp, const Instruction& instruction, const Access& access) override {
        put_back();
        ClusterState& state = state_of(warp);
        const bool is_strong = may_synchronize(instruction, access.kind);
        const bool is_load = access.kind == AccessKind::load, is_store = access.kind == AccessKind::store;
        const bool is_narrow_atomic = !is_load && !is_store && is_narrow(instruction);
        LaneMask late = 0;
        if (!is_store)
            for_each_lane(access.active, [&](int lane) {
                const std::uint64_t address = access.addresses[lane];
                if ((is_load && !access.is_copy) || is_narrow_atomic)
                    late |= LaneMask{load(state, address, access.bytes, is_strong)} << lane;
                else
                    show_to_all(last_stores(address, access.bytes, !is_load), is_load ? 0 : 1);
            });
        if (is_store || is_narrow_atomic)
            for_each_lane(access.active,
                          [&](int lane) { store(state, access.addresses[lane], access.bytes); });
        if (is_strong) synchronize(state, instruction, access, access.active & ~late);
    }

    void fenced(const Warp& warp, const Instruction& instruction, LaneMask) override {
        put_back();
        if (instruction.sync == SyncKind::proxy_fence || is_narrow(instruction)) return;
        ClusterState& state = state_of(warp);
        const GridOrder::Clock own = pass_tick(state);
        order_.fenced(state.view, 0, instruction.scope, own);
        state.seen_by_fences.join(fenced_);
        fenced_.join(order_.knowledge(state.view, 0, own));
    }

    void instructions_executed(const Warp&, const Code&, std::uint32_t, std::uint32_t, LaneMask) override {
        put_back();
    }

    /// Whatever others do next, they have seen all stores.
    void launch_paused() override {
        put_back();
        pages_.clear();
        page_ = {};
    }

private:
    struct ClusterState {
        std::uint32_t number = 0; ///< of its first block
        Stamp ticks = 1;          ///< a new one begins with each fence
        bool has_stored = false;  ///< in this tick
        GridOrder::View view;     ///< of one warp, as all threads are one
        GridClock seen_by_fences; ///< what all fences had ordered, at this cluster's last one
    };
    struct Late {
        std::uint64_t address = 0;
        std::uint32_t before = 0, last = 0;
    };
    using Page = std::array<LastStore, stored_page_bytes / word_bytes>;

    ClusterState& state_of(const Warp& warp) {
        const Cluster* const cluster = &warp.block().cluster();
        if (current_.first != cluster) current_ = {cluster, &clusters_.at(cluster)};
        return *current_.second;
    }

    /// For threads of the cluster only.
    static bool is_narrow(const Instruction& instruction) {
        return instruction.scope == Scope::block || instruction.scope == Scope::cluster;
    }

    static Stamp now(const ClusterState& state) { return state.ticks << 5; }

    /// Returns what the cluster can release: all that it has stored.
    static GridOrder::Clock pass_tick(ClusterState& state) {
        if (std::exchange(state.has_stored, false)) ++state.ticks;
        GridOrder::Clock own{};
        own[0] = now(state);
        return own;
    }

    // ---- the words of one lane's access, which lie in one page ----

    Page* page_of(std::uint64_t address, bool makes_one) {
        const std::uint64_t number = address / stored_page_bytes;
        if (number != page_.first || (!page_.second && makes_one)) {
            const auto found = makes_one ? pages_.try_emplace(number).first : pages_.find(number);
            page_ = {number, found == pages_.end() ? nullptr : &found->second};
        }
        return page_.second;
    }
    /// Null if nothing has been stored.
    std::span<LastStore> last_stores(std::uint64_t address, std::uint32_t bytes, bool makes_page = false) {
        Page* const page = page_of(address, makes_page);
        if (!page) return {};
        const std::uint64_t first = address % stored_page_bytes / word_bytes;
        return std::span(*page).subspan(first, (bytes + word_bytes - 1) / word_bytes);
    }

    /// \param writes made just now
    static void show_to_all(std::span<LastStore> stores, int writes = 0) {
        for (LastStore& store : stores) store = {.writes = more_writes(store, writes)};
    }
    static unsigned char more_writes(const LastStore& store, int writes) {
        return static_cast<unsigned char>(std::min(store.writes + writes, 2));
    }

    void store(ClusterState& state, std::uint64_t address, std::uint32_t bytes) {
        std::uint64_t place = address / word_bytes * word_bytes;
        for (LastStore& last : last_stores(address, bytes, true)) {
            if (last.stamp != now(state) || last.cluster != state.number)
                last = {word_at(place), state.number, now(state), more_writes(last, 1)};
            place += word_bytes;
        }
        state.has_stored = true;
    }

    /// Whether the load gets older values. They are those of all its words, stored together: no load sees
    /// part of an access.
    bool load(const ClusterState& state, std::uint64_t address, std::uint32_t bytes, bool is_strong) {
        const std::span<LastStore> stores = last_stores(address, bytes);
        const auto may_miss = [&](const LastStore& last) {
            return last.stamp != 0 && last.cluster != state.number &&
                   !state.view.knows(0, last.cluster, last.stamp);
        };
        if (std::none_of(stores.begin(), stores.end(), may_miss)) return false;
        const std::uint64_t first = address / word_bytes * word_bytes;
        const auto is_first = [&](const Late& word) { return word.address == first; };
        if (std::any_of(late_.begin(), late_.end(), is_first)) return true; // by another lane
        const LastStore& store = stores.front();
        const bool is_one_store = std::all_of(stores.begin(), stores.end(), [&](const LastStore& other) {
            return other.stamp == store.stamp && other.cluster == store.cluster;
        });
        const bool is_fenced = is_strong && state.seen_by_fences.knows(store.cluster, store.stamp);
        // The older value may be a message too: whoever reads it synchronizes with a write that order_ has
        // forgotten.
        const bool is_second_message = is_strong && store.writes > 1;
        if (!is_one_store || is_fenced || is_second_message || !grid_.schedule->once_in(2)) {
            show_to_all(stores);
            return false;
        }
        for (std::size_t k = 0; k < stores.size(); ++k) {
            const std::uint64_t place = first + k * word_bytes;
            late_.push_back({place, stores[k].before, word_at(place)});
            word_at(place) = stores[k].before;
        }
        return true;
    }

    /// For lanes that have read or write the last value.
    void synchronize(ClusterState& state, const Instruction& instruction, const Access& access,
                     LaneMask lanes) {
        const bool reads =
            (access.kind == AccessKind::load || access.kind == AccessKind::atom) && order_.may_read();
        const bool releases = access.kind != AccessKind::load && does_release(instruction);
        const bool writes = access.kind != AccessKind::load && order_.may_write(state.view);
        const GridOrder::Clock own = releases ? pass_tick(state) : GridOrder::Clock{};
        for_each_lane(lanes, [&](int lane) {
            const std::uint64_t first = access.addresses[lane] / word_bytes,
                                end = access.addresses[lane] + access.bytes;
            for (std::uint64_t word = first; word * word_bytes < end; ++word) {
                if (reads) order_.read(state.view, 0, word, instruction.scope, does_acquire(instruction));
                if (releases)
                    order_.released(state.view, 0, word, instruction.scope, own);
                else if (writes)
                    order_.wrote(state.view, 0, word, instruction.scope);
            }
        });
    }

    // ---- memory ----

    using Word [[gnu::may_alias]] = std::uint32_t;
    static Word& word_at(std::uint64_t address) { return *reinterpret_cast<Word*>(address); }

    void put_back() {
        for (const Late& late : late_) {
            // An atomic or the host has changed it.
            std::uint32_t before = late.before;
            __atomic_compare_exchange_n(&word_at(late.address), &before, late.last, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
        }
        late_.clear();
    }

    const Grid& grid_;
    std::unordered_map<const Cluster*, ClusterState> clusters_; // storage, used again
    std::pair<const Cluster*, ClusterState*> current_{};
    std::unordered_map<std::uint64_t, Page> pages_;
    std::pair<std::uint64_t, Page*> page_{}; // the last one looked up; null: nothing has been stored there
    std::vector<Late> late_;                 // words that hold an older value now
    GridOrder order_;
    GridClock fenced_; // what any fence has ordered
};

} // namespace

std::unique_ptr<Observer> WeakMemory::observer(const Grid& grid) {
    return std::make_unique<WeakMemoryObserver>(grid);
}

} // namespace emulator
