// Correct: every byte is used, up to the last, and addresses outside are made but not used.
#include <cuda_runtime.h>

__constant__ char letters[3] = {'a', 'b', 'c'};

__device__ char* one_past(char* first, int n) { return first + n; }

__global__ void use_all(char* bytes, int n) {
    extern __shared__ char block_bytes[];
    char mine[7];
    const int i = static_cast<int>(threadIdx.x);
    for (char* place = bytes + i; place < one_past(bytes, n); place += blockDim.x) *place = letters[i % 3];
    for (int k = 0; k < 7; ++k) mine[(k + i) % 7] = static_cast<char>(k);
    block_bytes[i] = mine[i % 7];
    __syncthreads();
    // Lanes beyond the end have a wild address, and do not use it.
    const long long place = i < n ? i : 1ll << 60;
    if (i < n) bytes[place] = block_bytes[blockDim.x - 1 - i];
}

__global__ void optional_output(const char* in, char* out, char* also) {
    out[threadIdx.x] = in[threadIdx.x];
    if (also) also[threadIdx.x] = in[threadIdx.x];
}

int main() {
    constexpr int n = 4099; // the last byte is the third of a page
    char *bytes = nullptr, *out = nullptr;
    for (int again = 0; again < 3; ++again) {
        cudaMalloc(&bytes, n);
        use_all<<<1, 61, 61>>>(bytes, n);
        cudaMalloc(&out, 61);
        optional_output<<<1, 61>>>(bytes, out, nullptr);
        cudaFree(bytes);
        optional_output<<<1, 61>>>(out, out, nullptr);
        cudaFree(out);
    }
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(nullptr) != cudaSuccess;
}
