// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well. Each test is a
// process of its own, since nothing but its end clears what these kernels leave behind.

#include "cuda_test.hpp"

#include <thread>

#undef NDEBUG // a release build would leave out the assertion that is to fail
#include <cassert>

namespace {

__global__ void write_to(int* pointer) { *pointer = 1; }
__global__ void trap() { asm("trap;"); }
__global__ void fail_assertion(int zero) { assert(zero != 0); }
__global__ void do_nothing_more() {}

/// The launch and earlier errors are fine; from the first call that waits for the kernel on, every call
/// reports the error.
void expect_sticky(cudaError_t error) {
    EXPECT_EQ(cudaDeviceSynchronize(), error);
    EXPECT_EQ(cudaGetLastError(), error);
    int* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, 4), error);
    do_nothing_more<<<1, 1>>>();
    EXPECT_EQ(cudaGetLastError(), error);
    EXPECT_EQ(cudaDeviceSynchronize(), error);
    int device = -1;
    EXPECT_CUDA(cudaGetDevice(&device)); // has nothing to do with what ran
}

} // namespace

TEST(Fault, of_a_null_pointer_is_told_by_every_later_call) {
    write_to<<<1, 1>>>(nullptr);
    EXPECT_CUDA(cudaGetLastError());
    expect_sticky(cudaErrorIllegalAddress);
}

TEST(Fault, of_a_misaligned_address) {
    char* memory = nullptr;
    ASSERT_CUDA(cudaMalloc(&memory, 64));
    write_to<<<1, 1>>>(reinterpret_cast<int*>(memory + 1));
    EXPECT_CUDA(cudaGetLastError());
    expect_sticky(cudaErrorMisalignedAddress);
}

TEST(Fault, of_a_failed_assertion) {
    fail_assertion<<<1, 1>>>(0);
    EXPECT_CUDA(cudaGetLastError());
    expect_sticky(cudaErrorAssert);
}

TEST(Fault, of_a_trap) {
    trap<<<1, 1>>>();
    EXPECT_CUDA(cudaGetLastError());
    expect_sticky(cudaErrorLaunchFailure);
}

TEST(Error, that_is_not_a_fault_is_told_once) {
    EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
    int device = -1;
    EXPECT_CUDA(cudaGetDevice(&device)); // a success does not hide it
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaGetLastError());
}

TEST(Error, belongs_to_its_thread) {
    EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
    std::thread([] { EXPECT_CUDA(cudaGetLastError()); }).join();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}
