// reduce() beside cub::DeviceReduce: five types, three operations, 2^8 to 2^30 elements. `rows`: reduce_rows() beside
// cub::DeviceSegmentedReduce. `meetings`: reduce() beside the same blocks that meet in other ways.
//
//     ahead_reduce [rows|meetings] [--runs R] [--largest EXPONENT]

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../../lessons/lesson22_any_type_and_operation/given.cuh"
#include "../../lessons/lesson33_any_reduction/reduce.cuh"
#include "ahead.hpp"
#include "harness/device_buffer.hpp"

namespace {

using harness::DeviceBuffer;

/// An element before it is scaled to its type: from -1000 to 1000.
__host__ __device__ int number_at(std::size_t i) {
    unsigned long long hash = (i + 1) * 0x9E3779B97F4A7C15ull;
    hash = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull;
    return static_cast<int>((hash ^ hash >> 32) % 2001) - 1000;
}

/// Integers use all their bits. Of the others each sum is exact in float while it is below 2^14.
template <class T> __host__ __device__ T scaled(long long number) {
    if constexpr (std::is_same_v<T, long long>) return number * ((1ll << 40) + 1);
    if constexpr (std::is_integral_v<T>) return static_cast<T>(number);
    return static_cast<T>(static_cast<double>(number) / 1024);
}

/// What the reductions are compared with: the obvious loop.
struct Expected {
    long long sum;
    int least;
    unsigned long long
        most; ///< the number + 1000, and below it how far its index is from the largest 32-bit one
};

__global__ void reduce_numbers(Expected* expected, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    Expected own{0, 1000, 0};
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
        const int number = number_at(i);
        own.sum += number;
        own.least = min(own.least, number);
        own.most = max(own.most, static_cast<unsigned long long>(number + 1000) << 32 | (0xffffffff - i));
    }
    atomicAdd(reinterpret_cast<unsigned long long*>(&expected->sum),
              static_cast<unsigned long long>(own.sum));
    atomicMin(&expected->least, own.least);
    atomicMax(&expected->most, own.most);
}

Expected expected_of(std::size_t n) {
    DeviceBuffer<Expected> expected(1);
    expected.write(std::array{Expected{0, 1000, 0}});
    reduce_numbers<<<256, 256>>>(expected.data(), n);
    harness::check_launch("reduce_numbers");
    return expected.read().front();
}

template <class T> __global__ void fill(T* elements, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
        elements[i] = scaled<T>(number_at(i));
}

template <class T> constexpr bool is_half = std::is_same_v<T, __half>;
/// What ours accumulates in.
template <class T> using Accumulated = std::conditional_t<is_half<T>, float, T>;

template <class T> bool is_within(T actual, double expected, double bound) {
    if constexpr (std::is_integral_v<T>) return actual == static_cast<T>(expected);
    return std::abs(static_cast<double>(actual) - expected) <= bound;
}

/// A call of a library in CUB's manner: once for the bytes of its workspace, and then again and again.
template <class Call>
std::function<void()> with_workspace(DeviceBuffer<unsigned char>& workspace, Call call) {
    std::size_t bytes = 0;
    HARNESS_CHECK(call(nullptr, bytes));
    workspace = DeviceBuffer<unsigned char>(bytes);
    workspace.poison();
    return [&workspace, call] {
        std::size_t bytes = workspace.bytes();
        HARNESS_CHECK(call(workspace.data(), bytes));
    };
}

template <class Op, class T>
std::function<void()> ours(DeviceBuffer<unsigned char>& workspace, const T* input, typename Op::Value* result,
                           std::size_t rows, std::size_t columns) {
    return with_workspace(workspace, [=](void* memory, std::size_t& bytes) {
        return take_home::reduce_rows<Op>(memory, bytes, input, result, rows, columns);
    });
}

template <class T> class Races {
public:
    Races(ahead::Table& table, const std::string& type, std::size_t most)
        : table_(table), type_(type), input_(most) {
        fill<<<1024, 256>>>(input_.data(), most);
        harness::check_launch("fill");
    }

    void run(std::size_t n) {
        const Expected expected = expected_of(n);
        sum(n, expected);
        least(n, expected);
        argmax(n, expected);
    }

private:
    using A = Accumulated<T>;

    /// Both store one number.
    template <class Op, class R, class Rival, class IsRight, class RivalIsRight>
    void race(const std::string& operation, std::size_t n, const std::string& name, Rival rival,
              IsRight is_right, RivalIsRight rival_is_right) {
        DeviceBuffer<typename Op::Value> result(1);
        DeviceBuffer<R> rivals(1);
        DeviceBuffer<unsigned char> workspace(1), rivals_workspace(1);
        const auto theirs = with_workspace(rivals_workspace, [&, n](void* memory, std::size_t& bytes) {
            return rival(memory, bytes, rivals.data(), static_cast<int>(n));
        });
        table_.compare(
            type_ + " " + operation, n,
            {"reduce", ours<Op>(workspace, input_.data(), result.data(), 1, n), [&] { result.poison(); },
             [&] { return is_right(result.read().front()); }},
            {name, theirs, [&] { rivals.poison(); }, [&] { return rival_is_right(rivals.read().front()); }});
    }

    void sum(std::size_t n, const Expected& expected) {
        const auto within = [=](double bound) {
            return [=](auto actual) {
                if constexpr (std::is_integral_v<T>)
                    return actual ==
                           static_cast<T>(static_cast<unsigned long long>(scaled<T>(1)) * expected.sum);
                return std::abs(static_cast<double>(actual) - static_cast<double>(expected.sum) / 1024) <=
                       bound;
            };
        };
        const double bound = 1; // Floats round beyond 2^14. CUB sums halves in half, which rounds each sum.
        const auto cub_sum = [this](void* memory, std::size_t& bytes, T* out, int count) {
            return cub::DeviceReduce::Sum(memory, bytes, input_.data(), out, count);
        };
        race<take_home::Sum<A>, T>("sum", n, "cub::DeviceReduce::Sum", cub_sum, within(bound),
                                   within(is_half<T> ? static_cast<double>(n) / 2048 + 1 : bound));
        if constexpr (is_half<T>) {
            const auto in_float = [this](void* memory, std::size_t& bytes, float* out, int count) {
                return cub::DeviceReduce::Reduce(memory, bytes, input_.data(), out, count,
                                                 cuda::std::plus<float>(), 0.0f);
            };
            race<take_home::Sum<A>, float>("sum in float", n, "cub::DeviceReduce::Reduce", in_float,
                                           within(bound), within(bound));
        }
    }

    void least(std::size_t n, const Expected& expected) {
        const auto is_right = [=](auto actual) {
            return actual == static_cast<decltype(actual)>(scaled<T>(expected.least));
        };
        const auto cub_min = [this](void* memory, std::size_t& bytes, T* out, int count) {
            return cub::DeviceReduce::Min(memory, bytes, input_.data(), out, count);
        };
        race<take_home::Min<A>, T>("min", n, "cub::DeviceReduce::Min", cub_min, is_right, is_right);
    }

    struct RivalsMost {
        T value;
        long long index;
    };

    void argmax(std::size_t n, const Expected& expected) {
        const auto index = static_cast<long long>(0xffffffff - (expected.most & 0xffffffff));
        const T value = scaled<T>(static_cast<int>(expected.most >> 32) - 1000);
        const auto is_right = [=](auto actual) {
            return static_cast<A>(actual.value) == static_cast<A>(value) && actual.index == index;
        };
        const auto cub_argmax = [this](void* memory, std::size_t& bytes, RivalsMost* out, int count) {
            return cub::DeviceReduce::ArgMax(memory, bytes, input_.data(), &out->value, &out->index,
                                             static_cast<long long>(count));
        };
        race<take_home::ArgMax<A>, RivalsMost>("argmax", n, "cub::DeviceReduce::ArgMax", cub_argmax, is_right,
                                               is_right);
    }

    ahead::Table& table_;
    std::string type_;
    DeviceBuffer<T> input_;
};

template <class T> void race(ahead::Table& table, const std::string& type, int largest) {
    Races<T> races(table, type, std::size_t{1} << largest);
    for (int exponent = 8; exponent <= largest; ++exponent) races.run(std::size_t{1} << exponent);
}

/// The sum of each row's numbers: the obvious loop once more, a block per row.
__global__ void sum_rows_of_numbers(unsigned long long* sums, std::size_t columns) {
    long long own = 0;
    for (std::size_t i = threadIdx.x; i < columns; i += blockDim.x)
        own += number_at(blockIdx.x * columns + i);
    atomicAdd(&sums[blockIdx.x], static_cast<unsigned long long>(own));
}

/// Where row `row` begins, for cub::DeviceSegmentedReduce.
struct FirstOfRow {
    long long columns;
    __host__ __device__ long long operator()(long long row) const { return row * columns; }
};

/// Matrices of 2^largest floats, or a few less. All sums of rows are exact in float.
void race_rows(ahead::Table& table, int largest) {
    const std::size_t most = std::size_t{1} << largest;
    DeviceBuffer<float> input(most);
    fill<<<1024, 256>>>(input.data(), most);
    for (const std::size_t columns : {1, 4, 32, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000}) {
        const std::size_t rows = most / columns;
        if (rows == 0) break;
        DeviceBuffer<unsigned long long> expected(rows);
        HARNESS_CHECK(cudaMemset(expected.data(), 0, expected.bytes()));
        sum_rows_of_numbers<<<static_cast<unsigned int>(rows), 128>>>(expected.data(), columns);
        harness::check_launch("sum_rows_of_numbers");
        const auto sums = expected.read();

        DeviceBuffer<float> result(rows), rivals(rows);
        DeviceBuffer<unsigned char> workspace(1), rivals_workspace(1);
        const auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll),
                                                           FirstOfRow{static_cast<long long>(columns)});
        const auto theirs = with_workspace(rivals_workspace, [&](void* memory, std::size_t& bytes) {
            return cub::DeviceSegmentedReduce::Sum(memory, bytes, input.data(), rivals.data(),
                                                   static_cast<long long>(rows), begin, begin + 1);
        });
        const auto is_right = [&](const DeviceBuffer<float>& actual) {
            const auto same = [](unsigned long long sum, float value) {
                return static_cast<double>(static_cast<long long>(sum)) / 1024 == static_cast<double>(value);
            };
            const auto values = actual.read();
            return std::equal(sums.begin(), sums.end(), values.begin(), same);
        };
        table.compare("float sum of " + std::to_string(rows) + " rows", rows * columns,
                      {"reduce_rows",
                       ours<take_home::Sum<float>>(workspace, input.data(), result.data(), rows, columns),
                       [&] { result.poison(); }, [&] { return is_right(result); }},
                      {"cub::DeviceSegmentedReduce::Sum", theirs, [&] { rivals.poison(); },
                       [&] { return is_right(rivals); }});
    }
}

/// The blocks of two launches meet in other ways: as many blocks, each with the same loads.
void race_meetings(ahead::Table& table, int largest) {
    using Op = take_home::Sum<float>;
    using namespace take_home::reduce_detail;
    DeviceBuffer<float> input(std::size_t{1} << largest), result(1), values(resident_blocks);
    DeviceBuffer<unsigned int> counter(1);
    fill<<<1024, 256>>>(input.data(), input.size());
    HARNESS_CHECK(cudaMemset(counter.data(), 0, counter.bytes()));
    for (int exponent = 18; exponent <= largest; exponent += 2) {
        const std::size_t n = std::size_t{1} << exponent;
        const unsigned int blocks = take_home::choose_reduce(1, n, sizeof(float)).blocks;
        const double expected = static_cast<double>(expected_of(n).sum) / 1024;
        const auto poison = [&] { result.poison(); };
        const auto is_right = [&] { return is_within(result.read().front(), expected, 1); };
        DeviceBuffer<unsigned char> workspace(1);
        const ahead::Contender reduce{"reduce", ours<Op>(workspace, input.data(), result.data(), 1, n),
                                      poison, is_right};
        const auto ordinary = [&] {
            HARNESS_CHECK(launch(blocks_per_row<Op, 1024, 1, 4, unsigned int, float>, 1, blocks, 512, nullptr,
                                 nullptr, input.data(), values.data(), n));
            HARNESS_CHECK(launch(block_per_short_row<Again<Op>, 8, float>, 1, 1,
                                 power_of_two((blocks + 1) / 2, 32, 1024), nullptr, nullptr, values.data(),
                                 result.data(), blocks));
        };
        const auto counted = [&] {
            reduce_any<float, Sum<float>>
                <<<blocks, 512>>>(input.data(), result.data(), n, values.data(), counter.data());
        };
        const auto zeroed = [&] {
            HARNESS_CHECK(cudaMemsetAsync(counter.data(), 0, counter.bytes()));
            counted();
        };
        table.compare("float sum", n, reduce, {"an ordinary second launch", ordinary, poison, is_right});
        table.compare("float sum", n, reduce,
                      {"a counter that is zeroed each time", zeroed, poison, is_right});
        table.compare("float sum", n, reduce, {"a counter that was zeroed once", counted, poison, is_right});
    }
}

} // namespace

int main(int argc, char** argv) {
    int runs = 41, largest = 0;
    std::string what;
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], "--", 2) != 0)
            what = argv[i];
        else if (i + 1 < argc)
            (std::strcmp(argv[i], "--runs") == 0 ? runs : largest) = std::atoi(argv[i + 1]), ++i;
    }
    ahead::Table table(harness::choose_device(harness::DeviceChoice::automatic, argv), runs);
    if (what == "rows") return race_rows(table, largest > 0 ? largest : 24), 0;
    if (what == "meetings") return race_meetings(table, largest > 0 ? largest : 22), 0;
    if (largest == 0) largest = 30;
    race<int>(table, "int", largest);
    race<long long>(table, "long long", largest);
    race<float>(table, "float", largest);
    race<double>(table, "double", largest);
    race<__half>(table, "half", largest);
}
