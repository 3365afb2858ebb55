// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well.

#include "cuda_test.hpp"

namespace {

__device__ int counter = 5;
__device__ double table[4] = {1, 2, 3, 4};
__constant__ int factors[3];
__managed__ int managed = 7;

__global__ void count() { ++counter; }
__global__ void apply_factors(int* out) { out[threadIdx.x] = factors[threadIdx.x]; }
__global__ void increment_managed() { ++managed; }

int host_variable;

} // namespace

TEST(Symbol, starts_with_its_initial_value) {
    int value = 0;
    EXPECT_CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT_EQ(value, 5);
}

TEST(Symbol, is_what_kernels_see) {
    int value = 40;
    EXPECT_CUDA(cudaMemcpyToSymbol(counter, &value, sizeof value));
    count<<<1, 1>>>();
    EXPECT_CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT_EQ(value, 41);
}

TEST(Symbol, can_be_constant) {
    const int values[] = {10, 20, 30};
    EXPECT_CUDA(cudaMemcpyToSymbol(factors, values, sizeof values));
    const int changed = 25;
    EXPECT_CUDA(cudaMemcpyToSymbol(factors, &changed, sizeof changed, 4));
    DeviceInts out(3);
    apply_factors<<<1, 3>>>(out.data());
    EXPECT_EQ(out.copy_back(), (std::vector<int>{10, 25, 30}));
}

TEST(Symbol, has_an_address_and_a_size) {
    double* address = nullptr;
    std::size_t bytes = 0;
    EXPECT_CUDA(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), table));
    EXPECT_CUDA(cudaGetSymbolSize(&bytes, table));
    EXPECT_EQ(bytes, 32u);
    double third = 0;
    EXPECT_CUDA(cudaMemcpy(&third, address + 2, sizeof third, cudaMemcpyDeviceToHost));
    EXPECT_EQ(third, 3);
}

TEST(Symbol, is_copied_in_parts) {
    double second = 0;
    EXPECT_CUDA(cudaMemcpyFromSymbol(&second, table, 8, 8));
    EXPECT_EQ(second, 2);
}

TEST(Symbol, refuses_copies_past_its_end) {
    double values[5]{};
    EXPECT_EQ(cudaMemcpyFromSymbol(values, table, 33), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpyToSymbol(table, values, 8, 25), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpyToSymbol(table, values, 8, 0, cudaMemcpyDeviceToHost),
              cudaErrorInvalidMemcpyDirection);
}

TEST(Symbol, refuses_an_offset_into_another_variable) {
    char *here = nullptr, *there = nullptr;
    ASSERT_CUDA(cudaGetSymbolAddress(reinterpret_cast<void**>(&here), table));
    ASSERT_CUDA(cudaGetSymbolAddress(reinterpret_cast<void**>(&there), counter));
    const int value = 0;
    EXPECT_EQ(cudaMemcpyToSymbol(table, &value, sizeof value, static_cast<std::size_t>(there - here)),
              cudaErrorInvalidValue);
}

TEST(Symbol, refuses_a_variable_of_the_host) {
    int value = 0;
    EXPECT_EQ(cudaMemcpyToSymbol(host_variable, &value, sizeof value), cudaErrorInvalidSymbol);
}

TEST(Symbol, can_be_managed) {
    EXPECT_EQ(managed, 7);
    managed = 8;
    increment_managed<<<1, 1>>>();
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(managed, 9);

    void* address = nullptr;
    EXPECT_CUDA(cudaGetSymbolAddress(&address, managed));
    EXPECT_EQ(address, &managed);
    cudaPointerAttributes attributes{};
    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, &managed));
    EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
    EXPECT_EQ(cudaFree(&managed), cudaErrorInvalidValue);
}

// The kernel first, before host code has touched the variable.
TEST(Symbol, managed_may_be_used_by_a_kernel_first) {
    increment_managed<<<1, 1>>>();
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(managed, 8);
}
