// Lesson 31's softmax for scripts/ahead_softmax.py, which times it beside torch's.

#include "../lessons/lesson31_a_softmax_for_every_shape/softmax.cuh"

extern "C" int softmax_of_floats(void* workspace, std::size_t* workspace_bytes, const float* input,
                                 float* output, std::size_t rows, std::size_t columns, cudaStream_t stream) {
    return take_home::softmax(workspace, *workspace_bytes, input, output, rows, columns, stream);
}

extern "C" int softmax_of_halves(void* workspace, std::size_t* workspace_bytes, const __half* input,
                                 __half* output, std::size_t rows, std::size_t columns, cudaStream_t stream) {
    return take_home::softmax(workspace, *workspace_bytes, input, output, rows, columns, stream);
}
