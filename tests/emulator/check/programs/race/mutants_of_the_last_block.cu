// The last block to finish adds up what all have left, as in lesson 09; mutants as in
// mutants_of_a_message.cu.
//
// options: --global-races
#include "mutants.hpp"

namespace mutants_of_the_last_block {

using mutants::fence;

template <int mutant> __global__ void add_in_the_last_block(int* memory) {
    int *const parts = memory, *const done = memory + 32, *const total = memory + 40;
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = static_cast<int>(blockIdx.x);
        fence<mutant, 1>();
        int before = 0;
        if (mutant == 3)
            before = atomicAdd_block(done, 1); // expect: race, atomic after atomic
        else
            before = atomicAdd(done, 1);
        is_last = before == static_cast<int>(gridDim.x) - 1;
        fence<mutant, 2>();
    }
    __syncthreads();
    if (!is_last) return;
    const unsigned int from = 2 * (threadIdx.x / 32); // the second warp has no part in the atomic
    int sum = parts[from] + parts[from + 1];          // expect 5: race, read after write
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

} // namespace mutants_of_the_last_block

int main() {
    using namespace mutants_of_the_last_block;
    return mutants::run(4, 64, 40,
                        {
                            {"correct", add_in_the_last_block<0>},
                            {"mutant 1", add_in_the_last_block<1>},
                            {"mutant -1", add_in_the_last_block<-1>},
                            {"mutant 2", add_in_the_last_block<2>},
                            {"mutant -2", add_in_the_last_block<-2>},
                            {"mutant 3", add_in_the_last_block<3>},
                        });
}
