// Thrust's sort: CUB's radix sort, in which blocks look back at what others counted.

#include "program.hpp"

#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

int main() {
    auto input = random_values<int>(20'011, -1'000'000, 1'000'000);
    thrust::device_vector<int> values(input.begin(), input.end());
    thrust::sort(values.begin(), values.end());
    std::vector<int> sorted(input.size());
    thrust::copy(values.begin(), values.end(), sorted.begin());
    std::sort(input.begin(), input.end());
    return verify(sorted, input);
}
