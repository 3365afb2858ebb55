// What two translation units share: device functions, and variables that one of them defines.
#pragma once

constexpr int table_size = 8;

struct Totals {
    int count;
    long long sum;
};

extern __device__ Totals totals;               // in weights.cu, which the kernel of main.cu changes
extern __constant__ int weights[table_size];   // in weights.cu
__device__ int weighted(int index, int value); // in weights.cu, calls clamp of main.cu
__device__ int clamp(int value);

void set_weights(const int* values);
