// Thrust's reduce and transform_reduce.

#include "program.hpp"

#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>

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
