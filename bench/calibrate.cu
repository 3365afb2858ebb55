// Measures what kernels wait for on this card: a line per constant. Not a lesson: it needs a GPU.
//
//     calibrate            all of it, in a few seconds
//     calibrate --small    small sizes and one run each: for the checkers. Its figures mean nothing

#include "calibrate_kernels.cuh"

#include "harness/check.hpp"
#include "harness/cold_cache.hpp"
#include "harness/device.hpp"
#include "harness/device_buffer.hpp"
#include "harness/exit_status.hpp"
#include "harness/launch_size.hpp"
#include "median.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace calibrate;
using Samples = std::vector<double>;

/// One line: the median, the smallest and the largest sample.
void print(const std::string& constant, const Samples& samples, const char* unit, const std::string& how) {
    const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
    std::printf("%s,%.4g,%s,%.4g,%.4g,%s\n", constant.c_str(), median(samples), unit, *least, *most,
                how.c_str());
    std::fflush(stdout);
}

class Calibration {
public:
    Calibration(const harness::Device& device, bool small)
        : small_(small), l2_bytes_(device.l2_bytes), runs_(small ? 1 : 21),
          multiprocessors_(small ? 2 : harness::multiprocessors()), cache_(small ? 0 : device.l2_bytes),
          input_((small ? 1 << 20 : 1 << 30) / sizeof(uint4)), output_(input_.size()) {
        HARNESS_CHECK(cudaMemset(words_.data(), 0, words_.bytes()));
        HARNESS_CHECK(cudaEventCreate(&start_));
        HARNESS_CHECK(cudaEventCreate(&stop_));
        fill_buffers();
    }
    Calibration(const Calibration&) = delete;
    Calibration& operator=(const Calibration&) = delete;
    ~Calibration() {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }

    void properties() {
        print("multiprocessors", {double(harness::multiprocessors())}, "", "cudaDeviceGetAttribute");
        print("l2_mebibytes", {double(l2_bytes_ >> 20)}, "MiB", "cudaGetDeviceProperties");
    }
    void clock();
    void latencies();
    void constants();
    void throughputs();
    void barriers();
    void launches();
    void block_starts();
    void loaded_memory();
    void lines();
    void bandwidths();
    void random_places();
    void pieces();
    void atomics();

private:
    void fill_buffers() {
        for (auto* buffer : {&input_, &output_})
            fill<<<1024, 256>>>(reinterpret_cast<unsigned int*>(buffer->data()),
                                buffer->bytes() / sizeof(unsigned int));
        harness::synchronize("fill");
    }

    Operands operands(unsigned int a, unsigned int b) { return {a, b, 0, words_.data()}; }

    /// Dynamic shared memory with which no more than this many blocks fit on a multiprocessor.
    template <class Kernel> std::size_t shared_bytes_for(Kernel kernel, unsigned int blocks) const {
        constexpr std::size_t largest = 227 * 1024, reserved = 1024; // compute capability 9.0
        const std::size_t bytes = (largest / blocks - (blocks > 1 ? reserved : 0)) / 1024 * 1024;
        harness::allow_shared_bytes(reinterpret_cast<const void*>(kernel), bytes);
        return bytes;
    }

    /// Microseconds of a launch, with a cold L2 cache, in each run.
    Samples microseconds(const std::function<void()>& launch) {
        Samples times;
        for (int run = -1; run < runs_; ++run) { // the first one is the warm-up
            cache_.flush();
            HARNESS_CHECK(cudaEventRecord(start_));
            launch();
            HARNESS_CHECK(cudaEventRecord(stop_));
            harness::check_launch("a timed kernel");
            harness::synchronize("a timed kernel");
            float milliseconds = 0;
            HARNESS_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
            if (run >= 0) times.push_back(milliseconds * 1e3);
        }
        return times;
    }

    /// Amount per nanosecond of each time.
    static Samples rates(double amount, Samples microseconds) {
        for (double& time : microseconds) time = amount / (time * 1e3);
        return microseconds;
    }

    template <class Link, int links> double chain_cycles(const Operands& operands, unsigned int threads) {
        harness::DeviceBuffer<long long> cycles(1);
        chain<Link, links><<<1, threads>>>(operands, cycles.data());
        harness::check_launch("chain");
        return static_cast<double>(cycles.read().front());
    }

    /// Cycles of one operation: what a chain of twice the length takes more.
    template <class Link> Samples cycles(const Operands& operands, unsigned int threads, bool cold = false) {
        Samples samples;
        for (int run = 0; run < runs_; ++run) {
            if (cold) cache_.flush();
            const double shorter = chain_cycles<Link, Link::links>(operands, threads);
            if (cold) cache_.flush();
            const double longer = chain_cycles<Link, 2 * Link::links>(operands, threads);
            samples.push_back((longer - shorter) / Link::links);
        }
        return samples;
    }

    /// Cycles from the begin of a multiprocessor's first block to the end of its last. A median.
    double barrier_cycles(int turns, unsigned int threads, unsigned int blocks_per_multiprocessor) {
        harness::DeviceBuffer<Stay> stays(blocks_per_multiprocessor * multiprocessors_);
        wait_at_barriers<<<static_cast<unsigned int>(stays.size()), threads,
                           shared_bytes_for(wait_at_barriers, blocks_per_multiprocessor)>>>(turns,
                                                                                            stays.data());
        harness::check_launch("barriers");
        std::map<long long, Stay> of_multiprocessors;
        for (const Stay& stay : stays.read()) {
            Stay& all = of_multiprocessors.try_emplace(stay.multiprocessor, stay).first->second;
            all.begin = std::min(all.begin, stay.begin);
            all.end = std::max(all.end, stay.end);
        }
        Samples cycles;
        for (const auto& [multiprocessor, all] : of_multiprocessors)
            cycles.push_back(static_cast<double>(all.end - all.begin));
        return median(cycles);
    }

    /// \param blocks per multiprocessor
    template <int loads, bool stores> void line(unsigned int blocks) {
        constexpr unsigned int threads = line_warps * warp;
        const std::size_t tiles = input_.bytes() / (loads * threads * sizeof(unsigned int));
        const unsigned int grid = blocks * multiprocessors_;
        harness::DeviceBuffer<LineTimes> times(grid);
        const std::size_t shared_bytes = shared_bytes_for(load_lines<loads, stores>, blocks);
        const Samples microseconds_of_all = microseconds([&] {
            load_lines<loads, stores><<<grid, threads, shared_bytes>>>(
                reinterpret_cast<const unsigned int*>(input_.data()),
                reinterpret_cast<unsigned int*>(output_.data()), tiles, operands(1, 0), times.data());
        });
        Samples latencies, spreads;
        for (const LineTimes& block : times.read()) {
            latencies.push_back(block.latency / block.turns);
            spreads.push_back(block.spread / block.turns);
        }
        const std::string name = std::to_string(blocks) + "_blocks_" + std::to_string(loads) + "_loads" +
                                 (stores ? "_copying" : "");
        print("line_latency_" + name, latencies, "cycles",
              "of the first; a block's mean; eight warps per block, so many lines each at once");
        print("line_spread_" + name, spreads, "cycles", "from the first warp's to the last one's");
        print("line_bandwidth_" + name, rates(input_.bytes() * (stores ? 2 : 1), microseconds_of_all), "GB/s",
              "of the same kernel");
    }

    template <class Link> void throughput(const char* name, const Operands& operands) {
        Samples samples = cycles<Link>(operands, largest_block);
        for (double& sample : samples) sample = largest_block / warp / sample;
        print(std::string("throughput_") + name, samples, "warps/cycle",
              "32 warps on one multiprocessor; each a chain");
    }

    bool small_;
    std::size_t l2_bytes_;
    int runs_;
    unsigned int multiprocessors_;
    harness::ColdCache cache_;
    harness::DeviceBuffer<uint4> input_, output_;
    harness::DeviceBuffer<unsigned int> words_{1 << 22};
    cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

void Calibration::clock() {
    harness::DeviceBuffer<Span> spans(2 * multiprocessors_);
    Samples samples;
    for (int run = 0; run < runs_; ++run) {
        multiply<<<2 * multiprocessors_, largest_block>>>(operands(3, 5), small_ ? 1 : 1000, spans.data());
        harness::check_launch("multiply");
        Samples of_blocks;
        for (const Span& span : spans.read())
            of_blocks.push_back(1e3 * span.cycles / std::max(span.nanoseconds, 1LL));
        samples.push_back(median(of_blocks));
    }
    print("clock_multiplying", samples, "MHz",
          "clock64 over globaltimer; 64 warps per multiprocessor multiply");
}

void Calibration::latencies() {
    const auto latency = [](const char* name, const Samples& samples, const char* how) {
        print(std::string("latency_") + name, samples, "cycles", how);
    };
    const Operands o = operands(0x7FFFFF, 5), zero_shift = operands(0, 0);
    latency("add", cycles<Add>(o, warp), "IADD3 of three registers");
    latency("shift", cycles<Shift>(o, warp), "SHF");
    latency("multiply_add", cycles<MultiplyAdd>(o, warp), "IMAD");
    latency("fma", cycles<Fma>(o, warp), "FFMA");
    latency("remainder", cycles<Remainder>(o, warp), "unsigned % by a new divisor; and the OR that makes it");
    latency("shuffle", cycles<Shuffle>(o, warp), "SHFL.IDX");
    latency("redux", cycles<Redux>(o, warp), "REDUX.SUM and the move out of its uniform register");
    latency("match_all", cycles<MatchAll>(o, warp), "MATCH.ALL");
    latency("match_any", cycles<MatchAny>(o, warp), "MATCH.ANY; 32 different values");
    latency("syncwarp", cycles<SyncWarp>(o, warp), "__syncwarp of a whole warp");
    latency("fence", cycles<Fence>(o, warp), "__threadfence; nothing is stored");
    latency("shared_load", cycles<SharedLoad>(o, warp), "LDS; the word is the next address");
    latency("shared_load_by_index", cycles<SharedLoadByIndex>(zero_shift, warp),
            "LDS and a shift that makes its address");
    latency("shared_atomic", cycles<SharedAtomic>(o, warp), "ATOMS.ADD with its result; a word per lane");
    latency("shared_atomic_one_word", cycles<SharedAtomicOneWord>(o, warp),
            "the same; one word for 32 lanes");
    latency("global_atomic", cycles<GlobalAtomic>(o, 1),
            "ATOMG.ADD with its result; one thread on an idle card");

    // A word every 4,224 bytes: each in a sector of its own, and a page of 2 MiB lasts for 496 of them.
    constexpr std::size_t stride = 4224 / sizeof(unsigned long long), near_words = OnRing::links;
    auto* const memory = reinterpret_cast<unsigned long long*>(output_.data());
    const std::size_t far_words = small_ ? 48 : 65536;
    const auto ring = [&](std::size_t words) {
        std::vector<unsigned long long> image((words - 1) * stride + 1);
        for (std::size_t i = 0; i < words; ++i)
            image[i * stride] = reinterpret_cast<unsigned long long>(memory + (i + 1) % words * stride);
        HARNESS_CHECK(
            cudaMemcpy(memory, image.data(), image.size() * sizeof(image[0]), cudaMemcpyHostToDevice));
        return Operands{0, 0, reinterpret_cast<unsigned long long>(memory), words_.data()};
    };
    latency("l1_load", cycles<LoadL1>(ring(near_words / 4), warp), "LDG; the 32 words of a ring are in L1");
    latency("l2_load", cycles<LoadL2>(ring(small_ ? 32 : near_words), warp),
            "LDG past L1; a ring of 128 words in L2");
    latency("memory_load", cycles<LoadL2>(ring(far_words), warp, true),
            "LDG of words that no cache holds; idle card");
    fill_buffers();
}

void Calibration::constants() {
    harness::DeviceBuffer<long long> cycles(2);
    Samples uniform, loaded;
    for (int run = 0; run < runs_; ++run) {
        add_parameters<<<1, warp>>>({}, words_.data(), cycles.data());
        harness::check_launch("add_parameters");
        const std::vector<long long> both = cycles.read();
        uniform.push_back(both[0]);
        loaded.push_back(both[1]);
    }
    print("constant_miss", uniform, "cycles", "ULDC of a line that the launch has not needed before");
    print("constant_miss_loaded", loaded, "cycles", "the same; LDC and the addition that waits for it");
}

void Calibration::throughputs() {
    const Operands o = operands(0x7FFFFF, 5), zero_shift = operands(0, 0);
    throughput<Add>("add", o);
    throughput<Shift>("shift", o);
    throughput<MultiplyAdd>("multiply_add", o);
    throughput<Fma>("fma", o);
    throughput<DoubleFma>("double_fma", o);
    throughput<HighProduct>("high_product", o);
    throughput<HighProductAndShifts>("high_product_and_two_shifts", o);
    throughput<Remainder>("remainder", o);
    throughput<Shuffle>("shuffle", o);
    throughput<Redux>("redux", o);
    throughput<SharedLoad>("shared_load", zero_shift);
    throughput<SharedAtomic>("shared_atomic", o);
    throughput<SharedAtomicOneWord>("shared_atomic_one_word", o);
}

void Calibration::barriers() {
    const int fewer = small_ ? 1 : 4, more = 5 * fewer;
    for (unsigned int threads = warp; threads <= largest_block; threads *= 2)
        for (const unsigned int blocks : {1, 2, 4, 8}) {
            if (threads * blocks > 2048) continue; // no more are resident
            Samples samples;
            for (int run = 0; run < runs_; ++run) {
                const double shorter = barrier_cycles(fewer, threads, blocks);
                samples.push_back((barrier_cycles(more, threads, blocks) - shorter) /
                                  ((more - fewer) * barriers_per_turn));
            }
            print("syncthreads_" + std::to_string(threads) + "_threads_" + std::to_string(blocks) + "_blocks",
                  samples, "cycles",
                  "__syncthreads alone; until each resident block of a multiprocessor has passed one");
        }
}

void Calibration::launches() {
    print("events", microseconds([] {}), "us", "between two events with nothing in between");
    print("empty_launch", microseconds([] { empty<<<1, warp>>>(); }), "us", "events around an empty block");
    print("two_empty_launches", microseconds([] { empty<<<1, warp>>>(), empty<<<1, warp>>>(); }), "us",
          "events around two");
}

void Calibration::block_starts() {
    const unsigned int fewer = small_ ? 64 : 1 << 18, more = 4 * fewer;
    const auto measure = [&](unsigned int threads, unsigned int shared_bytes) {
        const double shorter = median(microseconds([=] { empty<<<fewer, threads, shared_bytes>>>(); }));
        Samples samples = microseconds([=] { empty<<<more, threads, shared_bytes>>>(); });
        char how[100];
        std::snprintf(how, sizeof how, "%u empty blocks: %.1f us; less %u: %.1f us", more, median(samples),
                      fewer, shorter);
        for (double& time : samples) time -= shorter;
        print("block_starts_" + std::to_string(threads) + "_threads_" + std::to_string(shared_bytes) +
                  "_shared_bytes",
              rates(more - fewer, samples), "blocks/ns", how);
    };
    for (unsigned int threads = warp; threads <= largest_block; threads *= 2) measure(threads, 0);
    for (const unsigned int shared_bytes : {1024, 4096, 16384}) measure(256, shared_bytes);
}

void Calibration::loaded_memory() {
    harness::DeviceBuffer<float> cycles_of_warps(64 * multiprocessors_);
    harness::DeviceBuffer<Span> spans(2 * multiprocessors_);
    for (const unsigned int warps : {1, 2, 4, 8, 12, 16, 24, 32, 48, 64}) {
        const unsigned int blocks = warps > 32 ? 2 : 1, threads = warps / blocks * warp;
        const std::size_t shared_bytes = shared_bytes_for(load_and_wait, blocks);
        const Samples times = microseconds([&] {
            load_and_wait<<<blocks * multiprocessors_, threads, shared_bytes>>>(
                input_.data(), input_.size(), operands(1, 0), cycles_of_warps.data(), spans.data());
        });
        const std::string name = std::to_string(warps) + "_warps";
        const std::vector<float> cycles = cycles_of_warps.read(0, warps * multiprocessors_);
        print("loaded_latency_" + name, {cycles.begin(), cycles.end()}, "cycles",
              "a warp's mean; warps per multiprocessor with 512 bytes in flight each");
        print("loaded_bandwidth_" + name, rates(input_.bytes(), times), "GB/s", "of the same kernel");
        Samples clocks;
        for (const Span& span : spans.read(0, blocks * multiprocessors_))
            clocks.push_back(1e3 * span.cycles / std::max(span.nanoseconds, 1LL));
        if (warps == 64) print("clock_loading", clocks, "MHz", "clock64 over globaltimer; of each block");
    }
}

void Calibration::lines() {
    line<1, false>(1), line<1, false>(3), line<1, false>(6), line<4, false>(3), line<8, false>(2);
    line<8, false>(3), line<8, false>(4), line<8, false>(6);
    line<1, true>(1), line<1, true>(3), line<4, true>(1), line<1, true>(6), line<4, true>(2);
    line<4, true>(3), line<4, true>(4), line<4, true>(6);
}

void Calibration::bandwidths() {
    constexpr unsigned int threads = 256;
    const auto blocks = static_cast<unsigned int>(input_.size() / threads / vectors_per_thread);
    const double bytes = input_.bytes();
    const auto bandwidth = [&](const char* name, double of_bytes, const char* how,
                               const std::function<void()>& launch) {
        print(std::string("bandwidth_") + name, rates(of_bytes, microseconds(launch)), "GB/s", how);
    };
    bandwidth("loads", bytes, "16 bytes per lane; four loads per thread",
              [&] { load<<<blocks, threads>>>(input_.data(), operands(1, 0)); });
    bandwidth("stores", bytes, "16 bytes per lane; four stores per thread; the last lines may stay in L2",
              [&] { store<<<blocks, threads>>>(output_.data(), operands(3, 0)); });
    bandwidth("copy", 2 * bytes, "read and written; four vectors per thread",
              [&] { copy<<<blocks, threads>>>(input_.data(), output_.data()); });

    constexpr int turns = 20;
    const unsigned int grid = 4 * multiprocessors_; // of 512 threads
    const std::size_t shared = std::min(input_.size(), (std::size_t{32} << 20) / sizeof(uint4)) /
                               (4 * 512 * grid) * (4 * 512 * grid);
    print("bandwidth_l2_loads",
          rates(double(shared) * sizeof(uint4) * turns, microseconds([&] {
                    load_from_l2<<<grid, 512>>>(input_.data(), shared, turns, operands(1, 0));
                })),
          "GB/s", "LDG past L1, 16 bytes per lane; up to 32 MiB, 20 times");

    const auto by_word = [&](const std::string& suffix, unsigned int* words, std::size_t count,
                             std::size_t stride, std::size_t lanes, const char* how) {
        const auto grid = static_cast<unsigned int>(lanes / threads / words_per_thread);
        print("stores_of_words" + suffix,
              rates(lanes, microseconds([&] { store_words<<<grid, threads>>>(words, count, stride); })),
              "lanes/ns", how);
        print("loads_of_words" + suffix,
              rates(lanes, microseconds(
                               [&] { load_words<<<grid, threads>>>(words, count, stride, operands(2, 0)); })),
              "lanes/ns", how);
    };
    auto* const words = reinterpret_cast<unsigned int*>(output_.data());
    const std::size_t count = output_.bytes() / sizeof(unsigned int);
    by_word("", words, count, 1, count, "4 bytes per lane; neighbors side by side");
    by_word("_a_sector_each", words, count, 8, count / 8, "4 bytes per lane; neighbors 32 bytes apart");
    by_word("_a_line_each", words, count, 32, count / 32, "4 bytes per lane; neighbors 128 bytes apart");
    by_word("_a_sector_each_in_l2", words_.data(), words_.size(), 8, count / 8,
            "32 bytes apart; 16 MiB again and again");
}

void Calibration::random_places() {
    const unsigned int blocks = small_ ? 2 : 8 * multiprocessors_, threads = 256;
    auto* const words = reinterpret_cast<unsigned int*>(output_.data());
    const double places = double{places_per_thread} * blocks * threads;
    const auto loads = [&](const char* name, std::size_t bytes, const char* how) {
        print(name,
              rates(places, microseconds([&] {
                        load_scattered<<<blocks, threads>>>(words, bytes / sizeof(uint4) / 2, operands(1, 0));
                    })),
              "sectors/ns", how);
    };
    loads("scattered_loads", output_.bytes(), "a word of a random sector per lane; of 1 GiB");
    loads("scattered_loads_64_mebibytes", std::min<std::size_t>(output_.bytes(), 64 << 20),
          "the same; of 64 MiB");
    loads("scattered_loads_in_l2", std::min<std::size_t>(output_.bytes(), 16 << 20), "the same; of 16 MiB");
    print("scattered_stores",
          rates(places / words_of_sector, microseconds([&] {
                    store_scattered<<<blocks, threads>>>(words, output_.bytes() / sizeof(uint4) / 2);
                })),
          "sectors/ns", "eight lanes store a random sector of 1 GiB");
}

void Calibration::pieces() {
    constexpr unsigned int threads = 256;
    const std::size_t words = output_.bytes() / sizeof(unsigned int);
    const auto blocks = static_cast<unsigned int>(words / pieces_per_thread / threads);
    for (const unsigned int lanes : {8, 16, 32, 64, 256})
        for (const bool transposed : {false, true}) {
            const std::size_t columns = small_ ? 64 : 2048, rows = words / lanes / columns;
            const Samples times = microseconds([&] {
                copy_pieces<<<blocks, threads>>>(reinterpret_cast<const unsigned int*>(input_.data()),
                                                 reinterpret_cast<unsigned int*>(output_.data()), lanes, rows,
                                                 columns, transposed);
            });
            print("copy_pieces_" + std::to_string(lanes * sizeof(unsigned int)) + "_bytes" +
                      (transposed ? "_transposed" : ""),
                  rates(2 * double(output_.bytes()), times), "GB/s",
                  "read and written; 2,048 pieces in a row");
        }
}

void Calibration::atomics() {
    const unsigned int blocks = 8 * multiprocessors_, threads = 256;
    const auto measure = [&](const char* name, unsigned int count, unsigned int stride, unsigned int lanes,
                             const char* how, bool floats = false) {
        const Samples times = microseconds(
            [&] { add_atomically<<<blocks, threads>>>(words_.data(), count, stride, lanes, floats); });
        const double warps = blocks * (threads / warp) * double{atomics_per_thread};
        print(std::string("atomics_") + name, rates(warps * lanes, times), "lanes/ns", how);
    };
    measure("one_word_one_lane", 1, 1, 1, "RED.ADD by the first lane of each warp to one word");
    measure("one_word_one_lane_float", 1, 1, 1, "the same; a float", true);
    measure("one_word", 1, 1, warp, "RED.ADD by all lanes to one word");
    measure("256_words", 256, 1, warp, "RED.ADD by all lanes to random words of 256");
    measure("65536_words", 1 << 16, 1, warp, "the same; of 65536");
    measure("524288_sectors", 1 << 19, 8, warp, "the same; of 524288; each in a sector of its own");
}

} // namespace

int main(int argc, char** argv) {
    const bool small = argc == 2 && std::string(argv[1]) == "--small";
    if (argc > 1 && !small) {
        std::fprintf(stderr, "Usage: calibrate [--small]\n");
        return static_cast<int>(harness::ExitStatus::usage);
    }
    try {
        Calibration calibration(harness::choose_device(harness::DeviceChoice::automatic, argv), small);
        std::printf("constant,value,unit,min,max,how\n");
        calibration.properties();
        calibration.clock();
        calibration.latencies();
        calibration.constants();
        calibration.throughputs();
        calibration.barriers();
        calibration.launches();
        calibration.block_starts();
        calibration.loaded_memory();
        calibration.lines();
        calibration.bandwidths();
        calibration.random_places();
        calibration.pieces();
        calibration.atomics();
    } catch (const harness::DeviceError& error) {
        std::fprintf(stderr, "calibrate: %s\n", error.what());
        return static_cast<int>(harness::ExitStatus::device);
    }
}
