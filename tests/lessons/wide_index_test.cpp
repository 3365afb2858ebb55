// Indices past 2^32, without the memory and the time that so many elements take: one block of a huge grid
// runs on the emulated machine, over an input that only has the elements that the block may read. An index
// that wraps around at 32 bits reads outside of them, which is an error, or reads wrong elements, or never
// reaches n.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "emulator/execute/opcodes.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/launch.hpp"
#include "emulator/machine/loaded_module.hpp"
#include "emulator/memory/global_memory.hpp"
#include "harness/random_input.hpp"
#include "harness/reduction.hpp"

namespace {

using harness::ceil_div;

constexpr unsigned int block = 256;
constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;

std::string read_ptx() {
    std::ifstream file(LESSONS_PTX);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// `size` ints of address space without memory, except for windows.
class SparseInts {
public:
    SparseInts(emulator::GlobalMemory& memory, std::uint64_t size)
        : memory_(memory), bytes_(size * sizeof(int)),
          start_(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        EXPECT_NE(start_, MAP_FAILED);
    }
    SparseInts(const SparseInts&) = delete;
    ~SparseInts() { munmap(start_, bytes_); }

    int* data() const { return static_cast<int*>(start_); }

    /// Makes the elements from `first` on exist, `count` of them, and fills them. Returns their sum.
    int open(std::uint64_t first, std::uint64_t count) {
        constexpr std::uint64_t page = 4096;
        int* const window = data() + first;
        const std::uint64_t begin = reinterpret_cast<std::uint64_t>(window) / page * page;
        const std::uint64_t end = reinterpret_cast<std::uint64_t>(window + count);
        EXPECT_EQ(mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE), 0);
        for (std::uint64_t i = 0; i < count; ++i) window[i] = harness::random_int(1, first + i);
        memory_.adopt(window, count * sizeof(int), "a window");
        return harness::reference_sum(window, count);
    }

private:
    emulator::GlobalMemory& memory_;
    std::uint64_t bytes_;
    void* start_;
};

/// A grid of which one block runs.
class WideGrid {
public:
    /// Runs block `index` of `grid`.
    void run(const std::string& kernel, std::uint64_t grid, std::uint64_t index,
             const std::vector<std::uint64_t>& parameters, std::uint32_t shared_ints = block) {
        emulator::LaunchConfiguration configuration;
        configuration.grid.x = static_cast<std::uint32_t>(grid);
        configuration.block.x = block;
        configuration.dynamic_shared_bytes = shared_ints * sizeof(int);
        run(kernel, configuration, index, parameters);
    }

    void run(const std::string& kernel, const emulator::LaunchConfiguration& configuration,
             std::uint64_t index, const std::vector<std::uint64_t>& parameters) {
        const emulator::Kernel& code = module_.kernel(kernel);
        const emulator::Grid launch{.kernel = code,
                                    .configuration = configuration,
                                    .has_clusters = false,
                                    .cluster = {1, 1, 1},
                                    .parameters = std::as_bytes(std::span(parameters)),
                                    .memory = memory,
                                    .stack_bytes = code.local_bytes()};
        emulator::Cluster only(launch, {});
        only.start(index);
        EXPECT_TRUE(only.run(1'000'000)) << kernel << " does not come to an end";
    }

    emulator::GlobalMemory memory;

private:
    emulator::LoadedModule module_{read_ptx(), memory, emulator::all_opcodes()};
};

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

struct Kernel {
    const char* name; // as PTX has it
    std::uint64_t elements_per_thread;
};

TEST(WideIndex, is_right_in_the_last_block) {
    for (const Kernel& kernel : {Kernel{"_Z7reduce0PKiPim", 1},
                                 {"_Z8reduce0aPKiPim", 1},
                                 {"_Z7reduce1PKiPim", 1},
                                 {"_Z7reduce2PKiPim", 1},
                                 {"_Z7reduce3PKiPim", 2},
                                 {"_Z7reduce4PKiPim", 2},
                                 {"_Z7reduce5ILj256EEvPKiPim", 2},
                                 {"_Z7reduce6ILj256EEvPKiPim", 2},
                                 {"_Z7reduce7ILj256EEvPKiPim", 2},
                                 {"_Z20reduceNeighboredGmemPiS_m", 1},
                                 {"_Z20reduceNeighboredSmemILj256EEvPKiPim", 1},
                                 {"_Z10reduceGmemPiS_m", 1},
                                 {"_Z10reduceSmemILj256EEvPKiPim", 1},
                                 {"_Z16reduceGmemUnrollPiS_m", 4},
                                 {"_Z16reduceSmemUnrollILj256EEvPKiPim", 4},
                                 {"_Z13reduceSmemDynPKiPim", 1},
                                 {"_Z19reduceSmemUnrollDynPKiPim", 4}}) {
        SCOPED_TRACE(kernel.name);
        const std::uint64_t n = two_to_32 + 1001, elements = kernel.elements_per_thread * block;
        const std::uint64_t grid = ceil_div(n, elements), first = (grid - 1) * elements;
        WideGrid wide;
        SparseInts input(wide.memory, n), partial_sums(wide.memory, grid);
        const int sum = input.open(first, n - first);
        partial_sums.open(grid - 1, 1);
        wide.run(kernel.name, grid, grid - 1, {address(input.data()), address(partial_sums.data()), n});
        EXPECT_EQ(partial_sums.data()[grid - 1], sum);
    }
}

TEST(WideIndex, of_kernels_that_add_to_the_result_is_right_in_the_last_block) {
    for (const Kernel& kernel : {Kernel{"_Z15naive_reductionPKiPim", 1},
                                 {"_Z14warp_reductionPKiPim", 1},
                                 {"_Z15block_reductionPKiPim", 1},
                                 {"_Z17segmented_blockedPiS_m", 2},
                                 {"_Z17segmented_stridedPiS_m", 2},
                                 {"_Z14segmented_smemPKiPim", 2},
                                 {"_Z16coarse_reductionILj1EEvPKiPim", 2},
                                 {"_Z16coarse_reductionILj16EEvPKiPim", 32}}) {
        SCOPED_TRACE(kernel.name);
        const std::uint64_t n = two_to_32 + 1001, elements = kernel.elements_per_thread * block;
        const std::uint64_t grid = ceil_div(n, elements), first = (grid - 1) * elements;
        WideGrid wide;
        SparseInts input(wide.memory, n), result(wide.memory, 1024);
        const int sum = input.open(first, n - first), found = result.open(0, 1);
        wide.run(kernel.name, grid, grid - 1, {address(input.data()), address(result.data()), n});
        EXPECT_EQ(*result.data(), found + sum);
    }
}

TEST(Lesson24WideIndex, of_a_matrix_is_right_in_the_last_tile) {
    // 70,001 x 70,001 ints, the last tile of which has 17 x 17. It begins at element 69,984 x 70,002 > 2^32.
    constexpr std::uint64_t side = 70'001, tiles = ceil_div(side, 32), first = 32 * (tiles - 1);
    emulator::LaunchConfiguration configuration;
    configuration.grid = {tiles, tiles, 1};
    configuration.block = {32, 8, 1};
    for (const char* kernel : {"_Z4copyPKiPijj", "_Z14transposeNaivePKiPijj", "_Z14transposeTiledPKiPijj",
                               "_Z15transposePaddedPKiPijj", "_Z17transposeSwizzledPKiPijj"}) {
        SCOPED_TRACE(kernel);
        WideGrid wide;
        SparseInts input(wide.memory, side * side), output(wide.memory, side * side);
        for (std::uint64_t row = first; row < side; ++row) {
            input.open(row * side + first, side - first);
            output.open(row * side + first, side - first);
            std::fill_n(output.data() + row * side + first, side - first, 0);
        }
        wide.run(kernel, configuration, tiles * tiles - 1,
                 {address(input.data()), address(output.data()), side << 32 | side});
        const bool copies = kernel == std::string("_Z4copyPKiPijj");
        for (std::uint64_t row = first; row < side; ++row)
            for (std::uint64_t col = first; col < side; ++col)
                ASSERT_EQ(output.data()[row * side + col],
                          input.data()[copies ? row * side + col : col * side + row]);
    }
}

TEST(Lesson24WideIndex, of_sectors_is_right_in_the_last_tile) {
    // Row c of the output begins c % 8 ints past a sector's boundary. Its positions from 64 x 1,093 on are in
    // the last tile.
    constexpr std::uint64_t side = 70'001, tiles = ceil_div(side + 7, 64), first = 64 * (tiles - 1);
    emulator::LaunchConfiguration configuration;
    configuration.grid = {tiles, tiles, 1};
    configuration.block = {64, 8, 1};
    WideGrid wide;
    SparseInts input(wide.memory, side * side), output(wide.memory, side * side);
    for (std::uint64_t row = first - 7; row < side; ++row) input.open(row * side + first, side - first);
    for (std::uint64_t col = first; col < side; ++col) {
        output.open(col * side + first - 7, side - first + 7);
        std::fill_n(output.data() + col * side + first - 7, side - first + 7, 0);
    }
    wide.run("_Z16transposeSectorsPKiPijj", configuration, tiles * tiles - 1,
             {address(input.data()), address(output.data()), side << 32 | side});
    for (std::uint64_t col = first; col < side; ++col)
        for (std::uint64_t row = first - 7; row < side; ++row)
            ASSERT_EQ(output.data()[col * side + row],
                      row + col % 8 < first ? 0 : input.data()[row * side + col]);
}

TEST(WideIndex, goes_on_by_a_stride_of_2_to_the_32) {
    // 2^23 blocks of 256 threads with two elements each are 2^32 elements. Block 1 gets elements 512 to 1023,
    // then those from 2^32 + 512 on.
    const std::uint64_t grid = std::uint64_t{1} << 23, n = two_to_32 + 1001;
    for (const char* kernel : {"_Z7reduce6ILj256EEvPKiPim", "_Z7reduce7ILj256EEvPKiPim"}) {
        SCOPED_TRACE(kernel);
        WideGrid wide;
        SparseInts input(wide.memory, n), partial_sums(wide.memory, grid);
        const int low = input.open(512, 512), high = input.open(two_to_32 + 512, n - two_to_32 - 512);
        partial_sums.open(1, 1);
        wide.run(kernel, grid, 1, {address(input.data()), address(partial_sums.data()), n});
        EXPECT_EQ(partial_sums.data()[1], low + high);
    }
}

TEST(Lesson25WideIndex, of_sums_of_rows_is_right_in_the_last_block) {
    // More than 2^32 elements, and for the first two kernels more than 2^32 rows. A grid has at most 2^31 - 1
    // blocks: the third one has longer rows.
    struct Rows {
        const char* kernel;
        std::uint64_t rows, columns, rows_per_block;
    };
    for (const auto& [kernel, rows, columns, rows_per_block] :
         {Rows{"_Z14rows_by_threadPKiPimm", two_to_32 + 101, 3, 256},
          {"_Z12rows_by_warpPKiPimm", two_to_32 + 5, 3, 8},
          {"_Z13rows_by_blockPKiPimm", (std::uint64_t{1} << 31) - 1, 3, 1}}) {
        SCOPED_TRACE(kernel);
        const std::uint64_t grid = ceil_div(rows, rows_per_block), first = (grid - 1) * rows_per_block;
        WideGrid wide;
        SparseInts input(wide.memory, rows * columns), sums(wide.memory, rows);
        input.open(first * columns, (rows - first) * columns);
        sums.open(first, rows - first);
        wide.run(kernel, grid, grid - 1, {address(input.data()), address(sums.data()), rows, columns});
        for (std::uint64_t row = first; row < rows; ++row)
            ASSERT_EQ(sums.data()[row], harness::reference_sum(input.data() + row * columns, columns));
    }
}

TEST(Lesson25WideIndex, of_a_softmax_is_right_in_the_last_row) {
    // Zeros, of which each becomes 1 / 1000. The row begins beyond element 2^32.
    constexpr std::uint64_t columns = 1000, row = 4'300'000, first = row * columns;
    static_assert(first > two_to_32);
    for (const char* kernel : {"_Z20softmax_three_passesPKfPfm", "_Z14softmax_onlinePKfPfm"}) {
        SCOPED_TRACE(kernel);
        WideGrid wide;
        SparseInts input(wide.memory, first + columns), output(wide.memory, first + columns);
        input.open(first, columns), output.open(first, columns);
        std::fill_n(input.data() + first, columns, 0); // 0.0F, too
        wide.run(kernel, row + 1, row, {address(input.data()), address(output.data()), columns});
        for (std::uint64_t col = 0; col < columns; ++col)
            ASSERT_EQ(std::bit_cast<float>(output.data()[first + col]), 1.0F / columns);
    }
}

TEST(Lesson31WideIndex, of_a_softmax_is_right_in_the_last_row) {
    // As above. A block has 8 rows of a warp each, or one row: the last row is the first of its block.
    constexpr std::uint64_t columns = 1000, row = 4'300'000, first = row * columns, rows = row + 1;
    static_assert(row % 8 == 0 && first > two_to_32);
    constexpr std::uint64_t one_block = std::uint64_t{1} << 32; // beside the columns, both of 32 bits
    for (const std::string kernel : {"_Z20softmax_in_registersPKfPfmm",
                                     "rows_by_lanesIfLj4ELj32ELj8ELb0ELj256E", "rows_by_blockIfLj4E"}) {
        SCOPED_TRACE(kernel);
        WideGrid wide;
        SparseInts input(wide.memory, first + columns), output(wide.memory, first + columns);
        input.open(first, columns), output.open(first, columns);
        std::fill_n(input.data() + first, columns, 0);
        const std::uint64_t from = address(input.data()), to = address(output.data());
        if (kernel[0] == '_') {
            wide.run(kernel, row / 8 + 1, row / 8, {from, to, rows, columns});
        } else {
            const bool by_block = kernel.find("block") != std::string::npos;
            const std::uint64_t block_index = by_block ? row : row / 8;
            wide.run("_ZN9take_home14softmax_detail13" + kernel + "EEvNS0_6MatrixIT_EEj" +
                         (by_block ? "j" : ""),
                     block_index + 1, block_index, {from, to, 0, rows, columns, columns | one_block});
        }
        for (std::uint64_t col = 0; col < columns; ++col)
            ASSERT_EQ(std::bit_cast<float>(output.data()[first + col]), 1.0F / columns);
    }
}

TEST(Lesson31WideIndex, of_the_parts_of_a_row_is_right_in_the_last_piece) {
    // 2^32 / 8,192 pieces, and one of 100 zeros: the maximum is 0, and the sum 100.
    constexpr std::uint64_t columns = two_to_32 + 100, last = two_to_32 / 8192;
    WideGrid wide;
    SparseInts input(wide.memory, columns), parts(wide.memory, 2 * (last + 1));
    input.open(two_to_32, 100), parts.open(2 * last, 2);
    std::fill_n(input.data() + two_to_32, 100, 0);
    wide.run("_ZN9take_home14softmax_detail13parts_of_rowsIfLj4EEEvNS0_6MatrixIT_EENS0_6PiecesEPNS0_4PartE",
             last + 1, last,
             {address(input.data()), 0, 0, 1, columns, last + 1, last + 1, address(parts.data())});
    EXPECT_EQ(std::bit_cast<float>(parts.data()[2 * last]), 0);
    EXPECT_EQ(std::bit_cast<float>(parts.data()[2 * last + 1]), 100);
}

TEST(Lesson26WideIndex, of_histograms_goes_on_by_a_stride_of_2_to_the_32) {
    // 2^24 blocks of 256 threads are 2^32 threads. Block 1 counts elements 256 to 511, then those from
    // 2^32 + 256 on. Each of 8 warps may have 256 ints of shared memory.
    const std::uint64_t grid = std::uint64_t{1} << 24, n = two_to_32 + 500;
    for (const char* kernel :
         {"_Z16histogram_globalPKiPim", "_Z16histogram_sharedPKiPim", "_Z17histogram_privatePKiPim"}) {
        SCOPED_TRACE(kernel);
        WideGrid wide;
        SparseInts input(wide.memory, n), histogram(wide.memory, 1024);
        input.open(256, 256), input.open(two_to_32 + 256, 500 - 256);
        histogram.open(0, 256);
        std::vector<int> expected(histogram.data(), histogram.data() + 256);
        for (std::uint64_t i = 256; i < 512; ++i) ++expected[static_cast<unsigned char>(input.data()[i])];
        for (std::uint64_t i = two_to_32 + 256; i < n; ++i)
            ++expected[static_cast<unsigned char>(input.data()[i])];
        wide.run(kernel, grid, 1, {address(input.data()), address(histogram.data()), n}, 8 * 256);
        EXPECT_EQ(std::vector<int>(histogram.data(), histogram.data() + 256), expected);
    }
}

TEST(Lesson26WideIndex, of_vectors_goes_on_by_a_stride_of_2_to_the_32) {
    // As many threads, with four ints each: block 1 has vectors 256 to 511, then those from 2^32 + 256 on.
    const std::uint64_t grid = std::uint64_t{1} << 24, n = 4 * (two_to_32 + 500);
    WideGrid wide;
    SparseInts input(wide.memory, n), histogram(wide.memory, 1024);
    input.open(4 * 256, 4 * 256), input.open(4 * (two_to_32 + 256), 4 * (500 - 256));
    histogram.open(0, 256);
    std::vector<int> expected(histogram.data(), histogram.data() + 256);
    for (std::uint64_t i = 4 * 256; i < n; i = i == 4 * 512 - 1 ? 4 * (two_to_32 + 256) : i + 1)
        ++expected[static_cast<unsigned char>(input.data()[i])];
    wide.run("_Z17histogram_vectorsILj8EEvPKiPim", grid, 1,
             {address(input.data()), address(histogram.data()), n});
    EXPECT_EQ(std::vector<int>(histogram.data(), histogram.data() + 256), expected);
}

TEST(Lesson23WideIndex, of_floats_goes_on_by_a_stride_of_2_to_the_32) {
    // As above. Elements are whole numbers, and so small that their sum is exact in any order.
    const std::uint64_t grid = std::uint64_t{1} << 24, n = two_to_32 + 500;
    WideGrid wide;
    SparseInts input(wide.memory, n), partial_sums(wide.memory, 1024), exact(wide.memory, 1024);
    input.open(256, 256), input.open(two_to_32 + 256, 500 - 256);
    partial_sums.open(0, 2), exact.open(0, 32);
    std::fill_n(exact.data(), 32, 0);
    auto* const elements = reinterpret_cast<float*>(input.data());
    float sum = 0;
    for (std::uint64_t i = 256; i < n; i = i == 511 ? two_to_32 + 256 : i + 1) {
        elements[i] = static_cast<float>(harness::random_int(2, i));
        sum += elements[i];
    }
    wide.run("_Z8sum_treePKfPfm", grid, 1, {address(elements), address(partial_sums.data()), n});
    EXPECT_EQ(reinterpret_cast<float*>(partial_sums.data())[1], sum);

    wide.run("_Z16sum_reproduciblePKfP8ExactSumm", grid, 1, {address(elements), address(exact.data()), n},
             2 * 9 * block);
    const auto* const words = reinterpret_cast<const std::int64_t*>(exact.data());
    double exact_sum = 0;
    std::int64_t carry = 0; // The sum is positive, so that no digit is left in the top words.
    for (int k = 0; k < 9; ++k) {
        const std::int64_t word = words[k] + carry;
        exact_sum += std::ldexp(static_cast<double>(word & 0xffffffff), 32 * k - 149);
        carry = word >> 32;
    }
    EXPECT_EQ(carry, 0);
    EXPECT_EQ(exact_sum, sum);
}

TEST(Lesson08WideIndex, of_vectors_goes_on_by_a_stride_of_2_to_the_32) {
    // As above, but what is counted are vectors of four. Block 0 has the tail.
    const std::uint64_t grid = std::uint64_t{1} << 23, n = 4 * (two_to_32 + 700) + 3;
    WideGrid wide;
    SparseInts input(wide.memory, n), partial_sums(wide.memory, grid);
    const int low[] = {input.open(0, 2048), input.open(2048, 2048)};
    const int high[] = {input.open(4 * two_to_32, 2048), input.open(4 * (two_to_32 + 512), 4 * (700 - 512))};
    const int tail = input.open(n - 3, 3);
    partial_sums.open(0, 2);
    for (const std::uint64_t index : {0, 1})
        wide.run("_Z7reduce8ILj256EEvPKiPim", grid, index,
                 {address(input.data()), address(partial_sums.data()), n});
    EXPECT_EQ(partial_sums.data()[0], low[0] + high[0] + tail);
    EXPECT_EQ(partial_sums.data()[1], low[1] + high[1]);
}

TEST(Lesson09WideIndex, of_one_launch_is_right_in_both_loops) {
    // 2^23 blocks of 256 threads are 2^31 threads, and as many vectors of four from one load of a thread to
    // its next. 7 x 2^31 vectors and 256 more: four in the first loop, three in the second, and block 0 has
    // an eighth.
    const std::uint64_t grid = std::uint64_t{1} << 23, stride = std::uint64_t{1} << 31;
    const std::uint64_t vectors = 7 * stride + 256, n = 4 * vectors + 3;
    WideGrid wide;
    SparseInts input(wide.memory, n), partial_sums(wide.memory, grid), others(wide.memory, 2048);
    int expected[2] = {0, 0};
    for (const std::uint64_t index : {0, 1}) {
        for (std::uint64_t k = 0; k < 8 - index; ++k)
            expected[index] += input.open(4 * (k * stride + 256 * index), 1024);
    }
    expected[0] += input.open(n - 3, 3); // the tail
    partial_sums.open(0, 2);
    others.open(0, 2);
    int* const result = others.data();
    int* const blocks_done = others.data() + 1;
    *result = -1;
    *blocks_done = 0;
    for (const std::uint64_t index : {0, 1})
        wide.run(
            "_Z7reduce9ILj256EEvPKiPimS2_Pj", grid, index,
            {address(input.data()), address(result), n, address(partial_sums.data()), address(blocks_done)});
    EXPECT_EQ(partial_sums.data()[0], expected[0]);
    EXPECT_EQ(partial_sums.data()[1], expected[1]);
    EXPECT_EQ(*blocks_done, 2);
    EXPECT_EQ(*result, -1) << "neither block was the last";
}

TEST(Lesson22WideIndex, of_a_maximum_is_right_in_both_loops) {
    // The same. The largest elements are in the third load of a thread's first loop, and in the last of its
    // second. A value is an int and, 8 bytes further, its index.
    const std::uint64_t grid = std::uint64_t{1} << 23, stride = std::uint64_t{1} << 31;
    const std::uint64_t vectors = 7 * stride + 256, n = 4 * vectors + 3;
    WideGrid wide;
    SparseInts input(wide.memory, n), partials(wide.memory, 4 * grid), others(wide.memory, 2048);
    for (const std::uint64_t index : {0, 1})
        for (std::uint64_t k = 0; k < 8 - index; ++k) input.open(4 * (k * stride + 256 * index), 1024);
    input.open(n - 3, 3);
    const std::uint64_t places[] = {4 * (7 * stride) + 77, 4 * (2 * stride + 256) + 1023};
    for (const std::uint64_t place : places) input.data()[place] = 5000;
    partials.open(0, 8);
    others.open(0, 5);
    int* const blocks_done = others.data() + 4;
    *blocks_done = 0;
    for (const std::uint64_t index : {0, 1})
        wide.run("_Z10reduce_anyIi6ArgMaxIiEEvPKT_PNT0_5ValueEmS7_Pj", grid, index,
                 {address(input.data()), address(others.data()), n, address(partials.data()),
                  address(blocks_done)});
    for (const std::uint64_t index : {0, 1}) {
        std::int64_t found;
        std::memcpy(&found, partials.data() + 4 * index + 2, sizeof found);
        EXPECT_EQ(partials.data()[4 * index], 5000);
        EXPECT_EQ(found, static_cast<std::int64_t>(places[index]));
    }
}

/// The inclusive sums of `count` elements, after `before`.
std::vector<int> scanned(const int* elements, std::uint64_t count, int before = 0) {
    std::vector<int> sums;
    for (std::uint64_t i = 0; i < count; ++i)
        sums.push_back(before = harness::reference_sum(std::vector<int>{before, elements[i]}));
    return sums;
}

TEST(Lesson27WideIndex, of_tiles_is_right_in_the_last_block) {
    const std::uint64_t n = two_to_32 + 1001, grid = ceil_div(n, block), first = (grid - 1) * block;
    for (const char* kernel : {"_Z18scan_hillis_steelePKiPimS1_", "_Z13scan_blellochPKiPimS1_",
                               "_Z20scan_blelloch_paddedPKiPimS1_", "_Z10scan_warpsPKiPimS1_"}) {
        SCOPED_TRACE(kernel);
        WideGrid wide;
        SparseInts input(wide.memory, n), output(wide.memory, n), tile_sums(wide.memory, grid);
        input.open(first, n - first), output.open(first, n - first), tile_sums.open(grid - 1, 1);
        wide.run(kernel, grid, grid - 1,
                 {address(input.data()), address(output.data()), n, address(tile_sums.data())},
                 block + block / 32);
        const std::vector<int> expected = scanned(input.data() + first, n - first);
        EXPECT_EQ(std::vector<int>(output.data() + first, output.data() + n), expected);
        EXPECT_EQ(tile_sums.data()[grid - 1], expected.back());

        const int before = tile_sums.open(grid - 2, 1);
        wide.run("_Z13add_tile_sumsPimPKi", grid, grid - 1,
                 {address(output.data()), n, address(tile_sums.data())});
        EXPECT_EQ(std::vector<int>(output.data() + first, output.data() + n),
                  scanned(input.data() + first, n - first, before));
    }
}

TEST(Lesson27WideIndex, of_a_look_back_is_right_in_the_last_tiles) {
    // The wide one counts vectors: its last tiles begin beyond vector 2^32. The block takes the tile that
    // `next` has, and the tiles before it have published 777.
    struct Scan {
        const char* kernel;
        std::uint64_t elements, n;
    };
    for (const auto& [kernel, elements, n] :
         {Scan{"_Z13scan_lookbackPKiPim5Tiles", block, two_to_32 + 1001},
          {"_Z18scan_lookback_widePKiPim9WideTiles", 32 * block, 4 * two_to_32 + 32 * block + 1001}}) {
        const std::uint64_t tiles = ceil_div(n, elements);
        for (const std::uint64_t tile : {tiles - 2, tiles - 1}) { // a whole one, and the rest
            SCOPED_TRACE(kernel);
            const std::uint64_t first = tile * elements, count = std::min(elements, n - first);
            WideGrid wide;
            SparseInts input(wide.memory, n), output(wide.memory, n), next(wide.memory, 1024);
            SparseInts status(wide.memory, 2 * tiles), sums(wide.memory, tiles), prefixes(wide.memory, tiles);
            input.open(first, count), output.open(first, count), next.open(0, 1);
            *next.data() = static_cast<int>(tile);
            std::vector<std::uint64_t> parameters{address(input.data()), address(output.data()), n,
                                                  address(next.data()), address(status.data())};
            if (elements == block) {
                constexpr int all_up_to_it = 2;
                status.open(tile - 1, 2), sums.open(tile - 1, 2), prefixes.open(tile - 1, 2);
                status.data()[tile - 1] = all_up_to_it;
                prefixes.data()[tile - 1] = 777;
                parameters.insert(parameters.end(), {address(sums.data()), address(prefixes.data())});
            } else { // a word of 64 bits for both
                status.open(2 * (tile - 32), 2 * 33);
                for (std::uint64_t before = tile - 32; before < tile; ++before)
                    status.data()[2 * before] = 777, status.data()[2 * before + 1] = 2;
            }
            wide.run(kernel, tiles, 0, parameters);
            EXPECT_EQ(std::vector<int>(output.data() + first, output.data() + first + count),
                      scanned(input.data() + first, count, 777));
            EXPECT_EQ(*next.data(), static_cast<int>(tile + 1));
        }
    }
}

TEST(LimitWideIndex, of_vectors_goes_on_by_a_stride_of_2_to_the_32) {
    // Of lessons 28 and 30. A block takes `vectors` at a time, and the grid 2^32. So block 0 has the first
    // ones, as many from vector 2^32 on, and the tail of three ints. Block 1 has the next ones, and then the
    // last 188.
    struct Sum {
        const char* kernel;
        std::uint32_t threads;
        std::uint64_t vectors;
        std::vector<std::uint64_t> more; ///< parameters
    };
    for (const auto& [kernel, threads, vectors, more] :
         {Sum{"_Z8reduce10ILj256ELj2EEvPKiPimj", 256, 256, {1}},
          {"_Z8reduce11ILj256EEvPKiPimjj", 256, 1024, {std::uint64_t{2} << 32 | 16 * 1024}},
          {"_ZN9take_home6detail14sum_one_launchILj512ELj4ELj4EEEvNS0_5PartsEPiPNS0_7MeetingE", 512, 512, {}},
          {"_ZN9take_home6detail15sum_bulk_copiesILj256ELj4096EEEvNS0_5PartsEPiPNS0_7MeetingEj",
           256,
           4096,
           {2}}}) {
        SCOPED_TRACE(kernel);
        const std::uint64_t all = two_to_32 + vectors + 188, n = 4 * all + 3;
        WideGrid wide;
        SparseInts input(wide.memory, n), sums(wide.memory, 1024), meeting(wide.memory, 1024);
        const int of_blocks = input.open(0, 8 * vectors), far = input.open(4 * two_to_32, n - 4 * two_to_32);
        const int expected = harness::reference_sum(std::vector<int>{of_blocks, far});
        sums.open(0, 2), meeting.open(0, 4);
        std::fill_n(meeting.data(), 4, 0);
        std::vector<std::uint64_t> parameters{address(input.data()), address(sums.data()), n};
        const bool is_take_home = kernel[1] == 'Z' && kernel[2] == 'N';
        if (is_take_home) // the parts of the input: no head, and a tail
            parameters = {address(input.data()),  address(input.data()), all,
                          std::uint64_t{3} << 32, address(sums.data()),  address(meeting.data())};
        parameters.insert(parameters.end(), more.begin(), more.end());
        emulator::LaunchConfiguration configuration;
        configuration.grid.x = static_cast<std::uint32_t>(two_to_32 / vectors);
        configuration.block.x = threads;
        configuration.dynamic_shared_bytes = static_cast<std::uint32_t>(2 * 16 * vectors);
        for (const std::uint64_t index : {0, 1}) wide.run(kernel, configuration, index, parameters);
        const int count = meeting.data()[0], sum = meeting.data()[1]; // of both blocks
        if (is_take_home) {
            EXPECT_EQ(count, 2);
            EXPECT_EQ(sum, expected);
        } else {
            EXPECT_EQ(harness::reference_sum(sums.data(), 2), expected);
        }
    }
}

} // namespace
