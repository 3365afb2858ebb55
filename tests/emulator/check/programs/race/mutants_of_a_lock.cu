// A lock of all blocks; mutants as in mutants_of_a_message.cu, and 4: the atomic that takes the lock is
// narrow.
//
// options: --global-races
#include "mutants.hpp"

namespace mutants_of_a_lock {

using mutants::fence;

template <int mutant> __global__ void take_and_give_back(int* memory) {
    int *const sum = memory, *const lock = memory + 32;
    if (threadIdx.x != 0) return;
    while (true) {
        int before = 0;
        if (mutant == 4)
            before = atomicCAS_block(lock, 0, 1); // expect: race, atomic after atomic
        else
            before = atomicCAS(lock, 0, 1); // expect: race, atomic after atomic
        if (before == 0) break;
    }
    fence<mutant, 1>();
    const int so_far = *sum;                          // expect 6: race, read after write
    *sum = so_far + static_cast<int>(blockIdx.x) + 1; // expect 6: race, write after write
    fence<mutant, 2>();
    if (mutant == 3)
        atomicExch_block(lock, 0); // expect: race, atomic after atomic
    else
        atomicExch(lock, 0);
}

} // namespace mutants_of_a_lock

int main() {
    using namespace mutants_of_a_lock;
    return mutants::run(4, 32, 0,
                        {
                            {"correct", take_and_give_back<0>},
                            {"mutant 1", take_and_give_back<1>},
                            {"mutant -1", take_and_give_back<-1>},
                            {"mutant 2", take_and_give_back<2>},
                            {"mutant -2", take_and_give_back<-2>},
                            {"mutant 3", take_and_give_back<3>},
                            {"mutant 4", take_and_give_back<4>},
                        });
}
