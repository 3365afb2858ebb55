#include "emulator/machine/launch.hpp"

#include "emulator/error.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/counting.hpp"
#include "emulator/machine/describe.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/occupancy.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/machine/spin_watch.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

namespace emulator {

namespace {

/// Time slice in instructions. A block that exceeds it may be spinning on another block, so start a new one.
constexpr std::uint64_t block_turn = 250'000;
/// The slice of a kernel that may spin is shorter, so that a barrier of all blocks costs little. It shrinks
/// with the number of blocks in progress, since any of them may be the one that the others spin on.
constexpr std::uint64_t spinning_block_turn = 10'000, min_block_turn = 500;
constexpr std::size_t max_blocks_at_once = 64; // per host thread, for a kernel that cannot wait in a loop

std::string show(Dim3 d) {
    return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

bool within(Dim3 extent, Dim3 limit) {
    return extent.x >= 1 && extent.y >= 1 && extent.z >= 1 && extent.x <= limit.x && extent.y <= limit.y &&
           extent.z <= limit.z;
}

[[noreturn]] void reject(const Kernel& kernel, const std::string& why,
                         Failure failure = Failure::invalid_configuration) {
    throw Error(failure, "cannot launch " + kernel.readable_name() + ": " + why);
}

void check(const Kernel& kernel, const LaunchConfiguration& configuration,
           std::span<const std::byte> parameters) {
    check_extents(kernel, configuration);
    const std::uint64_t shared =
        std::uint64_t{kernel.static_shared_bytes()} + configuration.dynamic_shared_bytes;
    // The limit is on dynamic shared memory; static shared memory comes on top.
    const std::uint64_t allowed =
        std::max(std::uint64_t{DeviceLimits::default_shared_bytes_per_block},
                 std::uint64_t{configuration.dynamic_shared_limit} + kernel.static_shared_bytes());
    if (shared > allowed)
        reject(kernel, std::to_string(shared) + " bytes of shared memory; at most " +
                           std::to_string(allowed) +
                           " are allowed (cudaFuncAttributeMaxDynamicSharedMemorySize raises it to " +
                           std::to_string(DeviceLimits::shared_bytes_per_block) + ")");
    if (parameters.size() < kernel.parameter_bytes())
        reject(kernel, std::to_string(parameters.size()) + " bytes of parameters instead of " +
                           std::to_string(kernel.parameter_bytes()));
}

/// What a launch asks for; none: without clusters.
std::optional<Dim3> cluster_of(const Kernel& kernel, const LaunchConfiguration& configuration) {
    return configuration.cluster ? configuration.cluster : kernel.cluster();
}

/// Hands out clusters to the host threads, and keeps the first failure.
class Work {
public:
    explicit Work(std::uint64_t clusters) : clusters_(clusters) {}

    bool next(std::uint64_t& index) {
        if (stopped_.load(std::memory_order_relaxed)) return false;
        index = next_.fetch_add(1, std::memory_order_relaxed);
        return index < clusters_;
    }
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    bool is_left() const { return next_ < clusters_; }
    std::uint64_t clusters() const { return clusters_; }

    void fail(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        stopped_ = true;
    }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    std::uint64_t clusters_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr error_;
};

/// Cores that this process may use: a container or taskset may allow it fewer than the machine has.
unsigned int usable_cores() {
#ifdef __linux__
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        return std::max(1u, static_cast<unsigned int>(CPU_COUNT(&usable)));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

/// The most clusters that one host thread has in progress. If blocks may wait for each other, as many as fit
/// on a device: a hand-written grid barrier works there, so it has to work here.
std::size_t max_clusters_at_once(const Grid& grid) {
    const std::uint64_t blocks =
        grid.may_wait
            ? std::max<std::uint64_t>(blocks_on_device(grid.kernel, grid.configuration), max_blocks_at_once)
            : max_blocks_at_once;
    return static_cast<std::size_t>(blocks / grid.cluster.count());
}

/// One host thread's share of the grid: the clusters that it has in progress, and storage for more.
struct Share {
    Counting counting;
    std::optional<SpinWatch> spin_watch;
    std::vector<std::unique_ptr<Observer>> watching;
    std::vector<Observer*> observers;
    std::deque<std::unique_ptr<Cluster>> begun, free;
    std::vector<std::uint64_t> batch; ///< with a schedule: the clusters that begin next

    std::unique_ptr<Cluster> begin(const Grid& grid, std::uint64_t index) {
        if (free.empty()) free.push_back(std::make_unique<Cluster>(grid, observers));
        std::unique_ptr<Cluster> cluster = std::move(free.back());
        free.pop_back();
        cluster->start(index);
        return cluster;
    }
    bool spins(const Cluster& cluster) {
        return spin_watch && std::all_of(cluster.blocks().begin(), cluster.blocks().end(),
                                         [&](const auto& block) { return spin_watch->spins(*block); });
    }
    /// Whether all that are in progress do.
    bool spins() {
        return spin_watch &&
               std::all_of(begun.begin(), begun.end(), [&](const auto& cluster) { return spins(*cluster); });
    }
};

/// Runs until the share has nothing left to do but to spin, or for about so many instructions. The blocks of a
/// cluster run together, since they may wait for each other.
void run_clusters(const Grid& grid, Work& work, Share& share, std::uint64_t instructions) {
    auto& begun = share.begun;
    const std::size_t max_at_once = max_clusters_at_once(grid);
    const auto begin_next = [&] {
        std::uint64_t index = 0;
        if (begun.size() >= max_at_once || !work.next(index)) return false;
        begun.push_front(share.begin(grid, index));
        return true;
    };
    std::size_t passed_over = 0; // in a row, since they spin
    while (!work.stopped() && instructions != 0 && (!begun.empty() || begin_next())) {
        std::unique_ptr<Cluster> cluster = std::move(begun.front());
        begun.pop_front();
        if (share.spins(*cluster)) {
            begun.push_back(std::move(cluster));
            if (begin_next())
                passed_over = 0;
            else if (++passed_over == begun.size())
                return;
            continue;
        }
        passed_over = 0;
        const std::uint64_t turn = grid.takes_turns ? min_block_turn
                                   : grid.may_wait
                                       ? std::max(spinning_block_turn / (begun.size() + 1), min_block_turn)
                                       : block_turn;
        const bool finished = cluster->run(turn);
        instructions -= std::min(instructions, turn);
        (finished ? share.free : begun).push_back(std::move(cluster));
        if (!finished) begin_next();
    }
}

/// The index of a cluster in progress, or `begun` to begin another one. All are equally likely. With
/// thousands in progress, beginning stays likely enough that the last cluster begins in time.
std::size_t choose(Schedule& schedule, std::size_t begun, bool may_begin) {
    if (!may_begin || begun < max_blocks_at_once) return schedule.below(begun + (may_begin ? 1 : 0));
    return schedule.once_in(max_blocks_at_once) ? begun : schedule.below(begun);
}

/// The same, with the clusters in random order. They begin in batches no larger than the limit of clusters in
/// progress, so a block that others wait for always begins eventually.
void run_clusters_shuffled(const Grid& grid, Work& work, Share& share, std::uint64_t instructions) {
    Schedule& schedule = *grid.schedule;
    auto& begun = share.begun;
    auto& batch = share.batch;
    const std::size_t max_at_once = max_clusters_at_once(grid);
    while (!work.stopped()) {
        std::uint64_t index = 0;
        if (batch.empty()) {
            while (batch.size() < max_at_once && work.next(index)) batch.push_back(index);
            schedule.shuffle(std::span(batch));
        }
        const bool may_begin = !batch.empty() && begun.size() < max_at_once;
        if ((!may_begin && (begun.empty() || share.spins())) || instructions == 0) return;
        const std::size_t chosen = choose(schedule, begun.size(), may_begin);
        if (chosen == begun.size()) {
            begun.push_back(share.begin(grid, batch.back()));
            batch.pop_back();
        }
        if (share.spins(*begun[chosen])) continue;
        if (share.spin_watch)
            schedule.let_diverge(!share.spin_watch->may_spin(*begun[chosen]->blocks().front()));
        const std::uint64_t turn = schedule.turn();
        instructions -= std::min(instructions, turn);
        if (!begun[chosen]->run(turn)) continue;
        share.free.push_back(std::exchange(begun[chosen], std::move(begun.back())));
        begun.pop_back();
    }
}

/// The workspace that cooperative groups find at the address in %envreg1 and %envreg2: its size, and the
/// grid's barrier. Only a cooperative launch has one.
class Workspace {
public:
    Workspace(GlobalMemory& memory, bool wanted) : memory_(memory) {
        if (!wanted) return;
        constexpr std::uint32_t content[] = {8, 0};
        address_ = memory.allocate(sizeof content, "the workspace of the grid's barrier").address;
        std::memcpy(reinterpret_cast<void*>(address_), content, sizeof content);
    }
    ~Workspace() {
        if (address_ != 0) memory_.release(address_, "the end of its launch");
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    std::uint64_t address() const { return address_; }

private:
    GlobalMemory& memory_;
    std::uint64_t address_ = 0;
};

/// Runs the emulated arithmetic in the default floating-point environment (rounding, flushing to zero), then
/// restores the caller's.
class DefaultFloatingPoint {
public:
    DefaultFloatingPoint() {
        std::fegetenv(&environment_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloatingPoint() { std::fesetenv(&environment_); }

private:
    std::fenv_t environment_;
};

class KernelRun final : public RunningLaunch {
public:
    KernelRun(const Kernel& kernel, const LaunchConfiguration& configuration,
              std::span<const std::byte> parameters, GlobalMemory& memory, const RunOptions& options)
        : schedule_(options.schedule ? std::make_unique<Schedule>(*options.schedule) : nullptr),
          workspace_(memory, configuration.cooperative), parameters_(parameters.begin(), parameters.end()),
          grid_(grid_of(kernel, configuration, memory, options.takes_turns)),
          work_(configuration.grid.count() / grid_.cluster.count()),
          shares_(number_of_shares(options, work_.clusters())) {
        for (Share& share : shares_) {
            share.observers.push_back(&share.counting);
            if (options.takes_turns)
                share.observers.push_back(&share.spin_watch.emplace(memory, schedule_ != nullptr));
            for (Watcher* const watcher : options.watchers) {
                share.watching.push_back(watcher->observer(grid_));
                share.observers.push_back(share.watching.back().get());
            }
        }
    }

    bool run_for(std::uint64_t instructions) override {
        const auto run_share = [&](Share& share) {
            try {
                const DefaultFloatingPoint environment;
                (schedule_ ? run_clusters_shuffled : run_clusters)(grid_, work_, share, instructions);
            } catch (...) {
                work_.fail(std::current_exception());
            }
        };
        std::vector<std::jthread> threads;
        for (std::size_t k = 1; k < shares_.size(); ++k)
            threads.emplace_back(run_share, std::ref(shares_[k]));
        run_share(shares_.front());
        threads.clear(); // joins
        work_.rethrow();
        if (work_.is_left() || std::any_of(shares_.begin(), shares_.end(), [](const Share& share) {
                return !share.begun.empty() || !share.batch.empty();
            })) {
            for (const Share& share : shares_)
                for (Observer* const observer : share.observers) observer->launch_paused();
            return false;
        }
        for (const Share& share : shares_) counters_ += share.counting.counters();
        return true;
    }

    bool spins() override {
        Share& share = shares_.front();
        const bool may_begin =
            !share.batch.empty() || (work_.is_left() && share.begun.size() < max_clusters_at_once(grid_));
        return !share.begun.empty() && !may_begin && share.spins();
    }
    std::string place() const override {
        for (const Share& share : shares_)
            for (const auto& cluster : share.begun)
                for (const auto& block : cluster->blocks())
                    if (const auto thread = running_thread("", *block))
                        return "thread " + thread->thread + " of block " + thread->block + " at " +
                               (thread->where.empty() ? thread->ptx : thread->where);
        return "";
    }

    const Counters& counters() const override { return counters_; }

private:
    Grid grid_of(const Kernel& kernel, const LaunchConfiguration& configuration, GlobalMemory& memory,
                 bool takes_turns) const {
        const std::optional<Dim3> cluster = cluster_of(kernel, configuration);
        return {.kernel = kernel,
                .configuration = configuration,
                .has_clusters = cluster.has_value(),
                .cluster = cluster.value_or(Dim3{}),
                .parameters = parameters_,
                .memory = memory,
                .stack_bytes = kernel.local_bytes(configuration.call_stack_bytes),
                .workspace = workspace_.address(),
                .may_wait = configuration.cooperative || kernel.may_wait_for_other_blocks(),
                .takes_turns = takes_turns,
                .schedule = schedule_.get()};
    }
    static std::size_t number_of_shares(const RunOptions& options, std::uint64_t clusters) {
        // One that waits for others runs on one, so that what it counts depends on the calls alone.
        const bool one_thread =
            options.schedule || options.takes_turns ||
            std::any_of(options.watchers.begin(), options.watchers.end(),
                        [](const Watcher* watcher) { return watcher->wants_one_thread(); });
        const std::uint64_t wanted = one_thread                  ? 1
                                     : options.host_threads != 0 ? options.host_threads
                                                                 : usable_cores();
        return static_cast<std::size_t>(std::min(wanted, clusters));
    }

    const std::unique_ptr<Schedule> schedule_;
    const Workspace workspace_;
    const std::vector<std::byte> parameters_;
    const Grid grid_;
    Work work_;
    std::vector<Share> shares_; ///< of the host threads
    Counters counters_;
};

} // namespace

std::uint64_t blocks_on_device(const Kernel& kernel, const LaunchConfiguration& configuration) {
    return std::uint64_t{DeviceLimits::multiprocessors} *
           resident_blocks(configuration.block.count(),
                           std::uint64_t{kernel.static_shared_bytes()} + configuration.dynamic_shared_bytes);
}

void check_extents(const Kernel& kernel, const LaunchConfiguration& configuration) {
    if (!within(configuration.grid, DeviceLimits::grid))
        reject(kernel, "a grid of " + show(configuration.grid) +
                           " blocks; each extent must be at least 1 and at most " + show(DeviceLimits::grid));
    if (!within(configuration.block, DeviceLimits::block))
        reject(kernel, "a block of " + show(configuration.block) +
                           " threads; each extent must be at least 1 and at most " +
                           show(DeviceLimits::block));
    const std::uint32_t most = kernel.max_threads_per_block();
    if (configuration.block.count() > most)
        reject(kernel, "a block of " + std::to_string(configuration.block.count()) +
                           " threads; this kernel takes at most " + std::to_string(most));
}

void check_cluster(const Kernel& kernel, const LaunchConfiguration& configuration) {
    const auto reject_cluster = [&](const std::string& why) {
        reject(kernel, why, Failure::invalid_cluster);
    };
    const auto asked = cluster_of(kernel, configuration);
    if (!asked && kernel.needs_cluster())
        reject_cluster(
            "it has __cluster_dims__() without a size: set one with cudaLaunchAttributeClusterDimension");
    if (!asked) return;
    const Dim3 cluster = *asked, grid = configuration.grid;
    if (const auto own = kernel.cluster(); own && *own != cluster)
        reject_cluster("clusters of " + show(cluster) + " blocks; its __cluster_dims__ say " + show(*own));
    const std::uint32_t limit = std::min(configuration.cluster_limit, kernel.max_blocks_per_cluster());
    if (cluster.count() == 0 || cluster.count() > limit)
        reject_cluster("clusters of " + show(cluster) + " blocks; a cluster has at least 1 and at most " +
                       std::to_string(limit) +
                       (limit == DeviceLimits::blocks_per_cluster
                            ? " (cudaFuncAttributeNonPortableClusterSizeAllowed raises it to " +
                                  std::to_string(DeviceLimits::blocks_per_large_cluster) + ")"
                            : ""));
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
        reject_cluster("a grid of " + show(grid) + " blocks in clusters of " + show(cluster) +
                       "; each extent must be a multiple of the cluster's");
}

std::unique_ptr<RunningLaunch> begin_launch(const Kernel& kernel, const LaunchConfiguration& configuration,
                                            std::span<const std::byte> parameters, GlobalMemory& memory,
                                            const RunOptions& options) {
    check(kernel, configuration, parameters);
    check_cluster(kernel, configuration);
    if (kernel.uses_heap()) memory.prepare_heap(configuration.device);
    return std::make_unique<KernelRun>(kernel, configuration, parameters, memory, options);
}

Counters run(const Kernel& kernel, const LaunchConfiguration& configuration,
             std::span<const std::byte> parameters, GlobalMemory& memory, const RunOptions& options) {
    const auto launch = begin_launch(kernel, configuration, parameters, memory, options);
    if (!launch->run_for(RunningLaunch::to_its_end))
        throw Error(Failure::launch_failure, "kernel " + kernel.readable_name() +
                                                 " waits in a loop: " + launch->place() +
                                                 "\nNothing else runs that could end this.");
    return launch->counters();
}

} // namespace emulator
