// What holds on the emulator alone.

#include "cuda_test.hpp"

#include "emulator/cuda_emulator.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>

using testing::HasSubstr;

namespace {

__global__ void write_a_word(int* pointer) { pointer[threadIdx.x] = 1; }

} // namespace

TEST(DeviceOnEmulator, is_the_same_on_every_host) {
    cudaDeviceProp properties{};
    ASSERT_CUDA(cudaGetDeviceProperties(&properties, 0));
    EXPECT_STREQ(properties.name, "Emulated GPU (compute capability 9.0)");
    EXPECT_EQ(properties.major, 9);
    EXPECT_EQ(properties.minor, 0);
    EXPECT_EQ(properties.multiProcessorCount, 132);
    EXPECT_EQ(properties.sharedMemPerBlockOptin, 227u * 1024);
    EXPECT_EQ(properties.l2CacheSize, 50 << 20);
}

TEST(DeviceOnEmulator, is_well_again_after_a_reset) {
    write_a_word<<<1, 1>>>(nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_CUDA(cudaDeviceReset());
    EXPECT_CUDA(cudaGetLastError());
    DeviceInts memory(32);
    write_a_word<<<1, 32>>>(memory.data());
    EXPECT_EQ(memory.copy_back(), std::vector<int>(32, 1));
}

TEST(DeviceOnEmulator, never_forgets_a_fault) {
    write_a_word<<<1, 1>>>(nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
}

// In CUDA a wrong direction is undefined behavior.
TEST(DeviceOnEmulator, refuses_device_memory_where_the_direction_says_host) {
    DeviceInts memory(64);
    EXPECT_EQ(cudaMemcpy(memory.data(), memory.data() + 32, 128, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(memory.data(), memory.data() + 32, 128, cudaMemcpyDeviceToHost),
              cudaErrorInvalidValue);
}

// On a card the system's fresh pages are zeros; what a driver has kept need not be.
TEST(DeviceOnEmulator, zeroes_memory_that_the_host_can_write_to) {
    int *managed = nullptr, *pinned = nullptr, *mapped = nullptr;
    ASSERT_CUDA(cudaMallocManaged(&managed, 1000 * sizeof(int)));
    ASSERT_CUDA(cudaMallocHost(&pinned, 1000 * sizeof(int)));
    ASSERT_CUDA(cudaHostAlloc(&mapped, 1000 * sizeof(int), cudaHostAllocMapped));
    for (const int* const memory : {managed, pinned, mapped})
        EXPECT_EQ(std::vector<int>(memory, memory + 1000), std::vector<int>(1000, 0));
}

namespace {

__global__ void matrix_product(float* d) {
    asm volatile("{ .reg .b32 r<8>; .reg .f32 f<8>; wmma.load.a.sync.aligned.row.m16n16k16.f16 "
                 "{r0, r1, r2, r3, r4, r5, r6, r7}, [%0]; }" ::"l"(d));
}

} // namespace

TEST(DeviceOnEmulator, fails_from_a_kernel_on_that_the_emulator_cannot_run) {
    DeviceInts memory(32);
    cudaEvent_t event = nullptr;
    ASSERT_CUDA(cudaEventCreate(&event));
    testing::internal::CaptureStderr();
    matrix_product<<<1, 32>>>(nullptr);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNotSupported);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorNotSupported);
    EXPECT_EQ(cudaEventSynchronize(event), cudaErrorNotSupported);
    int value = 0;
    EXPECT_EQ(cudaMemcpy(&value, memory.data(), sizeof value, cudaMemcpyDeviceToHost), cudaErrorNotSupported);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("wmma"));
    (void)cudaGetLastError();
    write_a_word<<<1, 32>>>(memory.data());
    EXPECT_CUDA(cudaGetLastError()) << "other kernels run";
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNotSupported);
    EXPECT_CUDA(cudaDeviceReset());
    EXPECT_CUDA(cudaDeviceSynchronize());
}

namespace {

__device__ __noinline__ float texel(cudaTextureObject_t texture) { return tex2D<float>(texture, 0.5f, 0.5f); }
__global__ void read_by_function(cudaTextureObject_t texture, float* out) { *out = texel(texture); }
__global__ void read_texture(cudaTextureObject_t texture, float* out) {
    *out = tex1Dfetch<float>(texture, 3);
}
__global__ void write_surface(cudaSurfaceObject_t surface) { surf2Dwrite(1.0f, surface, 0, 0); }

} // namespace

// The other kernels of this file, and the managed variables, are in the same module.
TEST(DeviceOnEmulator, refuses_textures_where_they_are_used) {
    testing::internal::CaptureStderr();
    read_by_function<<<1, 1>>>(0, nullptr);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
    read_texture<<<1, 1>>>(0, nullptr);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
    write_surface<<<1, 1>>>(0);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
    const std::string message = testing::internal::GetCapturedStderr();
    for (const char* const part :
         {"'tex' is not supported, in", "texel(", "read_texture(", "'sust' is not supported, in",
          "write_surface(", "PTX line", "keep the data in global memory"})
        EXPECT_THAT(message, HasSubstr(part));
    EXPECT_CUDA(cudaDeviceReset());
}

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int);
char __cudaInitModule(void**);
void __cudaUnregisterFatBinary(void**);
}

// Its fat binary is empty. nvcc's code calls __cudaInitModule before each access to the variable, until it returns 1.
TEST(DeviceOnEmulator, has_managed_variables_of_a_module_that_it_cannot_load) {
    const std::uint64_t empty[] = {0x0010'0001'BA55'ED50, 0};
    const void* wrapper[] = {reinterpret_cast<const void*>(0x1'466243B1), empty, nullptr};
    void** const binary = __cudaRegisterFatBinary(wrapper);
    void* variable = nullptr;
    char name[] = "variable";
    __cudaRegisterManagedVar(binary, &variable, name, name, 0, sizeof(int), 0, 0);
    testing::internal::CaptureStderr();
    for (int after_reset = 0; after_reset < 2; ++after_reset) {
        EXPECT_EQ(variable, nullptr);
        EXPECT_EQ(__cudaInitModule(binary), 0);
        EXPECT_NE(cudaGetLastError(), cudaSuccess);
        ASSERT_NE(variable, nullptr);
        *static_cast<int*>(variable) = 7;
        EXPECT_EQ(__cudaInitModule(binary), 0);
        EXPECT_CUDA(cudaGetLastError()) << "tried once";
        EXPECT_EQ(*static_cast<int*>(variable), 7);
        EXPECT_CUDA(cudaDeviceReset());
    }
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("PTX"));
    __cudaUnregisterFatBinary(binary);
}

// Another thread's call cannot write its message, since the pipe is full: so it keeps the lock.
TEST(DeviceOnEmulator, never_forgets_a_fault_while_another_thread_calls) {
    write_a_word<<<1, 1>>>(nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    int ends[2] = {};
    ASSERT_EQ(pipe(ends), 0);
    const int terminal = dup(STDERR_FILENO);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], "", 1) == 1) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
    std::thread other([] {
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found{};
        cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12080, cudaEnableDefault, &found);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    char some[4096];
    EXPECT_GT(read(ends[0], some, sizeof some), 0);
    other.join();
    for (const int end : {ends[0], ends[1]}) close(end);
}

namespace {

cudaArray_t array_of_ints(std::size_t width, std::size_t height) {
    cudaArray_t array = nullptr;
    const auto ints = cudaCreateChannelDesc<int>();
    EXPECT_CUDA(cudaMallocArray(&array, &ints, width, height));
    return array;
}

} // namespace

// On a card an invalid handle leads to the driver's own memory.
TEST(DeviceOnEmulator, tells_handles_of_arrays_from_others) {
    const cudaArray_t array = array_of_ints(8, 4);
    int row[8] = {};
    EXPECT_EQ(cudaMemcpy(array, row, sizeof row, cudaMemcpyDefault), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(row, array, sizeof row, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(array), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaFreeArray(array));
    EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, row, sizeof row, sizeof row, 1, cudaMemcpyHostToDevice),
              cudaErrorInvalidResourceHandle);
}

TEST(DeviceOnEmulator, keeps_arrays_out_of_kernels_reach) {
    write_a_word<<<1, 1>>>(reinterpret_cast<int*>(array_of_ints(8, 4)));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

TEST(InterfaceOnEmulator, has_no_counters_before_the_first_launch) { EXPECT_TRUE(last_counters().empty()); }

// One store of 32 lanes x 4 bytes = 4 sectors, in one request, and no load.
TEST(InterfaceOnEmulator, gives_the_counters_of_the_last_launch) {
    DeviceInts memory(64);
    write_a_word<<<1, 64>>>(memory.data());
    write_a_word<<<1, 32>>>(memory.data());
    const auto counters = last_counters();
    EXPECT_EQ(counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 4u);
    EXPECT_EQ(counters.at("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"), 1u);
    EXPECT_EQ(counters.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 0u);
}

TEST(InterfaceOnEmulator, writes_no_more_counters_than_there_is_room_for) {
    DeviceInts memory(32);
    write_a_word<<<1, 32>>>(memory.data());
    const auto read = reinterpret_cast<decltype(&emulator_last_launch_counters)>(
        dlsym(RTLD_DEFAULT, "emulator_last_launch_counters"));
    emulator_counter counters[2] = {{nullptr, 0}, {nullptr, 99}};
    EXPECT_GT(read(counters, 1), 1u);
    EXPECT_NE(counters[0].name, nullptr);
    EXPECT_EQ(counters[1].value, 99u);
}

TEST(UnsupportedFunctionOnEmulator, says_its_name_once) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaDestroyTextureObject(0), cudaErrorNotSupported);
    EXPECT_EQ(cudaDestroySurfaceObject(0), cudaErrorNotSupported);
    EXPECT_EQ(cudaDestroyTextureObject(0), cudaErrorNotSupported);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorNotSupported) << "what was asked for is not there";
    EXPECT_CUDA(cudaDeviceReset());
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "emulator: cudaDestroyTextureObject is not supported by the emulator\n"
              "emulator: cudaDestroySurfaceObject is not supported by the emulator\n");
}

TEST(MessageOnEmulator, of_a_fault_names_the_kernel) {
    testing::internal::CaptureStderr();
    write_a_word<<<1, 1>>>(nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_THAT(message, HasSubstr("write_a_word"));
    EXPECT_EQ(message.rfind("emulator: ", 0), 0u);
}

TEST(MessageOnEmulator, of_too_much_shared_memory_says_what_to_do) {
    testing::internal::CaptureStderr();
    write_a_word<<<1, 1, 48 * 1024 + 1>>>(nullptr);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    const std::string message = testing::internal::GetCapturedStderr();
    EXPECT_THAT(message, HasSubstr("49153"));
    EXPECT_THAT(message, HasSubstr("cudaFuncAttributeMaxDynamicSharedMemorySize"));
}

/// How messages name the device of an allocation, if there are several.
std::string on_device_0() { return device_count() == 1 ? "" : " on device 0"; }

TEST(MessageOnEmulator, of_a_copy_out_of_range_names_the_allocation) {
    DeviceInts memory(32);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaMemset(memory.data(), 0, 129), cudaErrorInvalidValue);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("cudaMalloc #1" + on_device_0() + ", 128 bytes"));
}

TEST(MessageOnEmulator, of_a_copy_that_leaves_an_array_says_where) {
    const cudaArray_t array = array_of_ints(8, 4);
    int row[8] = {};
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaMemcpy2DToArray(array, 4, 3, row, sizeof row, sizeof row, 1, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "emulator: copy to an array of 32 bytes x 1 rows x 1 slices, from byte 4, row 3, slice 0 on, "
              "leaves it: cudaMallocArray #1" +
                  on_device_0() + " has 32 bytes x 4 rows x 1 slices\n");
    EXPECT_CUDA(cudaFreeArray(array));
}

TEST(MessageOnEmulator, of_an_array_that_is_not_supported_names_its_sort) {
    cudaArray_t array = nullptr;
    const auto ints = cudaCreateChannelDesc<int>();
    const cudaChannelFormatDesc normalized{8, 0, 0, 0, cudaChannelFormatKindUnsignedNormalized8X1};
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaMallocArray(&array, &ints, 8, 8, cudaArraySparse), cudaErrorNotSupported);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cudaArraySparse"));
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaMallocArray(&array, &normalized, 8, 8), cudaErrorNotSupported);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("normalized"));
    EXPECT_CUDA(cudaDeviceReset());
}
