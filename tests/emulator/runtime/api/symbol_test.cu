// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well.

#include "cuda_test.hpp"

#include <cstdint>
#include <fstream>
#include <string>

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

namespace {

constexpr const char* library_ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 summand = 40;
.visible .entry add(.param .u64 p)
{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [summand];
    add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret;
}
.visible .entry textured() { .reg .f32 %f<4>; .reg .b64 %rd<2>; .reg .b32 %r<2>;
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd1, {%r1}]; ret; }
)";

cudaLibrary_t loaded(const std::string& text) {
    cudaLibrary_t library = nullptr;
    EXPECT_CUDA(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    return library; // which has a copy
}

} // namespace

TEST(Library, has_kernels_and_variables) {
    const cudaLibrary_t library = loaded(library_ptx);
    cudaKernel_t kernel = nullptr, again = nullptr;
    ASSERT_CUDA(cudaLibraryGetKernel(&kernel, library, "add"));
    EXPECT_CUDA(cudaLibraryGetKernel(&again, library, "add"));
    EXPECT_EQ(kernel, again);
    DeviceInts out(1);
    int* pointer = out.data();
    void* arguments[] = {&pointer};
    const auto launch = [&] {
        EXPECT_CUDA(
            cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), arguments, 0, nullptr));
    };
    launch();
    EXPECT_EQ(out.copy_back()[0], 40);
    void* summand = nullptr;
    std::size_t bytes = 0;
    ASSERT_CUDA(cudaLibraryGetGlobal(&summand, &bytes, library, "summand"));
    EXPECT_EQ(bytes, 4u);
    EXPECT_CUDA(cudaMemset(summand, 0, bytes));
    launch();
    EXPECT_EQ(out.copy_back()[0], 40);
    EXPECT_CUDA(
        cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000, 0));
    unsigned int count = 0;
    EXPECT_CUDA(cudaLibraryGetKernelCount(&count, library));
    EXPECT_EQ(count, 2u);
    cudaKernel_t all[2] = {};
    EXPECT_CUDA(cudaLibraryEnumerateKernels(all, 2, library));
    EXPECT_TRUE(all[0] == kernel || all[1] == kernel);
    EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "no such"), cudaErrorSymbolNotFound);
    EXPECT_EQ(cudaLibraryGetGlobal(&summand, &bytes, library, "no such"), cudaErrorSymbolNotFound);
    EXPECT_CUDA(cudaLibraryUnload(library));
    (void)cudaGetLastError();
}

TEST(Library, has_managed_variables_too) {
    std::string text = library_ptx;
    text.replace(text.find(".align 4 .u32 summand"), 8, ".attribute(.managed) .align 4");
    const cudaLibrary_t library = loaded(text);
    int* summand = nullptr;
    std::size_t bytes = 0;
    ASSERT_CUDA(cudaLibraryGetManaged(reinterpret_cast<void**>(&summand), &bytes, library, "summand"));
    EXPECT_EQ(bytes, 4u);
    EXPECT_EQ(*summand, 40);
    cudaPointerAttributes about{};
    EXPECT_CUDA(cudaPointerGetAttributes(&about, summand));
    EXPECT_EQ(about.type, cudaMemoryTypeManaged);
    EXPECT_CUDA(cudaLibraryUnload(library));
    // A plain variable, maybe at the same place.
    const cudaLibrary_t plain = loaded(library_ptx);
    EXPECT_EQ(cudaLibraryGetManaged(reinterpret_cast<void**>(&summand), &bytes, plain, "summand"),
              cudaErrorSymbolNotFound);
    ASSERT_CUDA(cudaLibraryGetGlobal(reinterpret_cast<void**>(&summand), &bytes, plain, "summand"));
    EXPECT_CUDA(cudaPointerGetAttributes(&about, summand));
    EXPECT_EQ(about.type, cudaMemoryTypeDevice);
    EXPECT_CUDA(cudaLibraryUnload(plain));
    (void)cudaGetLastError();
}

TEST(Library, has_to_be_one) {
    cudaLibrary_t library = nullptr;
    EXPECT_EQ(cudaLibraryLoadData(&library, "not PTX", nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorInvalidPtx);
    EXPECT_EQ(cudaLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaLibraryLoadFromFile(&library, "/nowhere", nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorFileNotFound);
    (void)cudaGetLastError();
}

TEST(LibraryOnEmulator, may_be_a_file_that_was_cut_off) {
    const std::string file = testing::TempDir() + "cut_off.fatbin";
    const std::uint64_t cut_off[] = {0x0010'0001'BA55'ED50,
                                     1 << 30}; // header of 16 bytes, and a GiB that is not there
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(cut_off), sizeof cut_off);
    cudaLibrary_t library = nullptr;
    EXPECT_EQ(cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorInvalidKernelImage);
    (void)cudaGetLastError();
}
