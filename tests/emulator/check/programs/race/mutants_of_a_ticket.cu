// Blocks draw tickets and are served in their order; mutants as in mutants_of_a_message.cu, and 4: the atomic
// that draws is narrow.
//
// options: --global-races
#include "mutants.hpp"

namespace mutants_of_a_ticket {

using mutants::fence;

template <int mutant> __global__ void serve_in_turn(int* memory) {
    int *const sum = memory, *const tickets = memory + 32, *const serving = memory + 40;
    if (threadIdx.x != 0) return;
    int ticket = 0;
    if (mutant == 4)
        ticket = atomicAdd_block(tickets, 1); // expect: race, atomic after atomic
    else
        ticket = atomicAdd(tickets, 1);
    while (*static_cast<volatile int*>(serving) < ticket) { // mutant 4 may draw a ticket twice
    }
    fence<mutant, 1>();
    const int so_far = *sum;    // expect 5: race, read after write
    *sum = so_far + ticket + 1; // expect 5: race, write after write
    fence<mutant, 2>();
    if (mutant == 3)
        atomicAdd_block(serving, 1); // expect: race, atomic after atomic
    else
        atomicAdd(serving, 1);
}

} // namespace mutants_of_a_ticket

int main() {
    using namespace mutants_of_a_ticket;
    return mutants::run(4, 32, 0,
                        {
                            {"correct", serve_in_turn<0>},
                            {"mutant 1", serve_in_turn<1>},
                            {"mutant -1", serve_in_turn<-1>},
                            {"mutant 2", serve_in_turn<2>},
                            {"mutant -2", serve_in_turn<-2>},
                            {"mutant 3", serve_in_turn<3>},
                            {"mutant 4", serve_in_turn<4>},
                        });
}
