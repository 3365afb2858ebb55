#pragma once

/// Adds the block's part of `input` to `total`.
template <bool with_barriers> __global__ void sum(const int* input, int* total, int n) {
    extern __shared__ int values[];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    values[threadIdx.x] = i < n ? input[i] : 0;
    for (unsigned int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (with_barriers) __syncthreads(); // the other half's values are there
        if (threadIdx.x < stride) values[threadIdx.x] += values[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(total, values[0]);
}
