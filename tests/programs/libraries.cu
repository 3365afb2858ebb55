#include "program.hpp"

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

// CUB's sum over the device: by one block, and by many.
namespace cub_device_reduce {

int verify_sum(int count) {
    const auto input = random_values<int>(static_cast<std::size_t>(count), -1'000, 1'000);
    const Device<int> device_input(input), sum(1);
    std::size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, device_input.data(), sum.data(), count));
    const Device<char> workspace(bytes);
    CHECK(cub::DeviceReduce::Sum(workspace.data(), bytes, device_input.data(), sum.data(), count));
    return verify(sum.copy_back(), {std::accumulate(input.begin(), input.end(), 0)});
}

int main() {
    for (const int count : {1'000, 10'007, 100'003})
        if (verify_sum(count) != 0) return 1;
    return 0;
}

} // namespace cub_device_reduce

// CUB's scans over the device: one launch, in which a block looks back at the sums of those before it. With
// one tile, with two, and with many.
namespace cub_device_scan {

int verify_scans(int count) {
    const auto input = random_values<int>(static_cast<std::size_t>(count), -1'000, 1'000);
    const Device<int> device_input(input), output(input.size());
    std::size_t bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, device_input.data(), output.data(), count));
    const Device<char> workspace(bytes);
    CHECK(cub::DeviceScan::InclusiveSum(workspace.data(), bytes, device_input.data(), output.data(), count));
    std::vector<int> expected(input.size());
    std::partial_sum(input.begin(), input.end(), expected.begin());
    if (verify(output.copy_back(), expected) != 0) return 1;

    std::size_t exclusive_bytes = 0;
    CHECK(cub::DeviceScan::ExclusiveSum(nullptr, exclusive_bytes, device_input.data(), output.data(), count));
    const Device<char> exclusive_workspace(exclusive_bytes);
    CHECK(cub::DeviceScan::ExclusiveSum(exclusive_workspace.data(), exclusive_bytes, device_input.data(),
                                        output.data(), count));
    expected.insert(expected.begin(), 0);
    expected.pop_back();
    return verify(output.copy_back(), expected);
}

int main() {
    for (const int count : {1'000, 10'007, 100'003})
        if (verify_scans(count) != 0) return 1;
    return 0;
}

} // namespace cub_device_scan

// Thrust's reduce and transform_reduce.
namespace thrust_reduce {

struct Square {
    __host__ __device__ int operator()(int value) const { return value * value; }
};

int main() {
    const auto input = random_values<int>(30'011, -200, 200);
    const thrust::device_vector<int> values(input.begin(), input.end());
    const int sum = thrust::reduce(values.begin(), values.end());
    const int squares =
        thrust::transform_reduce(values.begin(), values.end(), Square(), 0, thrust::plus<int>());
    return verify<int>({sum, squares}, {std::accumulate(input.begin(), input.end(), 0),
                                        std::inner_product(input.begin(), input.end(), input.begin(), 0)});
}

} // namespace thrust_reduce

// Thrust's sorts: CUB's radix sort, in which blocks look back at what others counted; and with a custom order
// its merge sort, which reads one key past each run that it merges.
namespace thrust_sort {

struct Point {
    int x, y;
    float measured[30]; // the compiler gives loads of large keys to other lines than those of small ones

    bool operator==(const Point& other) const { return x == other.x && y == other.y; }
    explicit operator double() const { return x; }
};

struct FartherLeft {
    __host__ __device__ bool operator()(const Point& a, const Point& b) const { return a.x < b.x; }
};

template <class T> std::vector<T> copy_back(const thrust::device_vector<T>& values) {
    std::vector<T> result(values.size());
    thrust::copy(values.begin(), values.end(), result.begin());
    return result;
}

int main() {
    auto input = random_values<int>(20'011, -1'000'000, 1'000'000);
    thrust::device_vector<int> values(input.begin(), input.end());
    thrust::sort(values.begin(), values.end());

    std::vector<Point> points; // some with the same x
    for (int i = 0; i < 5'003; ++i) points.push_back({input[i] / 1'000, i, {}});
    thrust::device_vector<Point> sorted_points(points.begin(), points.end());
    thrust::stable_sort(sorted_points.begin(), sorted_points.end(), FartherLeft());

    std::sort(input.begin(), input.end());
    std::stable_sort(points.begin(), points.end(), FartherLeft());
    return verify(copy_back(values), input) + verify(copy_back(sorted_points), points);
}

} // namespace thrust_sort
