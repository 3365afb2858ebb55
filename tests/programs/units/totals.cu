#include "parts.cuh"

__device__ Totals totals = {0, 0};

static __device__ int calls;

__device__ int clamp(int value) {
    atomicAdd(&calls, 2);
    return value > 500 ? 500 : value < -500 ? -500 : value;
}
