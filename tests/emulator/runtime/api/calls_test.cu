// Calls that the compiler cannot see through: function pointers, virtual functions, recursion, new and
// delete.

#include <cuda_runtime.h>
#include <gtest/gtest.h>

namespace {

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
    float side;
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
    __device__ int corners() const override { return 4; }
};
struct Disc : Shape {
    float radius;
    __device__ explicit Disc(float r) : radius(r) {}
    __device__ float area() const override { return 3 * radius * radius; }
};

/// Every third thread has a disc; objects live from here to `measure`.
__global__ void make(Shape** shapes) {
    const unsigned int i = threadIdx.x;
    shapes[i] =
        i % 3 == 0 ? static_cast<Shape*>(new Disc(static_cast<float>(i))) : new Square(static_cast<float>(i));
}
__global__ void measure(Shape** shapes, float* areas, int* corners) {
    const unsigned int i = threadIdx.x;
    areas[i] = shapes[i]->area();
    corners[i] = shapes[i]->corners();
    delete shapes[i];
}

using Function = int (*)(int);
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ Function chosen = square;
__constant__ Function functions[2] = {twice, square};

__global__ void apply(int* results, Function from_host) {
    const int i = static_cast<int>(threadIdx.x);
    results[i] = functions[i % 2](i) + 1000 * chosen(i) + 1000000 * from_host(i);
}

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void recurse(int* results) {
    const int i = static_cast<int>(threadIdx.x);
    results[i] = ackermann(2, i % 4) + 1000 * fibonacci(i % 12);
}

/// The sum of 1 to n. Each call has its own 64 bytes, and needs them after the next call.
__device__ __noinline__ int sum_to(int n) {
    volatile int own[16];
    for (int i = 0; i < 16; ++i) own[i] = n;
    const int rest = n == 0 ? 0 : sum_to(n - 1);
    return rest + own[n % 16];
}
__global__ void sum_up(int* results, int n) {
    results[threadIdx.x] = sum_to(n + static_cast<int>(threadIdx.x));
}

__global__ void allocate(std::size_t bytes, int* was_given) {
    void* const memory = malloc(bytes);
    *was_given = memory != nullptr;
    free(memory);
}

template <class T> struct Managed {
    explicit Managed(std::size_t count) {
        EXPECT_EQ(cudaMallocManaged(&data, count * sizeof(T)), cudaSuccess);
    }
    ~Managed() { cudaFree(data); }
    T* data = nullptr;
};

} // namespace

TEST(Calls, find_virtual_functions) {
    constexpr int threads = 64;
    Managed<Shape*> shapes(threads);
    Managed<float> areas(threads);
    Managed<int> corners(threads);
    make<<<1, threads>>>(shapes.data);
    measure<<<1, threads>>>(shapes.data, areas.data, corners.data);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < threads; ++i) {
        EXPECT_EQ(areas.data[i], (i % 3 == 0 ? 3.0f : 1.0f) * static_cast<float>(i * i)) << i;
        EXPECT_EQ(corners.data[i], i % 3 == 0 ? 0 : 4) << i;
    }
}

TEST(Calls, go_through_function_pointers) {
    constexpr int threads = 32;
    Managed<int> results(threads);
    Function from_device = nullptr; // an address of the device, to be handed back to it
    ASSERT_EQ(cudaMemcpyFromSymbol(&from_device, chosen, sizeof from_device), cudaSuccess);
    apply<<<1, threads>>>(results.data, from_device);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < threads; ++i)
        EXPECT_EQ(results.data[i], (i % 2 == 0 ? 2 * i : i * i) + 1000 * i * i + 1000000 * i * i) << i;
}

TEST(Calls, recur) {
    constexpr int threads = 32;
    Managed<int> results(threads);
    recurse<<<1, threads>>>(results.data);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const int fibonacci_numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (int i = 0; i < threads; ++i) // ackermann(2, n) = 2 n + 3
        EXPECT_EQ(results.data[i], 2 * (i % 4) + 3 + 1000 * fibonacci_numbers[i % 12]) << i;
}

// 300 calls of 64 bytes and more exceed a thread's default stack.
TEST(Calls, recur_as_deep_as_the_stack_limit_allows) {
    constexpr int threads = 40, depth = 300;
    Managed<int> results(threads);
    ASSERT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10), cudaSuccess);
    std::size_t limit = 0;
    EXPECT_EQ(cudaDeviceGetLimit(&limit, cudaLimitStackSize), cudaSuccess);
    EXPECT_GE(limit, 64u << 10);
    sum_up<<<3, threads>>>(results.data, depth);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < threads; ++i) EXPECT_EQ(results.data[i], (depth + i) * (depth + i + 1) / 2) << i;
}

TEST(Calls, that_are_too_deep_for_the_stack_are_an_error) {
    Managed<int> results(1);
    sum_up<<<1, 1>>>(results.data, 300);
    EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(Calls, of_malloc_share_a_heap_of_8_MiB) {
    Managed<int> was_given(1);
    allocate<<<1, 1>>>(12 << 20, was_given.data);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_FALSE(*was_given.data);
    allocate<<<1, 1>>>(4 << 20, was_given.data);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(*was_given.data);
}

TEST(Calls, of_malloc_have_the_heap_that_was_set_before_the_first) {
    Managed<int> was_given(1);
    ASSERT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20), cudaSuccess);
    allocate<<<1, 1>>>(12 << 20, was_given.data);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(*was_given.data);
    EXPECT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20), cudaErrorInvalidValue);
    std::size_t limit = 0;
    EXPECT_EQ(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize), cudaSuccess);
    EXPECT_EQ(limit, 32u << 20);
}
