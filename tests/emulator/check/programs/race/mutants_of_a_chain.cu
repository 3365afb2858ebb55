// Each block waits for the one before it, adds to its prefix, and hands on; mutants as in
// mutants_of_a_message.cu.
// options: --global-races
#include "mutants.hpp"

namespace mutants_of_a_chain {

using mutants::fence;

template <int mutant> __global__ void look_back(int* memory) {
    int* const prefixes = memory;
    volatile int* const flags = memory + 32;
    if (threadIdx.x != 0) return;
    int prefix = 1;
    if (blockIdx.x > 0) {
        while (flags[blockIdx.x - 1] == 0) {
        }
        fence<mutant, 1>();
        prefix += prefixes[blockIdx.x - 1]; // expect 4: race, read after write
    }
    prefixes[blockIdx.x] = prefix;
    fence<mutant, 2>();
    flags[blockIdx.x] = 1;
}

} // namespace mutants_of_a_chain

int main() {
    using namespace mutants_of_a_chain;
    return mutants::run(4, 32, 3,
                        {
                            {"correct", look_back<0>},
                            {"mutant 1", look_back<1>},
                            {"mutant -1", look_back<-1>},
                            {"mutant 2", look_back<2>},
                            {"mutant -2", look_back<-2>},
                        });
}
