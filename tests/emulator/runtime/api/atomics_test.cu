// What an atomic costs: the sectors of one warp's, as Nsight Compute counted them on an NVIDIA H200 (driver
// 580.159.04, CUDA 13.0) on 2026-11-20. Where all lanes want one address, ptxas may have one of them do it
// for the warp; then it is one sector, else one for each lane.
#include "cuda_test.hpp"

#include <ostream>

namespace {

using Wide = unsigned long long;

// clang-format off
#define KERNEL(name, body) __global__ void name([[maybe_unused]] int* d, [[maybe_unused]] const int* in, \
                                                [[maybe_unused]] int* out, [[maybe_unused]] int n) { body }
KERNEL(and_, atomicAnd(d,(int)threadIdx.x);)
KERNEL(or_, atomicOr(d,(int)threadIdx.x);)
KERNEL(exclusive_or, atomicXor(d,(int)threadIdx.x);)
KERNEL(minimum, atomicMin(d,(int)threadIdx.x);)
KERNEL(unsigned_maximum, atomicMax((unsigned int*)d,threadIdx.x);)
KERNEL(subtract, atomicSub(d,(int)threadIdx.x);)
KERNEL(increment, atomicInc((unsigned int*)d,7u);)
KERNEL(exchange, atomicExch(d,(int)threadIdx.x);)
KERNEL(add_64_bits_of_one_value, atomicAdd((Wide*)d,5ull);)
KERNEL(add_64_bits_of_a_parameter, atomicAdd((Wide*)d,(Wide)n);)
KERNEL(add_floats, atomicAdd((float*)d,1.0f);)
KERNEL(maximum_of_64_bits, atomicMax((Wide*)d,5ull);)
KERNEL(at_the_blocks_index, atomicAdd(d+blockIdx.x,(int)threadIdx.x);)
KERNEL(at_a_loaded_index, atomicAdd(d+in[0],(int)threadIdx.x);)
KERNEL(at_a_parameter, atomicAdd(d+n,(int)threadIdx.x);)
KERNEL(in_a_loop, for(int i=0;i<n;++i) atomicAdd(d+i,(int)threadIdx.x);)
KERNEL(at_another_index_of_the_thread, atomicAdd(d+threadIdx.y,(int)threadIdx.x);)
KERNEL(at_an_address_that_a_parameter_chooses, int* p = n>3? d:out; atomicAdd(p,(int)threadIdx.x);)
KERNEL(at_an_address_that_the_thread_chooses, int* p = threadIdx.x>3? d:out; atomicAdd(p,(int)threadIdx.x);)
KERNEL(in_both_branches, if (threadIdx.x & 1) atomicAdd(d,(int)threadIdx.x); else atomicAdd(d+1, 3);)
KERNEL(at_the_warps_index, int k=threadIdx.x/32; atomicAdd(d+k, (int)threadIdx.x);)
KERNEL(at_a_broadcast_index, int v=__shfl_sync(~0u,(int)in[threadIdx.x],0); atomicAdd(d+v,(int)threadIdx.x);)
KERNEL(at_a_shuffled_index, atomicAdd(d+__shfl_sync(~0u,in[threadIdx.x],in[threadIdx.x]),(int)threadIdx.x);)
KERNEL(at_an_index_in_shared_memory, __shared__ int s[4]; if(threadIdx.x<4) s[threadIdx.x]=in[threadIdx.x]; __syncthreads(); atomicAdd(d+s[1],(int)threadIdx.x);)
KERNEL(at_a_vote, atomicAdd(d+__popc(__ballot_sync(~0u,in[threadIdx.x]>0)),(int)threadIdx.x);)
KERNEL(at_a_sum_over_the_warp, atomicAdd(d+__reduce_add_sync(~0u,in[threadIdx.x]),(int)threadIdx.x);)
KERNEL(after_a_loop_that_splits_the_warp, int i=0; while(in[i*32+threadIdx.x]>0) ++i; atomicAdd(d+i,(int)threadIdx.x);)
KERNEL(after_a_branch_that_splits_the_warp, int i=0; if(in[threadIdx.x]>0) {i=in[5]; out[threadIdx.x]=i;} atomicAdd(d+i,(int)threadIdx.x);)
KERNEL(of_one_lane, if (threadIdx.x % 32 == 0) atomicAdd(d + threadIdx.x/32, 5);)
KERNEL(for_the_block, atomicAdd_block(d,(int)threadIdx.x);)
KERNEL(for_the_system, atomicAdd_system(d,(int)threadIdx.x);)
KERNEL(subtract_and_use, out[threadIdx.x]=atomicSub(d,in[threadIdx.x]);)
KERNEL(maximum_and_use, out[threadIdx.x]=atomicMax(d,(int)threadIdx.x);)
KERNEL(or_and_use, out[threadIdx.x]=atomicOr(d,(int)threadIdx.x);)
KERNEL(add_64_bits_and_use, ((Wide*)out)[threadIdx.x]=atomicAdd((Wide*)d,(Wide)threadIdx.x);)
KERNEL(add_64_bits_of_one_value_and_use, ((Wide*)out)[threadIdx.x]=atomicAdd((Wide*)d,5ull);)
KERNEL(add_floats_and_use, ((float*)out)[threadIdx.x]=atomicAdd((float*)d,(float)threadIdx.x);)
KERNEL(increment_and_use, out[threadIdx.x]=atomicInc((unsigned int*)d,7u);)
KERNEL(exchange_and_use, out[threadIdx.x]=atomicExch(d,5);)
KERNEL(compare_and_swap, atomicCAS(d,1,2);)
#undef KERNEL
// clang-format on

struct Row {
    const char* name;
    void (*kernel)(int*, const int*, int*, int);
    std::uint64_t red, atom; // sectors
    friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};

#define ROW(name, red, atom)                                                                                 \
    Row { #name, name, red, atom }
constexpr Row rows[] = {
    ROW(and_, 1, 0),
    ROW(or_, 1, 0),
    ROW(exclusive_or, 1, 0),
    ROW(minimum, 1, 0),
    ROW(unsigned_maximum, 1, 0),
    ROW(subtract, 1, 0),
    ROW(increment, 32, 0),
    ROW(exchange, 0, 32),
    ROW(add_64_bits_of_one_value, 1, 0),
    ROW(add_64_bits_of_a_parameter, 1, 0),
    ROW(add_floats, 32, 0),
    ROW(maximum_of_64_bits, 32, 0),
    ROW(at_the_blocks_index, 1, 0),
    ROW(at_a_loaded_index, 1, 0),
    ROW(at_a_parameter, 1, 0),
    ROW(in_a_loop, 4, 0),
    ROW(at_another_index_of_the_thread, 32, 0),
    ROW(at_an_address_that_a_parameter_chooses, 1, 0),
    ROW(at_an_address_that_the_thread_chooses, 32, 0),
    ROW(in_both_branches, 2, 0),
    ROW(at_the_warps_index, 32, 0),
    ROW(at_a_broadcast_index, 1, 0),
    ROW(at_a_shuffled_index, 32, 0),
    ROW(at_an_index_in_shared_memory, 1, 0),
    ROW(at_a_vote, 1, 0),
    ROW(at_a_sum_over_the_warp, 1, 0),
    ROW(after_a_loop_that_splits_the_warp, 32, 0),
    ROW(after_a_branch_that_splits_the_warp, 32, 0),
    ROW(of_one_lane, 1, 0),
    ROW(for_the_block, 1, 0),
    ROW(for_the_system, 1, 0),
    ROW(subtract_and_use, 0, 1),
    ROW(maximum_and_use, 0, 32),
    ROW(or_and_use, 0, 32),
    ROW(add_64_bits_and_use, 0, 32),
    ROW(add_64_bits_of_one_value_and_use, 0, 1),
    ROW(add_floats_and_use, 0, 32),
    ROW(increment_and_use, 0, 32),
    ROW(exchange_and_use, 0, 32),
    ROW(compare_and_swap, 0, 32),
};
#undef ROW

class AtomicsOnEmulator : public testing::TestWithParam<Row> {};

TEST_P(AtomicsOnEmulator, of_one_warp_take_the_sectors_that_an_h200_counted) {
    DeviceInts data(4096), input(4096), output(4096);
    for (DeviceInts* memory : {&data, &input, &output})
        ASSERT_CUDA(cudaMemset(memory->data(), 0, 4096 * sizeof(int)));
    GetParam().kernel<<<1, 32>>>(data.data(), input.data(), output.data(), 4);
    ASSERT_CUDA(cudaDeviceSynchronize());
    const auto counters = last_counters();
    EXPECT_EQ(counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"), GetParam().red);
    EXPECT_EQ(counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"), GetParam().atom);
}

INSTANTIATE_TEST_SUITE_P(H200, AtomicsOnEmulator, testing::ValuesIn(rows),
                         [](const auto& info) { return info.param.name; });

} // namespace
