// The kernels as PTX, for wide_index_test.cpp.
#include "../../lessons/lesson00_interleaved_pairs/kernels.cuh"
#include "../../lessons/lesson01_strided_index/kernels.cuh"
#include "../../lessons/lesson02_sequential_addressing/kernels.cuh"
#include "../../lessons/lesson03_first_add_on_load/kernels.cuh"
#include "../../lessons/lesson04_unroll_last_warp/kernels.cuh"
#include "../../lessons/lesson05_unroll_the_tree/kernels.cuh"
#include "../../lessons/lesson06_algorithm_cascading/kernels.cuh"
#include "../../lessons/lesson07_warp_shuffles/kernels.cuh"
#include "../../lessons/lesson08_vectorized_loads/kernels.cuh"
#include "../../lessons/lesson09_one_launch/kernels.cuh"
#include "../../lessons/lesson10_shared_against_global/kernels.cuh"
#include "../../lessons/lesson11_unroll_four_blocks/kernels.cuh"
#include "../../lessons/lesson12_dynamic_shared_memory/kernels.cuh"
#include "../../lessons/lesson13_atomics/kernels.cuh"
#include "../../lessons/lesson15_segments_and_coarsening/kernels.cuh"
#include "../../lessons/lesson22_any_type_and_operation/kernels.cuh"
#include "../../lessons/lesson23_floating_point/kernels.cuh"
#include "../../lessons/lesson24_transposition/kernels.cuh"
#include "../../lessons/lesson24_transposition/sectors.cuh"
#include "../../lessons/lesson25_rows/kernels.cuh"
#include "../../lessons/lesson25_rows/rows.cuh"
#include "../../lessons/lesson26_histogram/kernels.cuh"
#include "../../lessons/lesson26_histogram/vectors.cuh"
#include "../../lessons/lesson27_scan/in_shared_memory.cuh"
#include "../../lessons/lesson27_scan/kernels.cuh"
#include "../../lessons/lesson27_scan/wide_lookback.cuh"
#include "../../lessons/lesson28_bytes_in_flight/kernels.cuh"
#include "../../lessons/lesson30_a_sum_for_every_n/sum.cuh"
#include "../../lessons/lesson31_a_softmax_for_every_shape/kernels.cuh"
#include "../../lessons/lesson31_a_softmax_for_every_shape/softmax.cuh"

template __global__ void reduce5<256>(const int*, int*, std::size_t);
template __global__ void reduce6<256>(const int*, int*, std::size_t);
template __global__ void reduce7<256>(const int*, int*, std::size_t);
template __global__ void reduce8<256>(const int*, int*, std::size_t);
template __global__ void reduce9<256>(const int*, int*, std::size_t, int*, unsigned int*);
template __global__ void reduce_any<int, ArgMax<int>>(const int*, ValueAt<int>*, std::size_t, ValueAt<int>*,
                                                      unsigned int*);
template __global__ void reduceNeighboredSmem<256>(const int*, int*, std::size_t);
template __global__ void reduceSmem<256>(const int*, int*, std::size_t);
template __global__ void reduceSmemUnroll<256>(const int*, int*, std::size_t);
template __global__ void coarse_reduction<1>(const int*, int*, std::size_t);
template __global__ void coarse_reduction<16>(const int*, int*, std::size_t);
template __global__ void histogram_vectors<8>(const int*, int*, std::size_t);
template __global__ void reduce10<256, 2>(const int*, int*, std::size_t, unsigned int);
template __global__ void reduce11<256>(const int*, int*, std::size_t, unsigned int, unsigned int);
namespace take_home::detail {
template __global__ void sum_one_launch<512, 4, 4>(Parts, int*, Meeting*);
template __global__ void sum_bulk_copies<256, 4096>(Parts, int*, Meeting*, unsigned int);
} // namespace take_home::detail
namespace take_home::softmax_detail {
template __global__ void rows_by_lanes<float, 4, 32, 8, false, 256>(Matrix<float>, unsigned int);
template __global__ void rows_by_block<float, 4>(Matrix<float>, unsigned int, unsigned int);
template __global__ void parts_of_rows<float, 4>(Matrix<float>, Pieces, Part*);
} // namespace take_home::softmax_detail
