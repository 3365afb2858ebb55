// A block leaves a value and sets a flag, another one waits for the flag and reads the value. Correct is
// mutant 0 only: each other one lacks a fence, or has one that is too narrow, as is the atomic of mutant 3.
// options: --global-races
#include "mutants.hpp"

namespace mutants_of_a_message {

using mutants::fence;

template <int mutant> __global__ void pass_a_message(int* memory) {
    int *const value = memory, *const flag = memory + 32, *const out = memory + 8;
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *value = 42;
        fence<mutant, 1>();
        if (mutant == 3)
            atomicExch_block(flag, 1);
        else
            atomicExch(flag, 1);
    } else {
        while (*static_cast<volatile int*>(flag) == 0) {
        }
        fence<mutant, 2>();
        *out = *value; // expect 5: race, read after write
    }
}

} // namespace mutants_of_a_message

int main() {
    using namespace mutants_of_a_message;
    return mutants::run(2, 32, 8,
                        {
                            {"correct", pass_a_message<0>},
                            {"mutant 1", pass_a_message<1>},
                            {"mutant -1", pass_a_message<-1>},
                            {"mutant 2", pass_a_message<2>},
                            {"mutant -2", pass_a_message<-2>},
                            {"mutant 3", pass_a_message<3>},
                        });
}
