// sum() and its strategies, on every size that has a boundary near it, on inputs that start anywhere, and
// with workspaces in every state.
#include <cuda/atomic>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "../../../lessons/lesson30_a_sum_for_every_n/sum.cuh"
#include "harness/check.hpp"
#include "harness/random_input.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace lesson30_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson30_a_sum_for_every_n/kernels.cuh"

using namespace harness;
using take_home::Strategy, take_home::Workspace, take_home::choose;

constexpr std::size_t sizes[] = {1,    2,    31,   32,     33,     255,    256,     257,     1000,
                                 1023, 1024, 1025, 2047,   2048,   2049,   4095,    4096,    4097,
                                 8191, 8192, 8193, 65'535, 65'536, 65'537, 131'071, 131'072, 131'073};
/// Every place in a vector, and both sides of a line's end.
constexpr std::size_t offsets[] = {0, 1, 2, 3, 31, 32, 33};
constexpr std::size_t offset_sizes[] = {1, 2, 3, 4, 5, 31, 32, 33, 1000, 8193, 65'537, 131'073};

constexpr unsigned char garbage = poison_byte;

/// A workspace of exactly the size that sum() asks for, with guards around it.
class GuardedWorkspace {
public:
    explicit GuardedWorkspace(std::size_t misplaced = 0) : first_(256 + misplaced) {
        HARNESS_CHECK(take_home::sum(nullptr, bytes_, nullptr, nullptr, 1));
        HARNESS_CHECK(cudaMemset(buffer_.data(), garbage, buffer_.size()));
    }
    void* data() { return buffer_.data() + first_; }
    std::size_t& bytes() { return bytes_; }
    void fill(int value) { HARNESS_CHECK(cudaMemset(data(), value, bytes_)); }

    /// Whether all of it has this value, and nothing around it was written.
    testing::AssertionResult holds(int value) { return check(value, true); }
    testing::AssertionResult is_kept_to() { return check(0, false); }

private:
    testing::AssertionResult check(int value, bool inside) {
        const std::vector<unsigned char> all = buffer_.read();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool is_inside = i >= first_ && i < first_ + bytes_;
            if (is_inside ? inside && all[i] != value : all[i] != garbage)
                return testing::AssertionFailure() << "byte " << i << " is " << int{all[i]};
        }
        return testing::AssertionSuccess();
    }

    DeviceBuffer<unsigned char> buffer_{1024};
    std::size_t first_, bytes_ = 0;
};

class Sum : public testing::TestWithParam<Workspace> {
protected:
    void SetUp() override { workspace_.fill(0); }

    /// The workspace holds whatever the caller may leave there.
    void expect_sum(const RandomInts& input) {
        for (const char* call : {"first", "second"}) {
            if (GetParam() == Workspace::any) workspace_.fill(garbage);
            result_.poison();
            ASSERT_EQ(take_home::sum(workspace_.data(), workspace_.bytes(), input.data(), result_.data(),
                                     input.size(), nullptr, GetParam()),
                      cudaSuccess);
            synchronize("sum");
            ASSERT_EQ(result_.read().front(), input.sum())
                << "n = " << input.size() << ", offset " << input.offset() << ", " << call << " call";
            if (GetParam() == Workspace::zeros) ASSERT_TRUE(workspace_.holds(0)) << "n = " << input.size();
        }
    }

    GuardedWorkspace workspace_;
    DeviceBuffer<int> result_{1};
};

INSTANTIATE_TEST_SUITE_P(lesson30, Sum, testing::Values(Workspace::any, Workspace::zeros),
                         [](const auto& info) { return info.param == Workspace::any ? "any" : "zeros"; });

/// One of the strategies, in a workspace of one of the states.
struct SumBy {
    Strategy strategy;
    Workspace state;
    take_home::detail::Device device;
    DeviceBuffer<take_home::detail::Meeting> meeting{1};
    DeviceBuffer<int> result{1};

    SumBy(Strategy strategy, Workspace state) : strategy(strategy), state(state) {
        HARNESS_CHECK(take_home::detail::current_device(device));
        HARNESS_CHECK(cudaMemset(meeting.data(), 0, meeting.bytes()));
    }

    bool can_sum(std::size_t n) const { return strategy != Strategy::one_block || n <= 8192; }

    cudaError_t queue(const int* input, std::size_t n) {
        return take_home::sum_by(strategy, meeting.data(), input, result.data(), n, nullptr, state, device);
    }

    void expect_sum(const RandomInts& input) {
        if (!can_sum(input.size())) {
            EXPECT_EQ(queue(input.data(), input.size()), cudaErrorInvalidValue);
            return;
        }
        for (const char* call : {"first", "second"}) {
            if (state == Workspace::any) HARNESS_CHECK(cudaMemset(meeting.data(), garbage, meeting.bytes()));
            result.poison();
            ASSERT_EQ(queue(input.data(), input.size()), cudaSuccess);
            synchronize("sum");
            ASSERT_EQ(result.read().front(), input.sum())
                << "n = " << input.size() << ", offset " << input.offset() << ", " << call << " call";
            if (state == Workspace::any) continue;
            const take_home::detail::Meeting left = meeting.read().front();
            ASSERT_TRUE(left.sum_and_count == 0 && left.tiles_taken == 0) << "n = " << input.size();
        }
    }
};

TEST_P(Sum, is_right_for_every_size) {
    for (const std::size_t n : sizes) expect_sum(RandomInts(n, n));
    for (const std::size_t n : large_sizes) expect_sum(RandomInts(n, n));
}

TEST_P(Sum, is_right_for_every_alignment) {
    for (const std::size_t offset : offsets)
        for (const std::size_t n : offset_sizes) expect_sum(RandomInts(n, n, offset));
}

TEST_P(Sum, of_no_ints_is_zero) {
    result_.poison();
    ASSERT_EQ(take_home::sum(workspace_.data(), workspace_.bytes(), nullptr, result_.data(), 0, nullptr,
                             GetParam()),
              cudaSuccess);
    synchronize("sum");
    EXPECT_EQ(result_.read().front(), 0);
}

TEST_P(Sum, takes_a_workspace_that_starts_anywhere) {
    const RandomInts input(300'001, 7, 1);
    for (std::size_t misplaced = 0; misplaced <= 8; ++misplaced) {
        GuardedWorkspace workspace(misplaced);
        workspace.fill(GetParam() == Workspace::any ? garbage : 0);
        result_.poison();
        ASSERT_EQ(take_home::sum(workspace.data(), workspace.bytes(), input.data(), result_.data(),
                                 input.size(), nullptr, GetParam()),
                  cudaSuccess);
        synchronize("sum");
        EXPECT_EQ(result_.read().front(), input.sum()) << misplaced;
        EXPECT_TRUE(workspace.is_kept_to()) << misplaced;
    }
}

TEST_P(Sum, takes_calls_of_every_size_one_after_the_other_on_one_stream) {
    cudaStream_t stream = nullptr;
    HARNESS_CHECK(cudaStreamCreate(&stream));
    const std::size_t counts[] = {1'000'003, 5, 131'073, 0, 20'000, 300'000};
    const RandomInts input(1'000'003, 3);
    const std::vector<int> ints = input.values(0, input.size());
    DeviceBuffer<int> results(std::size(counts));
    results.poison();
    for (std::size_t i = 0; i < std::size(counts); ++i)
        ASSERT_EQ(take_home::sum(workspace_.data(), workspace_.bytes(), input.data(), results.data() + i,
                                 counts[i], stream, GetParam()),
                  cudaSuccess);
    HARNESS_CHECK(cudaStreamSynchronize(stream));
    HARNESS_CHECK(cudaStreamDestroy(stream));
    const std::vector<int> sums = results.read();
    for (std::size_t i = 0; i < std::size(counts); ++i) {
        unsigned int expected = 0;
        for (std::size_t k = 0; k < counts[i]; ++k) expected += static_cast<unsigned int>(ints[k]);
        EXPECT_EQ(sums[i], static_cast<int>(expected)) << counts[i];
    }
}

TEST_P(Sum, says_how_much_workspace_it_needs_and_refuses_less) {
    std::size_t bytes = 0;
    result_.write(std::array{1234});
    const RandomInts input(100'000, 1);
    EXPECT_EQ(take_home::sum(nullptr, bytes, input.data(), result_.data(), input.size(), nullptr, GetParam()),
              cudaSuccess);
    EXPECT_GT(bytes, 0u);
    std::size_t less = bytes - 1;
    EXPECT_EQ(take_home::sum(workspace_.data(), less, input.data(), result_.data(), input.size(), nullptr,
                             GetParam()),
              cudaErrorInvalidValue);
    synchronize("sum");
    EXPECT_EQ(result_.read().front(), 1234) << "neither call queues anything";
}

void expect_sums_by(Strategy strategy) {
    for (const auto state : {Workspace::any, Workspace::zeros}) {
        SCOPED_TRACE(state == Workspace::any ? "any workspace" : "zeros");
        SumBy sum_by(strategy, state);
        const bool needs_9_0 = strategy == Strategy::one_cluster || strategy == Strategy::bulk_copies;
        if (needs_9_0 && sum_by.device.capability_major < 9)
            GTEST_SKIP() << "this device does not have that strategy";
        for (const std::size_t n : sizes) sum_by.expect_sum(RandomInts(n, n));
        for (const std::size_t n : large_sizes) sum_by.expect_sum(RandomInts(n, n));
        for (const std::size_t offset : offsets)
            for (const std::size_t n : offset_sizes) sum_by.expect_sum(RandomInts(n, n, offset));
    }
}

TEST(Lesson30SumBy, one_block_is_right_for_every_size_and_alignment) { expect_sums_by(Strategy::one_block); }

TEST(Lesson30SumBy, one_cluster_is_right_for_every_size_and_alignment) {
    expect_sums_by(Strategy::one_cluster);
}

TEST(Lesson30SumBy, one_launch_is_right_for_every_size_and_alignment) {
    expect_sums_by(Strategy::one_launch);
}

TEST(Lesson30SumBy, bulk_copies_are_right_for_every_size_and_alignment) {
    expect_sums_by(Strategy::bulk_copies);
}

TEST(Lesson30SmallSum, is_right_for_every_size_and_alignment) {
    with_every_block([](unsigned int block) {
        DeviceBuffer<int> result(1);
        DeviceBuffer<unsigned long long> sum_and_count(1);
        sum_and_count.write(std::array{0ull}); // only once: each launch leaves it so
        for (const std::size_t offset : offsets) {
            for (const std::size_t n : offset_sizes) {
                const RandomInts input(n, n, offset);
                for (const unsigned int grid : {1u, 8u}) {
                    result.poison();
                    small_sum<<<grid, block>>>(input.data(), result.data(), n, sum_and_count.data());
                    check_launch("small_sum");
                    synchronize("small_sum");
                    EXPECT_EQ(result.read().front(), input.sum()) << n << ", offset " << offset;
                }
            }
        }
    });
}

TEST(Lesson30Choice, changes_where_the_page_says) {
    constexpr std::size_t Ki = 1024, Mi = 1024 * Ki;
    const take_home::detail::Device hopper{132, 9, 227 * 1024}, ampere{108, 8, 163 * 1024},
        small{24, 12, 99 * 1024};
    for (const auto state : {Workspace::any, Workspace::zeros}) {
        for (const auto& device : {hopper, ampere, small}) {
            EXPECT_EQ(choose(1, state, device), Strategy::one_block);
            EXPECT_EQ(choose(8 * Ki, state, device), Strategy::one_block);
            EXPECT_EQ(choose(128 * Ki + 1, state, device), Strategy::one_launch);
            EXPECT_EQ(choose(256 * Mi - 1, state, device), Strategy::one_launch);
        }
        EXPECT_EQ(choose(256 * Mi, state, hopper), Strategy::bulk_copies);
        EXPECT_EQ(choose(256 * Mi, state, ampere), Strategy::one_launch);
        EXPECT_EQ(choose(256 * Mi, state, small), Strategy::one_launch);
        EXPECT_EQ(choose(8 * Ki + 1, state, ampere), Strategy::one_launch);
    }
    for (const std::size_t n : {8 * Ki + 1, 128 * Ki}) {
        EXPECT_EQ(choose(n, Workspace::any, hopper), Strategy::one_cluster);
        EXPECT_EQ(choose(n, Workspace::zeros, hopper), Strategy::one_launch);
    }
}

} // namespace lesson30_kernels
