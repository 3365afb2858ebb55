// Each entry of docs/errata.md has its test here, and the page quotes two lines of it: the published fault
// and what comes of it, exactly. The other lines show that the corrected form is right, on the same data.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "harness/detail/counters.hpp"
#include "harness/device_buffer.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"
#include "kernels.cuh"

namespace {

using harness::ceil_div;

/// Ints on the device, and on the host as they were at first.
class Ints {
public:
    explicit Ints(std::vector<int> values) : values_(std::move(values)), device_(values_.size()) {
        restore();
    }

    int* data() { return device_.data(); }
    int operator[](std::size_t i) const { return values_[i]; }
    void restore() { device_.write(values_); }
    std::vector<int> read() const { return device_.read(); }

    /// Of the elements from `first` to before `end`, as they were at first.
    int sum(std::size_t first, std::size_t end) const {
        return harness::reference_sum(values_.data() + first, end - first);
    }
    int sum() const { return sum(0, values_.size()); }

private:
    std::vector<int> values_;
    harness::DeviceBuffer<int> device_;
};

Ints random_ints(std::size_t n) {
    std::vector<int> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = harness::random_int(n, i);
    return Ints(std::move(values));
}

/// What a kernel writes to: never written, it reads as poison.
class Output {
public:
    explicit Output(std::size_t size) : device_(size) { device_.poison(); }

    int* data() { return device_.data(); }
    std::vector<int> read() const { return device_.read(); }
    /// Of the first `count` elements.
    int total(std::size_t count) const { return harness::reference_sum(device_.read(0, count)); }
    int total() const { return total(device_.size()); }

private:
    harness::DeviceBuffer<int> device_;
};
constexpr int poison = static_cast<int>(0xA5A5A5A5);

/// A counter of blocks, zero at first.
class BlocksDone {
public:
    BlocksDone() : device_(1) { device_.write(std::vector{0u}); }
    unsigned int* data() { return device_.data(); }

private:
    harness::DeviceBuffer<unsigned int> device_;
};

/// What the last launch came to. A fault stays with the device until it is reset.
cudaError_t outcome() { return cudaDeviceSynchronize(); }

/// To be declared before all buffers, so that they are freed first.
struct ResetAtEnd {
    ~ResetAtEnd() { EXPECT_EQ(cudaDeviceReset(), cudaSuccess); }
};

TEST(Errata, one_guard_for_four_loads_drops_the_tail) {
    Ints input = random_ints(1791); // 1024 + 767: no thread of the second block has a fourth element
    Output sums(2);
    one_guard<<<2, 256>>>(input.data(), sums.data(), 1791);
    EXPECT_EQ(sums.total(), input.sum(0, 1024)); // 767 elements of 1,791 are lost

    guard_at_equality<<<2, 256>>>(input.data(), sums.data(), 1791);
    EXPECT_EQ(sums.total(), input.sum(0, 1024));

    guard_for_each_load<<<2, 256>>>(input.data(), sums.data(), 1791);
    EXPECT_EQ(sums.total(), input.sum());
    EXPECT_NE(input.sum(), input.sum(0, 1024));
}

TEST(Errata, guards_are_off_by_one) {
    const ResetAtEnd reset;
    constexpr unsigned int n = 1 << 24, grid = n / 512;
    {
        Ints input = random_ints(n);
        Output sums(grid);
        guard_a_block_too_far<<<grid, 128>>>(input.data(), sums.data(), n);
        const std::size_t last = n - 512;
        const int left = input[last] + input[last + 128] + input[last + 256] + input[last + 384];
        EXPECT_EQ(sums.total(), input.sum(0, last) + left); // 512 - 4 = 508 elements are lost
        EXPECT_NE(sums.total(), input.sum());

        guard_for_each_load<<<grid, 128>>>(input.data(), sums.data(), n);
        EXPECT_EQ(sums.total(), input.sum());
    }
    Ints input = random_ints(1793); // 1024 + 1 + 3 x 256: the fourth element of thread 1 of block 1
    Output sums(2);
    guard_for_each_load<<<2, 256>>>(input.data(), sums.data(), 1793);
    EXPECT_EQ(sums.total(), input.sum());

    guard_at_equality<<<2, 256>>>(input.data(), sums.data(), 1793);
    EXPECT_EQ(outcome(), cudaErrorIllegalAddress); // input[1793]
}

TEST(Errata, the_next_pass_is_told_of_another_grid) {
    Ints input = random_ints(1100);
    Output sums(16);
    const unsigned int grid = ceil_div(1100, 128);
    guard_for_each_load<<<grid / 4, 128>>>(input.data(), sums.data(), 1100);
    EXPECT_EQ(sums.total(grid / 4), input.sum(0, 1024)); // 76 elements are in no block
    EXPECT_NE(sums.total(grid / 4), input.sum());

    const unsigned int rounded_up = ceil_div(grid, 4);
    guard_for_each_load<<<rounded_up, 128>>>(input.data(), sums.data(), 1100);
    EXPECT_EQ(sums.total(rounded_up), input.sum());

    const unsigned int one = ceil_div(100, 128);
    guard_for_each_load<<<one / 4, 128>>>(input.data(), sums.data(), 100);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue); // no block at all

    // Sixteen are summed where ten are written.
    Output more(16);
    grid_stride<<<10, 64>>>(input.data(), more.data(), 1100);
    EXPECT_EQ(more.total(), harness::reference_sum(
                                std::vector{input.sum(), poison, poison, poison, poison, poison, poison}));
    EXPECT_EQ(more.total(10), input.sum());

    // The next pass reads the input again, and right: what the pass before it left.
    Output sum(1);
    grid_stride<<<1, 64>>>(input.data(), sum.data(), 10);
    EXPECT_EQ(sum.total(), input.sum(0, 10));
    grid_stride<<<1, 64>>>(more.data(), sum.data(), 10);
    EXPECT_EQ(sum.total(), input.sum());
}

TEST(Errata, a_thread_that_returns_has_its_element_read_all_the_same) {
    const ResetAtEnd reset;
    Ints data = random_ints(64); // 33 of them are to be summed
    Output sum(1);
    reduce2<<<1, 64, 64 * sizeof(int)>>>(data.data(), sum.data(), 33);
    EXPECT_EQ(sum.total(), data.sum(0, 33));

    sums_in_place<<<1, 64>>>(data.data(), sum.data(), 33);
    EXPECT_EQ(sum.total(), data.sum(0, 64)); // with the 31 elements behind the end
    EXPECT_NE(sum.total(), data.sum(0, 33));

    Ints no_more_than_33 = random_ints(33);
    sums_in_place<<<1, 64>>>(no_more_than_33.data(), sum.data(), 33);
    EXPECT_EQ(outcome(), cudaErrorIllegalAddress);
}

TEST(Errata, volatile_is_no_barrier) {
    Ints input = random_ints(64);
    Output sum(1);
    volatile_last_warp<<<1, 32>>>(input.data(), sum.data(), /*half_a_warp_ahead=*/true);
    EXPECT_EQ(sum.total(), input.sum() + input.sum(32, 48)); // elements 32 to 47 count twice
    EXPECT_NE(sum.total(), input.sum());

    // The emulator runs the lanes together while nothing parts them, and so the result is right here.
    volatile_last_warp<<<1, 32>>>(input.data(), sum.data(), /*half_a_warp_ahead=*/false);
    EXPECT_EQ(sum.total(), input.sum());

    reduce4<<<1, 32, 32 * sizeof(int)>>>(input.data(), sum.data(), 64);
    EXPECT_EQ(sum.total(), input.sum());
}

TEST(Errata, a_tree_from_512_drops_half_of_1024) {
    Ints input = random_ints(1024);
    Output sum(1);
    tree_from_512<<<1, 1024>>>(input.data(), sum.data());
    EXPECT_EQ(sum.total(), input.sum(0, 512)); // threads 512 to 1023 are never asked
    EXPECT_NE(sum.total(), input.sum());

    tree_from_512<<<1, 512>>>(input.data(), sum.data());
    EXPECT_EQ(sum.total(), input.sum(0, 512)); // right for the blocks of its time

    reduce5<1024><<<1, 1024, 1024 * sizeof(int)>>>(input.data(), sum.data(), 1024);
    EXPECT_EQ(sum.total(), input.sum());
}

TEST(Errata, in_place_a_second_run_sums_what_the_first_left) {
    Ints data = random_ints(256);
    // After the first run element i is part of word 0, and of one more word for each bit that is set in i.
    int twice = 0;
    for (unsigned int i = 0; i < 256; ++i) twice += (1 + __builtin_popcount(i)) * data[i];

    Output sum(1);
    for (int run = 1; run <= 2; ++run) sums_in_place<<<1, 256>>>(data.data(), sum.data(), 256);
    EXPECT_EQ(sum.total(), twice); // element i counts 1 + popcount(i) times
    EXPECT_NE(twice, data.sum());

    for (int run = 1; run <= 2; ++run) {
        data.restore();
        sums_in_place<<<1, 256>>>(data.data(), sum.data(), 256);
        EXPECT_EQ(sum.total(), data.sum());
    }
}

TEST(Errata, blocks_overwrite_what_other_blocks_need) {
    Ints data = random_ints(512);
    BlocksDone blocks_done;
    sums_onto_its_input<<<2, 256>>>(data.data(), 512, blocks_done.data());
    EXPECT_EQ(data.read()[0], data.sum(0, 256) - data[1] + data.sum(256, 512)); // block 1 wrote to data[1]
    EXPECT_NE(data.read()[0], data.sum(0, 256));

    data.restore();
    Output sums(2);
    reduce2<<<2, 256, 256 * sizeof(int)>>>(data.data(), sums.data(), 512);
    EXPECT_EQ(sums.read(), (std::vector{data.sum(0, 256), data.sum(256, 512)}));

    // The same with one word: block 1 has added its sum when block 0 sets it to 0.
    Output sum(1);
    BlocksDone done_again;
    zeroes_the_sum<<<2, 256>>>(data.data(), sum.data(), done_again.data());
    EXPECT_EQ(sum.total(), data.sum(0, 256));
}

TEST(Errata, a_32_bit_index_wraps_around_and_never_gets_there) {
    Output turns(1);
    // What 64 blocks of 256 threads are given, two elements a thread and turn: 2^32 / 32,768 turns bring the
    // index back to where it began.
    const auto narrow = count_turns<unsigned int>;
    narrow<<<1, 1>>>(5, 4'294'967'295, 2 * 64 * 256, 1'000'000, turns.data());
    EXPECT_EQ(turns.total(), 1'000'000); // we stop it there: it would go on for ever

    const auto wide = count_turns<std::size_t>;
    wide<<<1, 1>>>(5, 4'294'967'295, 2 * 64 * 256, 1'000'000, turns.data());
    EXPECT_EQ(turns.total(), 131'072);
}

TEST(Errata, whole_vectors_are_not_all_elements) {
    const ResetAtEnd reset;
    Ints input = random_ints(1 << 20);
    Output sums(1024);
    const auto* vectors = reinterpret_cast<const int4*>(input.data());
    whole_vectors<<<1024, 256>>>(vectors, sums.data(), 1'000'000 / 1024 / 256 / 4); // 3 / 4 is 0
    EXPECT_EQ(sums.total(), 0); // of a million elements none is read

    whole_vectors<<<1024, 256>>>(vectors, sums.data(), (1 << 20) / 1024 / 256 / 4);
    EXPECT_EQ(sums.total(), input.sum()); // right for numbers that divide

    reduce8<256><<<1024, 256>>>(input.data(), sums.data(), 1'000'000);
    EXPECT_EQ(sums.total(), input.sum(0, 1'000'000));

    Ints one_more = random_ints(1025);
    guards_the_first_of_four<<<2, 256>>>(one_more.data(), sums.data(), 1025);
    EXPECT_EQ(outcome(), cudaErrorIllegalAddress); // input[1025] to input[1027]
}

TEST(Errata, a_shuffle_reads_lanes_that_its_mask_does_not_name) {
    Ints input = random_ints(32);
    Output sums(32);
    shuffles_from_unnamed_lanes<<<1, 32>>>(input.data(), sums.data());
    EXPECT_EQ(sums.read()[0], input[0] + input[16]); // lane 16 is not in the mask 0xff

    shuffles_among_eight<<<1, 32>>>(input.data(), sums.data());
    EXPECT_EQ(sums.read()[0], input.sum(0, 8));
}

TEST(Errata, a_check_on_ones_passes_a_kernel_that_forgets_tid) {
    Ints ones(std::vector<int>(1024, 1));
    Output sums(4);
    forgets_tid<<<4, 256>>>(ones.data(), sums.data());
    EXPECT_EQ(sums.total(), ones.sum()); // passed

    Ints input = random_ints(1024);
    forgets_tid<<<4, 256>>>(input.data(), sums.data());
    EXPECT_EQ(sums.total(), 256 * (input[0] + input[256] + input[512] + input[768]));
    EXPECT_NE(sums.total(), input.sum());

    // A reference that has the fault that it is to find.
    EXPECT_EQ(halving_sum({1, 2, 4, 8}), 15);
    EXPECT_EQ(halving_sum({1, 2, 4, 8, 16, 32}), 1 + 8 + 2 + 16);
    EXPECT_EQ(harness::reference_sum(std::vector{1, 2, 4, 8, 16, 32}), 63);
}

/// In 1e9 bytes per second, with two digits.
double bandwidth(double bytes, double nanoseconds) { return std::round(100 * bytes / nanoseconds) / 100; }

TEST(Errata, the_first_bandwidth_of_the_v100_table_is_of_another_run) {
    EXPECT_EQ(bandwidth(134'217'728, 804'187), 166.90); // published beside this time: 165.57
    EXPECT_EQ(bandwidth(134'217'728, 810'622), 165.57); // with the time in the log beside the table

    // All other rows are what they say; the table cuts where we round.
    std::ifstream file(std::filesystem::path(PROJECT_ROOT) / "docs/data/published/v100.csv");
    std::size_t rows = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream cells(line);
        std::string kernel, time, published;
        std::getline(cells, kernel, ',');
        if (kernel.rfind("reduce", 0) != 0) continue;
        std::getline(cells, time, ',');
        std::getline(cells, published, ',');
        const double difference = 134'217'728 / std::stod(time) - std::stod(published);
        EXPECT_EQ(0 <= difference && difference < 0.01, kernel != "reduce0") << line;
        ++rows;
    }
    EXPECT_EQ(rows, 11u);
}

/// The threads of warp 0 that read a word from the bank that thread `thread` reads from, in the tile of 32 x
/// 16 that is read down its columns.
std::vector<int> threads_in_the_bank_of(int thread, unsigned int padding) {
    Output banks(32 * 16);
    banks_of_a_column_read<<<1, dim3(32, 16), (32 + padding) * 16 * sizeof(int)>>>(banks.data(), padding);
    const std::vector<int> bank = banks.read();
    std::vector<int> threads;
    for (int other = 0; other < 32; ++other)
        if (bank[other] == bank[thread]) threads.push_back(other);
    return threads;
}

std::uint64_t load_wavefronts_of_last_launch() {
    return harness::find_counter(harness::last_launch_counters(),
                                 "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum")
        .value_or(0);
}

TEST(Errata, with_a_padding_of_1_threads_15_and_16_do_not_meet) {
    EXPECT_EQ(threads_in_the_bank_of(15, /*padding=*/1), (std::vector{15, 30}));
    EXPECT_EQ(threads_in_the_bank_of(16, /*padding=*/1), (std::vector{1, 16}));
    EXPECT_EQ(load_wavefronts_of_last_launch(), 32u); // two for each of 16 warps

    for (int thread = 0; thread < 32; ++thread)
        EXPECT_EQ(threads_in_the_bank_of(thread, /*padding=*/2), (std::vector{thread}));
    EXPECT_EQ(load_wavefronts_of_last_launch(), 16u);
}

} // namespace
