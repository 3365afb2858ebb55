// Thrust's sorts: CUB's radix sort, in which blocks look back at what others counted; and with a custom order
// its merge sort, which reads one key past each run that it merges.

#include "program.hpp"

#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

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
