// The kernels of lesson 23: each sum is within its bound of the exact one, has the bits of its order, and
// sum_reproducible and exact_sum() have those of the exact sum, rounded once. The exact sum here is MPFR's.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../../../lessons/lesson23_floating_point/data.hpp"
#include "../../../lessons/lesson23_floating_point/exact_sum.cuh"
#include "../../../lessons/lesson23_floating_point/orders.hpp"
#include "harness/check.hpp"
#include "harness/device_buffer.hpp"
#include "harness/launch_size.hpp"
#include "harness/reduction.hpp"
#include "sizes.hpp"
#include "test_device.hpp"

namespace lesson23_kernels { // Other lessons have functions of the same names.
#include "../../../lessons/lesson23_floating_point/kernels.cuh"

using namespace harness;

constexpr FloatKind kinds[] = {{}, {.cancel = true}, {.tiny = true}, {.cancel = true, .tiny = true}};
constexpr float largest = std::numeric_limits<float>::max();
constexpr float smallest = 0x1p-149f;

std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// A number of 2,300 bits: any sum of 2^100 doubles, exactly.
class Exact {
public:
    Exact() { mpfr_init2(value_, 2300), mpfr_set_zero(value_, 1); }
    ~Exact() { mpfr_clear(value_); }
    Exact(const Exact&) = delete;
    Exact& operator=(const Exact&) = delete;

    void add(double value) { mpfr_add_d(value_, value_, value, MPFR_RNDN); }
    void add_units(long long count, int exponent) { // count x 2^exponent
        add(std::ldexp(static_cast<double>(count >> 32), exponent + 32));
        add(std::ldexp(static_cast<double>(count & 0xffffffff), exponent));
    }
    /// The nearest float, with a positive 0.
    float rounded() const { return mpfr_get_flt(value_, MPFR_RNDN) + 0.0f; }
    double rounded_to_double() const { return mpfr_get_d(value_, MPFR_RNDN) + 0.0; }
    double minus(float value) const {
        Exact difference;
        mpfr_sub_d(difference.value_, value_, value, MPFR_RNDN);
        return mpfr_get_d(difference.value_, MPFR_RNDN);
    }

private:
    mpfr_t value_;
};

struct Sums {
    explicit Sums(const std::vector<float>& values) {
        for (const float value : values) sum.add(value), magnitude += std::abs(double{value});
    }
    Exact sum;
    double magnitude = 0;
};

template <class T> DeviceBuffer<T> on_device(const std::vector<T>& values) {
    DeviceBuffer<T> buffer(values.size());
    buffer.write(values);
    return buffer;
}

float sum_in_sequence(const DeviceBuffer<float>& input) {
    DeviceBuffer<float> result(1);
    result.poison();
    sum_sequential<<<1, 1>>>(input.data(), result.data(), input.size());
    check_launch("sum_sequential");
    return result.read().front();
}

float sum_by_atomics(const DeviceBuffer<float>& input, unsigned int block, unsigned int grid) {
    DeviceBuffer<float> result = on_device(std::vector<float>{0});
    sum_atomic<<<grid, block>>>(input.data(), result.data(), input.size());
    check_launch("sum_atomic");
    return result.read().front();
}

std::vector<unsigned int> grids_of(std::size_t n, unsigned int block, unsigned int most_blocks) {
    return plan_grids(n, block, {.most_blocks = most_blocks});
}

/// The passes of sum_tree, sum_kahan or sum_in_double, until one sum is left.
template <class Sum>
float sum_passes(const DeviceBuffer<float>& input, unsigned int block, unsigned int most_blocks,
                 void (*first)(const float*, Sum*, std::size_t),
                 void (*next)(const Sum*, Sum*, std::size_t)) {
    std::vector<DeviceBuffer<Sum>> sums;
    std::size_t n = input.size();
    for (const unsigned int grid : grids_of(input.size(), block, most_blocks)) {
        sums.emplace_back(grid);
        sums.back().poison();
        if (sums.size() == 1)
            first<<<grid, block>>>(input.data(), sums.back().data(), n);
        else
            next<<<grid, block>>>(sums.end()[-2].data(), sums.back().data(), n);
        check_launch("a pass");
        n = grid;
    }
    return static_cast<float>(sums.back().read().front());
}

float sum_exactly(const DeviceBuffer<float>& input, unsigned int block, unsigned int grid) {
    const std::size_t shared_bytes = block * words * sizeof(long long);
    allow_shared_bytes(reinterpret_cast<const void*>(sum_reproducible), shared_bytes);
    DeviceBuffer<ExactSum> sum = on_device(std::vector<ExactSum>(1));
    DeviceBuffer<float> result(1);
    result.poison();
    sum_reproducible<<<grid, block, shared_bytes>>>(input.data(), sum.data(), input.size());
    check_launch("sum_reproducible");
    round_sum<<<1, 1>>>(sum.data(), result.data());
    check_launch("round_sum");
    return result.read().front();
}

// ---- exact_sum(), by each of its kernels and any grid ----

/// One launch of a kernel in a grid of the test's choice. \return the bits of the sum
template <class Real, unsigned int block, unsigned int per_multiprocessor, unsigned int loads>
Real exact_sum_by(const Real* input, std::size_t n, unsigned int grid) {
    const auto kernel = take_home::exact::exact_sum<Real, block, per_multiprocessor, loads>;
    constexpr std::size_t bytes = take_home::exact::shared_bytes<Real, block>;
    allow_shared_bytes(reinterpret_cast<const void*>(kernel), bytes);
    using Meeting = take_home::exact::Meeting<Real>;
    DeviceBuffer<Meeting> meeting(1);
    HARNESS_CHECK(cudaMemset(meeting.data(), 0, sizeof(Meeting)));
    DeviceBuffer<Real> result(1);
    result.poison();
    kernel<<<grid, block, bytes>>>(take_home::exact::split(input, n), result.data(), meeting.data());
    check_launch("exact_sum");
    const Real sum = result.read().front();
    const Meeting after = meeting.read().front(), zeros{};
    EXPECT_EQ(std::memcmp(&after, &zeros, sizeof zeros), 0) << "the state is not zero again";
    return sum;
}

template <class Real> using ExactSumBy = Real (*)(const Real*, std::size_t, unsigned int);
constexpr ExactSumBy<float> float_kernels[] = {
    exact_sum_by<float, 512, 2, 2>, exact_sum_by<float, 1024, 1, 4>, exact_sum_by<float, 256, 2, 2>};
constexpr ExactSumBy<double> double_kernels[] = {
    exact_sum_by<double, 256, 2, 4>, exact_sum_by<double, 128, 1, 4>, exact_sum_by<double, 512, 1, 6>};

/// The same additions in the same order on the host.
template <class Sum> float on_host(const std::vector<float>& values, unsigned int block, unsigned int most) {
    std::vector<Sum> level(values.begin(), values.end());
    for (const unsigned int grid : grids_of(values.size(), block, most)) {
        std::vector<Sum> partial_sums;
        for (std::size_t b = 0; b < grid; ++b) {
            std::vector<Sum> of_threads;
            for (std::size_t t = 0; t < block; ++t) {
                Sum sum = 0;
                for (std::size_t i = b * block + t; i < level.size(); i += std::size_t{grid} * block)
                    sum = sum + level[i];
                of_threads.push_back(sum);
            }
            for (; of_threads.size() > 1; of_threads.resize(of_threads.size() / 2))
                for (std::size_t t = 0; t < of_threads.size() / 2; ++t)
                    of_threads[t] = of_threads[t] + of_threads[t + of_threads.size() / 2];
            partial_sums.push_back(of_threads[0]);
        }
        level = partial_sums;
    }
    return static_cast<float>(level.front());
}

void expect_all(std::size_t n, FloatKind kind, unsigned int block, unsigned int most_blocks) {
    SCOPED_TRACE("n = " + std::to_string(n) + (kind.cancel ? " cancel" : "") + (kind.tiny ? " tiny" : "") +
                 ", at most " + std::to_string(most_blocks) + " blocks");
    const std::vector<float> values = float_elements(kind, n, n);
    const Sums exact(values);
    const float nearest = exact.sum.rounded();
    const DeviceBuffer<float> input = on_device(values);
    const std::vector<unsigned int> grids = grids_of(n, block, most_blocks);
    const double h = depth(n, block, grids), sum = exact.sum.minus(0);

    const float tree = sum_passes<float>(input, block, most_blocks, sum_tree, sum_tree);
    EXPECT_EQ(bits_of(tree), bits_of(on_host<float>(values, block, most_blocks)));
    EXPECT_LE(std::abs(exact.sum.minus(tree)), plain_bound(h, exact.magnitude));

    const float atomic = sum_by_atomics(input, block, grids.front());
    EXPECT_LE(std::abs(exact.sum.minus(atomic)),
              atomic_bound(depth_in_block(n, block, grids.front()) + grids.front() - 1, grids.front(),
                           exact.magnitude));

    const float kahan =
        sum_passes<Compensated>(input, block, most_blocks, sum_kahan<float>, sum_kahan<Compensated>);
    EXPECT_EQ(bits_of(kahan), bits_of(on_host<Compensated>(values, block, most_blocks)));
    EXPECT_LE(std::abs(exact.sum.minus(kahan)), compensated_bound(h, sum, exact.magnitude));

    const float in_double =
        sum_passes<double>(input, block, most_blocks, sum_in_double<float>, sum_in_double<double>);
    EXPECT_EQ(bits_of(in_double), bits_of(on_host<double>(values, block, most_blocks)));
    EXPECT_LE(std::abs(exact.sum.minus(in_double)), double_bound(h, sum, exact.magnitude));

    EXPECT_EQ(bits_of(sum_exactly(input, block, grids.front())), bits_of(nearest));
}

TEST(Lesson23FloatSum, is_within_its_bound_and_has_the_bits_of_its_order) {
    with_every_block([](unsigned int block) {
        for (std::size_t i = 0; i < std::size(sizes); ++i) {
            for (const FloatKind kind : kinds) {
                expect_all(sizes[i], kind, block, std::numeric_limits<unsigned int>::max());
                if (HasFailure()) return;
            }
            expect_all(sizes[i], kinds[i % 4], block, 1 + i % 7);
        }
    });
}

TEST(Lesson23FloatSum, is_right_for_large_sizes) {
    with_every_block([](unsigned int block) {
        const FloatKind kind = kinds[__builtin_ctz(block) % 4];
        expect_all(large_size_for(block), kind, block, std::numeric_limits<unsigned int>::max());
        expect_all(200'003, {.cancel = true}, block, 5);
    });
}

TEST(Lesson23SumSequential, has_the_bits_of_the_loop) {
    for (const std::size_t n : sizes) {
        for (const FloatKind kind : kinds) {
            const std::vector<float> values = float_elements(kind, n, n);
            float expected = 0;
            for (const float value : values) expected += value;
            const float sum = sum_in_sequence(on_device(values));
            EXPECT_EQ(bits_of(sum), bits_of(expected)) << n;
            const Sums exact(values);
            EXPECT_LE(std::abs(exact.sum.minus(sum)),
                      plain_bound(static_cast<double>(n - 1), exact.magnitude));
        }
    }
}

// 2^24 + 1 lies between two floats, and is rounded to 2^24 each time.
TEST(Lesson23SumSequential, stops_growing_at_2_to_the_24) {
    std::vector<float> values(100, 1);
    values[0] = 0x1p24f;
    EXPECT_EQ(sum_in_sequence(on_device(values)), 0x1p24f);
    EXPECT_EQ(sum_exactly(on_device(values), 32, 1), 0x1p24f + 100); // 99, to the even neighbor
}

/// The results of a sum for 6 blocks and 4 grids.
template <class Launch> std::set<std::uint32_t> results(const Launch& launch) {
    std::set<std::uint32_t> found;
    for (const unsigned int block : blocks)
        for (const unsigned int grid : {1u, 2u, 7u, 100u}) found.insert(bits_of(launch(block, grid)));
    return found;
}

TEST(Lesson23FloatOrder, changes_the_bits_of_all_sums_but_the_reproducible_one) {
    // Not tiny ones alone: up to 2^24 units, float sums are exact.
    for (const FloatKind kind : {kinds[0], kinds[1], kinds[3]}) {
        const DeviceBuffer<float> input = on_device(float_elements(kind, 42, 100'003));
        EXPECT_GT(results([&](unsigned int block, unsigned int grid) {
                      return sum_passes<float>(input, block, grid, sum_tree, sum_tree);
                  }).size(),
                  3u);
        EXPECT_EQ(results([&](unsigned int block, unsigned int grid) {
                      return sum_exactly(input, block, grid);
                  }).size(),
                  1u);
    }
    const DeviceBuffer<float> input = on_device(float_elements({.cancel = true}, 42, 100'003));
    EXPECT_GT(results([&](unsigned int block, unsigned int grid) {
                  return sum_passes<Compensated>(input, block, grid, sum_kahan<float>,
                                                 sum_kahan<Compensated>);
              }).size(),
              3u);
}

TEST(Lesson23FloatOrder, of_blocks_alone_changes_sum_tree_and_of_grids_alone_too) {
    const DeviceBuffer<float> input = on_device(float_elements({}, 42, 100'003));
    const auto tree = [&](unsigned int block, unsigned int grid) {
        return bits_of(sum_passes<float>(input, block, grid, sum_tree, sum_tree));
    };
    EXPECT_GT((std::set{tree(32, 7), tree(64, 7), tree(128, 7), tree(256, 7), tree(512, 7)}).size(), 1u);
    EXPECT_GT((std::set{tree(64, 1), tree(64, 2), tree(64, 7), tree(64, 100), tree(64, 1000)}).size(), 1u);
}

// ---- sum_reproducible on floats of every kind ----

/// The sum in several orders, blocks and grids, which is the same in all of them.
float sum_in_many_ways(std::vector<float> values) {
    std::mt19937 random(7);
    const DeviceBuffer<float> input = on_device(values);
    const float first = sum_exactly(input, 32, 1);
    for (const auto& [block, grid] : {std::pair(64u, 3u), std::pair(1024u, 2u)}) {
        std::shuffle(values.begin(), values.end(), random);
        EXPECT_EQ(bits_of(sum_exactly(on_device(values), block, grid)), bits_of(first));
    }
    for (const auto by : float_kernels) {
        EXPECT_EQ(bits_of(by(input.data(), values.size(), 1)), bits_of(first)) << "exact_sum()";
    }
    return first;
}

TEST(Lesson23SumReproducible, rounds_to_the_nearest_float_and_then_to_the_even_one) {
    const std::pair<std::vector<float>, float> cases[] = {
        {{0x1p24f, 1}, 0x1p24f},                    // a tie, below
        {{0x1p24f, 3}, 0x1p24f + 4},                // a tie, above
        {{0x1p24f, 1, smallest}, 0x1p24f + 2},      // a little more than one
        {{0x1p24f, 3, -smallest}, 0x1p24f + 2},     // and a little less
        {{0x1p24f, 1, 1, 1}, 0x1p24f + 4},          // not what any float addition does
        {{0x1.fffffep0f, 0x1p-24f}, 2},             // the carry raises the exponent
        {{smallest, smallest}, 2 * smallest},       // subnormal
        {{0x1.fffffcp-127f, smallest}, 0x1p-126f},  // subnormal to normal
        {{0x1p-126f, -smallest}, 0x1.fffffcp-127f}, // and back
        {{0x1p-125f, smallest}, 0x1p-125f},         // a tie between multiples of 2^-148
        {{0x1p-125f, 3 * smallest}, 0x1p-125f + 4 * smallest},
        {{1e30f, 1, -1e30f}, 1},
        {{0x1p127f, smallest, -0x1p127f}, smallest}, // 276 bits apart
    };
    for (const auto& [values, expected] : cases) {
        EXPECT_EQ(bits_of(sum_in_many_ways(values)), bits_of(expected)) << expected;
        std::vector<float> negative = values;
        for (float& value : negative) value = -value;
        EXPECT_EQ(bits_of(sum_in_many_ways(negative)), bits_of(-expected)) << -expected;
    }
}

// 2^127 is in word 8, and half the distance to the next float, 2^103, in word 7: a tie, but for a bit in a word below.
TEST(Lesson23SumReproducible, looks_for_the_rest_of_a_tie_in_every_word) {
    EXPECT_EQ(sum_in_many_ways({0x1p127f, 0x1p103f}), 0x1p127f);
    for (int word = 0; word < 7; ++word) {
        const float rest = std::ldexp(smallest, 32 * word);
        EXPECT_EQ(sum_in_many_ways({0x1p127f, 0x1p103f, rest}), 0x1p127f + 0x1p104f) << word;
        EXPECT_EQ(sum_in_many_ways({-0x1p127f, -0x1p103f, -rest}), -0x1p127f - 0x1p104f) << word;
    }
}

TEST(Lesson23SumReproducible, of_nothing_but_zeros_is_a_positive_zero) {
    // nvcc 12 does not deduce the type of a list of lists.
    for (const auto& values : std::vector<std::vector<float>>{{0}, {-0.0f}, {-0.0f, -0.0f}, {1, -1}})
        EXPECT_EQ(bits_of(sum_in_many_ways(values)), 0u);
}

// Between the largest float, 2^128 - 2^104, and 2^128 the middle is 2^103 more.
TEST(Lesson23SumReproducible, is_infinite_only_if_the_sum_is_too_large) {
    EXPECT_EQ(sum_in_many_ways({largest, largest, -largest}), largest);
    EXPECT_EQ(sum_in_many_ways(std::vector<float>(1000, largest)), INFINITY);
    EXPECT_EQ(sum_in_many_ways(std::vector<float>(1000, -largest)), -INFINITY);
    EXPECT_EQ(sum_in_many_ways({largest, 0x1p103f}), INFINITY);
    EXPECT_EQ(sum_in_many_ways({largest, 0x1p103f, -smallest}), largest);
}

TEST(Lesson23SumReproducible, of_infinities_and_nan_is_that_of_ieee_754) {
    EXPECT_EQ(sum_in_many_ways({1, INFINITY, -largest, INFINITY}), INFINITY);
    EXPECT_EQ(sum_in_many_ways({1, -INFINITY, largest}), -INFINITY);
    for (const auto& values :
         std::vector<std::vector<float>>{{INFINITY, 1, -INFINITY},
                                         {NAN},
                                         {-NAN, 1},
                                         {NAN, INFINITY},
                                         {std::numeric_limits<float>::signaling_NaN(), -INFINITY}})
        EXPECT_EQ(bits_of(sum_in_many_ways(values)), 0x7fffffffu) << "one NaN, the same for all";
}

TEST(Lesson23SumReproducible, is_mpfrs_for_random_bits) {
    std::mt19937 random(23);
    for (int round = 0; round < 40; ++round) {
        std::vector<float> values(1 + random() % 300);
        Exact exact;
        const std::uint32_t exponents = 1 + random() % 255; // fewer of them in some rounds
        for (float& value : values) {
            const std::uint32_t exponent = random() % exponents;
            value = float_of(static_cast<std::uint32_t>(random() & 0x807fffff) | exponent << 23);
            exact.add(value);
        }
        EXPECT_EQ(bits_of(sum_in_many_ways(values)), bits_of(exact.rounded())) << round;
    }
}

// ---- exact_sum() ----

std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float rounded_to(float, const Exact& sum) { return sum.rounded(); }
double rounded_to(double, const Exact& sum) { return sum.rounded_to_double(); }

/// Finite numbers of all exponents, or of the lowest ones.
template <class Real> std::vector<Real> random_numbers(std::uint64_t seed, std::size_t n) {
    constexpr unsigned int mantissa = sizeof(Real) == 4 ? 23 : 52, exponents = sizeof(Real) == 4 ? 255 : 2047;
    std::mt19937_64 random(seed);
    const std::uint64_t used = 1 + random() % exponents;
    std::vector<Real> values(n);
    for (Real& value : values) {
        const std::uint64_t sign = random() & 1, fraction = random() & ((1ull << mantissa) - 1);
        const std::uint64_t bits = sign << (8 * sizeof(Real) - 1) | random() % used << mantissa | fraction;
        std::memcpy(&value, &bits, sizeof value);
    }
    return values;
}

template <class Real> Real exact_on_host(const Real* values, std::size_t n) {
    Exact sum;
    for (std::size_t i = 0; i < n; ++i) sum.add(values[i]);
    return rounded_to(Real{}, sum);
}

template <class Real> class ExactSumOf {
public:
    explicit ExactSumOf(const std::vector<Real>& values) : values_(values), input_(on_device(values)) {}

    /// The header's choice, with a workspace that holds anything, and again with the zeros that it left.
    void expect(std::size_t n, std::size_t offset) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", offset " << offset);
        std::size_t bytes = 0;
        ASSERT_EQ(take_home::exact_sum(nullptr, bytes, input_.data(), result_.data(), n), cudaSuccess);
        DeviceBuffer<unsigned char> workspace(bytes);
        workspace.poison();
        const Real expected = exact_on_host(values_.data() + offset, n);
        for (const bool is_zero : {false, true}) {
            result_.poison();
            ASSERT_EQ(take_home::exact_sum(workspace.data(), bytes, input_.data() + offset, result_.data(), n,
                                           nullptr, is_zero),
                      cudaSuccess);
            EXPECT_EQ(bits_of(result_.read().front()), bits_of(expected));
        }
        --bytes;
        EXPECT_EQ(take_home::exact_sum(workspace.data(), bytes, input_.data(), result_.data(), n),
                  cudaErrorInvalidValue);
    }

    template <class Kernels> void expect_in_every_grid(const Kernels& kernels) {
        const Real expected = exact_on_host(values_.data(), values_.size());
        for (const auto by : kernels)
            for (const unsigned int grid : {1u, 2u, 7u, 40u})
                EXPECT_EQ(bits_of(by(input_.data(), values_.size(), grid)), bits_of(expected)) << grid;
    }

private:
    std::vector<Real> values_;
    DeviceBuffer<Real> input_;
    DeviceBuffer<Real> result_{1};
};

TEST(Lesson23ExactSum, is_mpfrs_at_every_size_and_offset) {
    ExactSumOf<float> of_floats(random_numbers<float>(1, 70'000));
    ExactSumOf<double> of_doubles(random_numbers<double>(2, 70'000));
    // Around a vector, a line, and where there is a second block: 8,192 doubles, 16,384 floats.
    for (const std::size_t n :
         {0, 1, 2, 3, 4, 5, 31, 32, 33, 1000, 8191, 8192, 8193, 16'384, 16'385, 65'537}) {
        for (const std::size_t offset : {0, 1, 2, 3}) {
            if (n > 5000 && offset != n % 4) continue;
            of_floats.expect(n, offset);
            of_doubles.expect(n, offset);
        }
    }
}

TEST(Lesson23ExactSum, has_the_same_bits_in_every_grid) {
    ExactSumOf<float>(random_numbers<float>(3, 20'003)).expect_in_every_grid(float_kernels);
    ExactSumOf<float>(float_elements({.cancel = true}, 42, 20'003)).expect_in_every_grid(float_kernels);
    ExactSumOf<double>(random_numbers<double>(4, 20'003)).expect_in_every_grid(double_kernels);
}

double sum_of_doubles(const std::vector<double>& values) {
    const DeviceBuffer<double> input = on_device(values);
    const double sum = double_kernels[0](input.data(), values.size(), 1);
    EXPECT_EQ(bits_of(double_kernels[1](input.data(), values.size(), 2)), bits_of(sum));
    return sum;
}

TEST(Lesson23ExactSum, of_doubles_rounds_to_the_nearest_and_then_to_the_even_one) {
    constexpr double tiny = 0x1p-1074, most = std::numeric_limits<double>::max();
    const std::pair<std::vector<double>, double> cases[] = {
        {{0x1p53, 1}, 0x1p53},
        {{0x1p53, 3}, 0x1p53 + 4},
        {{0x1p53, 1, tiny}, 0x1p53 + 2},
        {{0x1p53, 3, -tiny}, 0x1p53 + 2},
        {{0x1.fffffffffffffp0, 0x1p-53}, 2},
        {{tiny, tiny}, 2 * tiny},
        {{0x1.ffffffffffffep-1023, tiny}, 0x1p-1022}, // subnormal to normal
        {{0x1p-1022, -tiny}, 0x1.ffffffffffffep-1023},
        {{0x1p-1021, tiny}, 0x1p-1021},
        {{0x1p1023, tiny, -0x1p1023}, tiny},
        {{most, most, -most}, most},
        {{most, 0x1p970}, INFINITY},
        {{most, 0x1p970, -tiny}, most},
        {{most, most, most}, INFINITY},
    };
    for (const auto& [values, expected] : cases) {
        EXPECT_EQ(bits_of(sum_of_doubles(values)), bits_of(expected)) << expected;
        std::vector<double> negative = values;
        for (double& value : negative) value = -value;
        EXPECT_EQ(bits_of(sum_of_doubles(negative)), bits_of(-expected)) << -expected;
    }
    // A tie, but for a bit in one of the digits below.
    for (int exponent = -1074; exponent < 960; exponent += 52) {
        const double rest = std::ldexp(1.0, exponent);
        EXPECT_EQ(sum_of_doubles({0x1p1023, 0x1p970, rest}), 0x1p1023 + 0x1p971) << exponent;
        EXPECT_EQ(sum_of_doubles({0x1p1023, 0x1p970, -rest}), 0x1p1023) << exponent;
    }
    for (const auto& values : std::vector<std::vector<double>>{{0}, {-0.0, -0.0}, {1, -1}})
        EXPECT_EQ(bits_of(sum_of_doubles(values)), 0u);
    EXPECT_EQ(sum_of_doubles({1, INFINITY, -most, INFINITY}), INFINITY);
    EXPECT_EQ(sum_of_doubles({1, -INFINITY, most}), -INFINITY);
    for (const auto& values :
         std::vector<std::vector<double>>{{INFINITY, -INFINITY}, {-NAN}, {NAN, INFINITY}})
        EXPECT_EQ(bits_of(sum_of_doubles(values)), 0x7fffffffffffffffu) << "one NaN, the same for all";
}

// One element at a time, with the lowest or the highest exponent of a bin.
TEST(Lesson23ExactSum, of_one_number_is_that_number) {
    for (int k = 0; k < 40; ++k) {
        for (const int exponent : {52 * k - 1, 52 * k}) { // as it is stored: 1 stands for 2^-1022
            const double value = std::ldexp(-0x1.fffffffffffffp0, exponent - 1023);
            EXPECT_EQ(bits_of(sum_of_doubles({value})), bits_of(value)) << exponent;
        }
    }
    for (int exponent = 15; exponent < 255; exponent += 16) {
        for (const float value :
             {std::ldexp(-0x1.fffffep0f, exponent - 127), std::ldexp(1.0f, exponent - 126)})
            EXPECT_EQ(sum_in_many_ways({value}), value) << exponent;
    }
}

TEST(Lesson23ExactSum, of_doubles_is_mpfrs_for_random_bits) {
    for (std::uint64_t seed = 10; seed < 50; ++seed) {
        const std::vector<double> values = random_numbers<double>(seed, 1 + seed * 7 % 300);
        EXPECT_EQ(bits_of(sum_of_doubles(values)), bits_of(exact_on_host(values.data(), values.size())))
            << seed;
    }
}

// Each thread has as many vectors as it may, and each element is the largest or the smallest that its bin takes.
TEST(Lesson23ExactSum, fills_no_bin_too_much) {
    using take_home::exact::max_vectors;
    for (const bool mixed : {false, true}) {
        std::vector<float> floats(max_vectors * 4 * 32,
                                  0x1.fffffep-96f); // exponent 31: the highest of bin 1
        std::vector<double> doubles(max_vectors * 2 * 128,
                                    -0x1.fffffffffffffp-972); // 51: the highest of bin 0
        if (mixed) {                                          // and one unit
            for (std::size_t i = 0; i < floats.size(); i += 3) floats[i] = -0x1p-134f;
            for (std::size_t i = 0; i < doubles.size(); i += 3) doubles[i] = 0x1p-1074;
        }
        EXPECT_EQ(bits_of(exact_sum_by<float, 32, 1, 1>(on_device(floats).data(), floats.size(), 1)),
                  bits_of(exact_on_host(floats.data(), floats.size())));
        EXPECT_EQ(bits_of(double_kernels[1](on_device(doubles).data(), doubles.size(), 1)),
                  bits_of(exact_on_host(doubles.data(), doubles.size())));
    }
}

TEST(Lesson23ExactSum, gives_no_thread_more_vectors_than_its_bins_hold) {
    using take_home::exact::blocks_for, take_home::exact::max_vectors;
    for (const unsigned int block : {128u, 512u, 1024u}) {
        for (const std::size_t vectors : {std::size_t{0}, std::size_t{1}, max_vectors * 132 * block,
                                          max_vectors * 132 * block + 1, std::size_t{1} << 38}) {
            const unsigned int grid = blocks_for(vectors, block, 132, 4);
            EXPECT_GE(grid, 1u);
            EXPECT_GE(std::size_t{grid} * block * max_vectors, vectors);
            EXPECT_EQ(vectors < (1u << 20) ? 0 : grid % 132, 0u) << "whole rounds";
        }
    }
}

// ---- how much the words of sum_reproducible hold ----

// A thread may add 2^31 elements: each adds less than 2^32 to a word. 2^31 threads then add less than 2^32
// each to a word in global memory. Neither is more than this.
constexpr long long full = (1ll << 31) * ((1ll << 32) - 1);

__global__ void carry_once(long long* word) { carry(word, 1, words); }

TEST(Lesson23SumReproducible, carries_words_that_are_full) {
    for (const long long value : {full, -full}) {
        std::vector<long long> before(words, value);
        before.back() = value / 1024; // so that 1024 threads are not too much
        DeviceBuffer<long long> word = on_device(before);
        carry_once<<<1, 1>>>(word.data());
        check_launch("carry_once");
        const std::vector<long long> after = word.read();
        Exact expected, actual;
        for (unsigned int k = 0; k < words; ++k) {
            expected.add_units(before[k], static_cast<int>(32 * k) - 149);
            actual.add_units(-after[k], static_cast<int>(32 * k) - 149);
            if (k + 1 < words) {
                EXPECT_GE(after[k], 0);
                EXPECT_LT(after[k], 1ll << 32);
            }
        }
        EXPECT_EQ(expected.minus(0), -actual.minus(0));
    }
}

TEST(Lesson23SumReproducible, rounds_words_that_are_full) {
    std::mt19937_64 random(5);
    DeviceBuffer<float> result(1);
    for (int round = 0; round < 200; ++round) {
        ExactSum sum{};
        Exact exact;
        const unsigned int used = 1 + random() % words;
        for (unsigned int k = 0; k < used; ++k) {
            long long value = static_cast<long long>(random()) >> random() % 64;
            value = std::clamp(value, -full, full);
            if (round < 2) value = round == 0 ? full : -full;
            sum.word[k] = static_cast<unsigned long long>(value);
            exact.add_units(value, static_cast<int>(32 * k) - 149);
        }
        const DeviceBuffer<ExactSum> on = on_device(std::vector<ExactSum>{sum});
        round_sum<<<1, 1>>>(on.data(), result.data());
        check_launch("round_sum");
        EXPECT_EQ(bits_of(result.read().front()), bits_of(exact.rounded())) << round;
    }
}

// ---- what the lesson compares with ----

TEST(Lesson23HostSum, is_mpfrs) {
    std::mt19937 random(3);
    for (int round = 0; round < 60; ++round) {
        const FloatKind kind = kinds[round % 4];
        const std::vector<float> values = float_elements(kind, random(), 1 + random() % 3000);
        const HostSum sum = sum_on_host(values);
        const Sums exact(values);
        EXPECT_EQ(bits_of(sum.rounded()), bits_of(exact.sum.rounded()));
        EXPECT_NEAR(sum.magnitude() / exact.magnitude, 1, 1e-12); // MPFR was not asked for this one
        for (const float value : {0.0f, sum.rounded(), 1e9f * static_cast<float>(round), smallest})
            EXPECT_DOUBLE_EQ(sum.minus(value), exact.sum.minus(value));
    }
    EXPECT_EQ(sum_on_host({0x1p24f, 1}).rounded(), 0x1p24f) << "a tie";
    EXPECT_EQ(sum_on_host({0x1p24f, 3}).rounded(), 0x1p24f + 4);
    EXPECT_EQ(sum_on_host({0x1p24f, 1, smallest}).rounded(), 0x1p24f + 2) << "no tie, but a double of it is";
    EXPECT_EQ(sum_on_host({-0x1p24f, -3, smallest}).rounded(), -0x1p24f - 2);
}

TEST(Lesson23FloatElements, cancel_but_for_a_rest) {
    const std::vector<float> values = float_elements({.cancel = true}, 42, 100'001);
    const Sums exact(values);
    EXPECT_GT(exact.magnitude / std::abs(exact.sum.minus(0)), 1e10) << "the condition number";
    for (std::size_t i = 0; i < values.size() / 2; ++i) {
        const double rest = double{values[i]} + values[values.size() - 1 - i];
        EXPECT_GE(rest, 0) << i;
        EXPECT_LE(rest, 1) << i;
    }
}

} // namespace lesson23_kernels
