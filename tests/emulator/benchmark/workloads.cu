#include "workloads.hpp"

#include "../../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../../../lessons/lesson01_strided_index/kernels.cuh"
#include "../../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../../lessons/lesson03_first_add_on_load/kernels.cuh"

#include "harness/reduction.hpp"

namespace {

template <auto kernel, unsigned int elements_per_thread>
void launch(const int* input, int* partial_sums, std::size_t n, unsigned int block) {
    const auto grid =
        static_cast<unsigned int>(harness::ceil_div(n, std::size_t{block} * elements_per_thread));
    kernel<<<grid, block, block * sizeof(int)>>>(input, partial_sums, n);
}

} // namespace

const std::vector<Workload>& workloads() {
    static const std::vector<Workload> all = {
        {"reduce0", &launch<reduce0, 1>, 1},
        {"reduce1", &launch<reduce1, 1>, 1},
        {"reduce2", &launch<reduce2, 1>, 1},
        {"reduce3", &launch<reduce3, 2>, 2},
    };
    return all;
}
