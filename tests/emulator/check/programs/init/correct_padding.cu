// Correct: nobody writes the padding of a struct, and copies of structs include it.
#include <cuda_runtime.h>

struct Candidate {
    char kind;
    // three bytes of padding
    int index;
    // none
    double value;
    short rank;
    // six bytes
};

struct alignas(16) Point {
    float x, y, z;
    // four bytes
};

__global__ void make(Candidate* candidates, Point* points) {
    const unsigned int i = threadIdx.x;
    candidates[i].kind = 'c';
    candidates[i].index = static_cast<int>(i);
    candidates[i].value = 0.5 * i;
    candidates[i].rank = static_cast<short>(i);
    points[i].x = points[i].y = points[i].z = 1.0f * i;
}

__global__ void reverse(const Candidate* from, Candidate* to, const Point* points, float* out) {
    __shared__ Candidate tile[32];
    const unsigned int i = threadIdx.x;
    tile[i] = from[i];
    __syncthreads();
    to[i] = tile[31 - i];
    const Point p = points[i];
    out[i] = p.x + p.y + p.z;
}

__global__ void first_three(const float4* vectors, float* out) {
    const float4 v = vectors[threadIdx.x]; // loaded as one vector of four
    out[threadIdx.x] = v.x + v.y + v.z;
}

int main() {
    Candidate *first = nullptr, *second = nullptr, host[32];
    Point* points = nullptr;
    float *out = nullptr, sums[32];
    cudaMalloc(&first, sizeof host);
    cudaMalloc(&second, sizeof host);
    cudaMalloc(&points, 32 * sizeof(Point));
    cudaMalloc(&out, sizeof sums);
    make<<<1, 32>>>(first, points);
    reverse<<<1, 32>>>(first, second, points, out);
    first_three<<<1, 32>>>(reinterpret_cast<const float4*>(points), out);
    cudaMemcpy(host, second, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
    cudaFree(first);
    cudaFree(second);
    cudaFree(points);
    cudaFree(out);
    return host[0].index != 31 || sums[31] != 93.0f;
}
