// The kernels that docs/figures/ shows with their data, as PTX for pictures_test.
#include "lesson00_interleaved_pairs/kernels.cuh"
#include "lesson01_strided_index/kernels.cuh"
#include "lesson02_sequential_addressing/kernels.cuh"
#include "lesson09_one_launch/kernels.cuh"
#include "start/start.cu"

template __global__ void reduce9<32>(const int*, int*, std::size_t, int*, unsigned int*);
