#include "emulator/machine/launch.hpp"

#include "emulator/error.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/counting.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/machine/occupancy.hpp"
#include "emulator/machine/schedule.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstring>
#include <deque>
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

/// One host thread's share of the grid. The blocks of a cluster run together, since they may wait for each
/// other.
void run_clusters(const Grid& grid, Work& work, std::span<Observer* const> observers) {
    std::deque<std::unique_ptr<Cluster>> begun, free;
    const std::size_t max_at_once = max_clusters_at_once(grid);
    const auto begin_next = [&] {
        std::uint64_t index = 0;
        if (begun.size() >= max_at_once || !work.next(index)) return false;
        if (free.empty()) free.push_back(std::make_unique<Cluster>(grid, observers));
        begun.push_front(std::move(free.back()));
        free.pop_back();
        begun.front()->start(index);
        return true;
    };
    while (!work.stopped() && (!begun.empty() || begin_next())) {
        std::unique_ptr<Cluster> cluster = std::move(begun.front());
        begun.pop_front();
        const bool finished = cluster->run(
            grid.may_wait ? std::max(spinning_block_turn / (begun.size() + 1), min_block_turn) : block_turn);
        (finished ? free : begun).push_back(std::move(cluster));
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
void run_clusters_shuffled(const Grid& grid, Work& work, std::span<Observer* const> observers) {
    Schedule& schedule = *grid.schedule;
    std::vector<std::unique_ptr<Cluster>> begun, free;
    std::vector<std::uint64_t> batch;
    const std::size_t max_at_once = max_clusters_at_once(grid);
    while (!work.stopped()) {
        std::uint64_t index = 0;
        if (batch.empty()) {
            while (batch.size() < max_at_once && work.next(index)) batch.push_back(index);
            schedule.shuffle(std::span(batch));
        }
        const bool may_begin = !batch.empty() && begun.size() < max_at_once;
        if (!may_begin && begun.empty()) return;
        const std::size_t chosen = choose(schedule, begun.size(), may_begin);
        if (chosen == begun.size()) {
            if (free.empty()) free.push_back(std::make_unique<Cluster>(grid, observers));
            begun.push_back(std::move(free.back()));
            free.pop_back();
            begun.back()->start(batch.back());
            batch.pop_back();
        }
        if (!begun[chosen]->run(schedule.turn())) continue;
        free.push_back(std::exchange(begun[chosen], std::move(begun.back())));
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

Counters run(const Kernel& kernel, const LaunchConfiguration& configuration,
             std::span<const std::byte> parameters, GlobalMemory& memory, const RunOptions& options) {
    check(kernel, configuration, parameters);
    check_cluster(kernel, configuration);
    const std::optional<Dim3> cluster = cluster_of(kernel, configuration);
    if (kernel.uses_heap()) memory.prepare_heap(configuration.device);
    std::optional<Schedule> schedule;
    if (options.schedule) schedule.emplace(*options.schedule);
    const Workspace workspace(memory, configuration.cooperative);
    const Grid grid{.kernel = kernel,
                    .configuration = configuration,
                    .has_clusters = cluster.has_value(),
                    .cluster = cluster.value_or(Dim3{}),
                    .parameters = parameters,
                    .memory = memory,
                    .stack_bytes = kernel.local_bytes(configuration.call_stack_bytes),
                    .workspace = workspace.address(),
                    .may_wait = configuration.cooperative || kernel.may_wait_for_other_blocks(),
                    .schedule = schedule ? &*schedule : nullptr};
    const std::uint64_t clusters = configuration.grid.count() / grid.cluster.count();
    const bool one_thread =
        options.schedule || std::any_of(options.watchers.begin(), options.watchers.end(),
                                        [](const Watcher* watcher) { return watcher->wants_one_thread(); });
    const std::uint64_t wanted = one_thread                  ? 1
                                 : options.host_threads != 0 ? options.host_threads
                                                             : usable_cores();
    const std::size_t workers = static_cast<std::size_t>(std::min(wanted, clusters));

    Work work(clusters);
    std::vector<Counting> counting(workers);
    std::vector<std::vector<std::unique_ptr<Observer>>> watching(workers);
    std::vector<std::vector<Observer*>> observers(workers);
    for (std::size_t k = 0; k < workers; ++k) {
        observers[k].push_back(&counting[k]);
        for (Watcher* const watcher : options.watchers) {
            watching[k].push_back(watcher->observer(grid));
            observers[k].push_back(watching[k].back().get());
        }
    }
    const auto worker = [&](std::size_t k) {
        try {
            const DefaultFloatingPoint environment;
            (grid.schedule ? run_clusters_shuffled : run_clusters)(grid, work, observers[k]);
        } catch (...) {
            work.fail(std::current_exception());
        }
    };
    std::vector<std::jthread> threads;
    for (std::size_t k = 1; k < workers; ++k) threads.emplace_back(worker, k);
    worker(0);
    threads.clear(); // joins
    work.rethrow();

    Counters total;
    for (const Counting& one : counting) total += one.counters();
    return total;
}

} // namespace emulator
