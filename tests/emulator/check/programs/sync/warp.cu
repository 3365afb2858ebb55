// Barriers, votes and shuffles of a warp.
#include "../programs.hpp"

// ---- mask_of_all_in_a_branch --------------------------------------------------------------------
// The mask names all lanes, and half of them take the other branch.
__global__ void count_odd(int* data) {
    const bool is_odd = data[threadIdx.x] % 2 == 1;
    unsigned int odd = 0;
    if (threadIdx.x < 16)
        odd = __ballot_sync(~0u, is_odd); // expect: sync, mask names lanes that do not arrive
    data[threadIdx.x] = __popc(odd);
}

LAUNCHES(mask_of_all_in_a_branch) {
    const Memory<int> data(32, 1);
    count_odd<<<1, 32>>>(data);
}

// ---- mask_without_caller ------------------------------------------------------------------------
// All lanes come, and the mask names half of them.
__global__ void sum_of_pairs(int* data) {
    int value = data[threadIdx.x];
    value += __shfl_xor_sync(0x0000ffff, value, 1); // expect: sync, mask without its caller
    data[threadIdx.x] = value;
}

LAUNCHES(mask_without_caller) {
    const Memory<int> data(32, 0);
    sum_of_pairs<<<1, 32>>>(data);
}

// ---- shuffle_after_return -----------------------------------------------------------------------
// Lanes past the end return, but the others still read their values.
__global__ void sum(const int* in, int* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) return;
    int value = in[i];
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance); // expect: sync, shuffle from an exited lane
    if (i == 0) *out = value;
}

LAUNCHES(shuffle_after_return) {
    const Memory<int> in(20, 1), out(1);
    sum<<<1, 32>>>(in, out, 20);
}

// ---- warp_barrier_against_block_barrier ---------------------------------------------------------
// Half of the warp waits for all of it, and the other half for all of the block.
__global__ void meet_in_halves(int* data) {
    __shared__ int values[64];
    values[threadIdx.x] = data[threadIdx.x];
    if (threadIdx.x % 32 < 16) __syncwarp(); // expect: sync, mask names lanes that do not arrive
    __syncthreads();
    data[threadIdx.x] = values[63 - threadIdx.x];
}

LAUNCHES(warp_barrier_against_block_barrier) {
    const Memory<int> data(64, 1);
    meet_in_halves<<<1, 64>>>(data);
}

// ---- correct_branches ---------------------------------------------------------------------------
// Correct: barriers in branches and loops that are the same for all threads, masks computed before a branch,
// and lanes that reach one barrier one after the other.
__global__ void in_branches(int* data, int n, bool twice) {
    __shared__ int values[64];
    const unsigned int tid = threadIdx.x, lane = tid % 32;
    int sum = 0;
    for (int i = 0; i < n; i += 64) {
        const int here = i + static_cast<int>(tid);
        values[tid] = here < n ? data[here] : 0;
        __syncthreads();
        if (twice) {
            sum += values[tid ^ 32];
            __syncthreads();
        }
        sum += __syncthreads_count(values[63 - tid] > 0);
    }
    for (unsigned int round = 0; round < lane; ++round) sum = sum * 3 + 1;
    __syncwarp();
    const unsigned int odd = __ballot_sync(0xffffffff, lane % 2 == 1);
    if (lane % 2 == 1)
        sum += __shfl_xor_sync(odd, sum, 2);
    else
        __syncwarp(~odd);
    switch (lane / 8) {
    case 0: __syncwarp(0x000000ff); break;
    case 1: sum += __reduce_add_sync(0x0000ff00, sum); break;
    default: sum += __match_any_sync(0xffff0000, sum); break;
    }
    __syncthreads();
    if (tid < static_cast<unsigned int>(n)) data[tid] = sum;
}

LAUNCHES(correct_branches) {
    const Memory<int> data(150, 0);
    in_branches<<<1, 64>>>(data, 150, true);
    in_branches<<<1, 64>>>(data, 150, false);
}

// ---- correct_exits ------------------------------------------------------------------------------
// Correct: threads leave when no barrier is left, and lanes leave before warp barriers, votes, and shuffles
// that do not ask for their values.
__global__ void leave(int* data, int n) {
    __shared__ int values[64];
    const int tid = static_cast<int>(threadIdx.x);
    values[tid] = tid < n ? data[tid] : 0;
    __syncthreads();
    if (tid >= n) return;
    int sum = values[tid ^ 1];
    __syncwarp();
    sum += __shfl_sync(0xffffffff, sum, 0);
    sum += __popc(__ballot_sync(__activemask(), sum > 0));
    if (__any_sync(0xffffffff, sum == 77)) sum = 0;
    data[tid] = sum;
}

LAUNCHES(correct_exits) {
    const Memory<int> data(50, 0);
    leave<<<1, 64>>>(data, 50);
    leave<<<1, 50>>>(data, 50);
}
