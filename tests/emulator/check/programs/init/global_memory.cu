// Global memory and arrays that nobody has written.
#include "../programs.hpp"

// ---- no_memset ----------------------------------------------------------------------------------
// Adds up the sum in memory that was never zeroed.
__global__ void add_up(const int* in, int* sum, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i < n) atomicAdd(sum, in[i]); // expect: init, uninitialized read
}

LAUNCHES(no_memset) {
    constexpr int n = 64;
    const Memory<int> in(n, 0), sum(1);
    add_up<<<1, n>>>(in, sum, n);
}

// ---- elements_left_out --------------------------------------------------------------------------
// The kernel that fills the array rounds the number of blocks down.
__global__ void fill(int* data, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) data[i] = i;
}

__global__ void square(const int* in, int* out, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    const int value = in[i]; // expect: init, uninitialized read
    out[i] = value * value;
}

LAUNCHES(elements_left_out) {
    constexpr int n = 1000, block = 128;
    const Memory<int> data(n), squares(n);
    fill<<<n / block, block>>>(data, n);
    square<<<(n + block - 1) / block, block>>>(data, squares, n);
}

// ---- every_second_element -----------------------------------------------------------------------
// The stride is two instead of one: this looks like the padding of a struct, but is not.
__global__ void fill_strided(int* data) { data[2 * threadIdx.x] = 1; }

LAUNCHES(every_second_element) {
    constexpr unsigned int n = 64;
    const Memory<int> device(n);
    int host[n];
    fill_strided<<<1, n / 2>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost); // expect: init, uninitialized copy
}

// ---- one_byte_of_four ---------------------------------------------------------------------------
// Pixels are written channel by channel, and alpha is forgotten.
__global__ void paint(unsigned char* pixels) {
    unsigned char* const pixel = pixels + 4 * threadIdx.x;
    pixel[0] = 255;
    pixel[1] = 128;
    pixel[2] = 64;
}

__global__ void invert(const unsigned int* in, unsigned int* out) {
    out[threadIdx.x] = ~in[threadIdx.x]; // expect: init, uninitialized read
}

PROGRAM(one_byte_of_four) {
    unsigned int *image = nullptr, *negative = nullptr;
    cudaMalloc(&image, 64 * sizeof(unsigned int));
    cudaMalloc(&negative, 64 * sizeof(unsigned int));
    paint<<<1, 64>>>(reinterpret_cast<unsigned char*>(image));
    invert<<<1, 64>>>(image, negative);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(image) != cudaSuccess ||
           cudaFree(negative) != cudaSuccess;
}

// ---- part_of_a_vector ---------------------------------------------------------------------------
// The copy from the host fills only half of the last vector.
__global__ void sum_vectors_of_four(const float4* in, float* out, int vectors) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= vectors) return;
    const float4 v = in[i]; // expect: init, uninitialized read
    out[i] = v.x + v.y + v.z + v.w;
}

LAUNCHES(part_of_a_vector) {
    constexpr int n = 126, vectors = 32;
    const float host[n] = {};
    const Memory<float4> in(vectors);
    const Memory<float> out(vectors);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum_vectors_of_four<<<1, 32>>>(in, out, vectors);
}

// ---- copied_to_the_host -------------------------------------------------------------------------
// Copies a result per block, but the last block has not written one.
__global__ void number_blocks(int* out, unsigned int n) {
    if (threadIdx.x == 0 && blockIdx.x + 1 < n) out[blockIdx.x] = static_cast<int>(blockIdx.x);
}

LAUNCHES(copied_to_the_host) {
    constexpr unsigned int blocks = 10;
    const Memory<int> device(blocks);
    int host[blocks];
    number_blocks<<<blocks, 32>>>(device, blocks);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost); // expect: init, uninitialized copy
}

// ---- carried_along_by_a_copy --------------------------------------------------------------------
// Copying unwritten memory does not initialize it.
__global__ void fill_half(int* data) { data[threadIdx.x] = 1; }

__global__ void sum_pairs(const int* in, int* out) {
    const unsigned int i = threadIdx.x;
    const int upper = in[i + 32]; // expect: init, uninitialized read
    out[i] = in[i] + upper;
}

LAUNCHES(carried_along_by_a_copy) {
    const Memory<int> data(64), copy(64), sums(32);
    fill_half<<<1, 32>>>(data);
    cudaMemcpy(copy, data, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
    sum_pairs<<<1, 32>>>(copy, sums);
}

// ---- array_never_filled -------------------------------------------------------------------------
// The array is copied out by way of device memory, and its last row has never been copied in.
PROGRAM(array_never_filled) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float image[8 * 4] = {};
    float* device = nullptr;
    cudaMalloc(&device, sizeof image);
    cudaMemcpy2DToArray(array, 0, 0, image, 32, 32, 3, cudaMemcpyHostToDevice);
    cudaMemcpy2DFromArray(device, 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToDevice);
    cudaMemcpy(image, device, sizeof image, cudaMemcpyDeviceToHost); // expect: init, uninitialized copy
    return cudaFree(device) != cudaSuccess || cudaFreeArray(array) != cudaSuccess;
}

// ---- array_nobody_wrote -------------------------------------------------------------------------
// Copies an unwritten row of an array to the host.
PROGRAM(array_nobody_wrote) {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 8, 4);
    float row[8] = {};
    const cudaError_t error = // expect: init, uninitialized copy
        cudaMemcpy2DFromArray(row, 32, array, 0, 2, 32, 1, cudaMemcpyDeviceToHost);
    return error != cudaSuccess || cudaFreeArray(array) != cudaSuccess;
}

// ---- correct_padding ----------------------------------------------------------------------------
// Correct: nobody writes the padding of a struct, and copies of structs include it.
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

PROGRAM(correct_padding) {
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

// ---- correct_partly_initialized -----------------------------------------------------------------
// Correct: of a large buffer only the part that was written is ever read, copied or cleared.
__global__ void write_part(int* buffer, int* count) {
    const int place = atomicAdd(count, 1);
    buffer[place] = static_cast<int>(threadIdx.x);
}

__global__ void read_part(const int* buffer, const int* count, int* sum) {
    __shared__ int partly[1024];
    const int i = static_cast<int>(threadIdx.x);
    if (i < *count) partly[2 * i] = buffer[i];
    __syncthreads();
    if (i < *count) atomicAdd(sum, partly[2 * (*count - 1 - i)]);
}

PROGRAM(correct_partly_initialized) {
    const Memory<int> buffer(1'000'000), count(1, 0), sum(1, 0);
    int result = 0, part[100];
    write_part<<<1, 100>>>(buffer, count);
    read_part<<<1, 128>>>(buffer, count, sum);
    cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(part, buffer, sizeof part, cudaMemcpyDeviceToHost);
    return result != 4950;
}

// ---- correct_written_by_the_host ----------------------------------------------------------------
// Correct: the host writes managed and pinned memory without a call, and variables begin as zeros.
__device__ int zeros[32];
__managed__ int managed_variable[32];

__global__ void add_all(const int* managed, const int* pinned, const int* copied, int* out) {
    const unsigned int i = threadIdx.x;
    out[i] = managed[i] + pinned[i] + copied[i] + zeros[i] + managed_variable[i];
}

PROGRAM(correct_written_by_the_host) {
    constexpr std::size_t bytes = 32 * sizeof(int);
    int *managed = nullptr, *pinned = nullptr, *copied = nullptr, *through = nullptr, *out = nullptr,
        host[32];
    cudaMallocManaged(&managed, bytes);
    cudaMallocHost(&pinned, bytes);
    cudaMalloc(&copied, bytes);
    cudaMalloc(&through, bytes);
    cudaMalloc(&out, bytes);
    for (int i = 0; i < 32; ++i) managed[i] = pinned[i] = managed_variable[i] = i;
    cudaMemcpy(through, pinned, bytes, cudaMemcpyDefault);
    cudaMemcpy2D(copied, bytes / 4, through, bytes / 4, bytes / 4, 4, cudaMemcpyDeviceToDevice);
    add_all<<<1, 32>>>(managed, pinned, copied, out);
    cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost);
    cudaFree(managed);
    cudaFreeHost(pinned);
    cudaFree(copied);
    cudaFree(through);
    cudaFree(out);
    return host[31] != 4 * 31;
}
