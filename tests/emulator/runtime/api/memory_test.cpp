// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well.

#include "cuda_test.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t count = 1000, bytes = count * sizeof(int);

std::vector<int> numbers() {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
}

} // namespace

TEST(Memory, is_aligned_to_256_bytes_at_least) {
    for (const std::size_t size : {1, 3, 100, 4097}) {
        DeviceInts memory(size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 256, 0u);
    }
}

TEST(Memory, copies_there_and_back) {
    DeviceInts first(count), second(count);
    const auto sent = numbers();
    std::vector<int> received(count);
    EXPECT_CUDA(cudaMemcpy(first.data(), sent.data(), bytes, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemcpyAsync(second.data(), first.data(), bytes, cudaMemcpyDeviceToDevice));
    EXPECT_CUDA(cudaMemcpy(received.data(), second.data(), bytes, cudaMemcpyDefault));
    EXPECT_EQ(received, sent);
}

TEST(Memory, copies_between_host_buffers) {
    const auto sent = numbers();
    std::vector<int> received(count);
    EXPECT_CUDA(cudaMemcpy(received.data(), sent.data(), bytes, cudaMemcpyHostToHost));
    EXPECT_EQ(received, sent);
}

TEST(Memory, sets_bytes) {
    DeviceInts memory(count);
    EXPECT_CUDA(cudaMemset(memory.data(), 0x11, bytes));
    EXPECT_CUDA(cudaMemsetAsync(memory.data() + 1, 0, 4));
    EXPECT_EQ(memory.copy_back()[0], 0x11111111);
    EXPECT_EQ(memory.copy_back()[1], 0);
    EXPECT_EQ(memory.copy_back()[2], 0x11111111);
}

TEST(Memory, takes_copies_of_nothing) {
    EXPECT_CUDA(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemset(nullptr, 0, 0));
}

TEST(Memory, of_no_bytes_is_a_null_pointer) {
    int* pointer = reinterpret_cast<int*>(1);
    EXPECT_CUDA(cudaMalloc(&pointer, 0));
    EXPECT_EQ(pointer, nullptr);
    EXPECT_CUDA(cudaFree(nullptr));
    EXPECT_CUDA(cudaFreeHost(nullptr));
}

TEST(Memory, is_freed_once_and_by_its_own_call) {
    int *device = nullptr, *host = nullptr, local = 0;
    ASSERT_CUDA(cudaMalloc(&device, bytes));
    ASSERT_CUDA(cudaMallocHost(&host, bytes));
    EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(&local), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeHost(device), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaFree(device));
    EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaFreeHost(host));
}

TEST(Memory, refuses_null_pointers) {
    DeviceInts memory(count);
    EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(nullptr, memory.data(), bytes, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(memory.data(), nullptr, bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemset(nullptr, 0, 4), cudaErrorInvalidValue);
}

TEST(Memory, refuses_copies_past_its_end) {
    DeviceInts memory(count);
    std::vector<int> host(2 * count);
    EXPECT_EQ(cudaMemcpy(memory.data(), host.data(), bytes + 1, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(host.data(), memory.data() + 1, bytes, cudaMemcpyDeviceToHost),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemset(memory.data() + 1, 0, bytes), cudaErrorInvalidValue);
}

TEST(Memory, refuses_directions_that_contradict_the_pointers) {
    DeviceInts memory(count);
    auto host = numbers();
    EXPECT_EQ(cudaMemcpy(host.data(), memory.data(), bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(host.data(), host.data(), bytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(host.data(), host.data(), bytes, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(memory.data(), host.data(), bytes, static_cast<cudaMemcpyKind>(5)),
              cudaErrorInvalidMemcpyDirection);
}

TEST(Memory, refuses_to_set_host_memory) {
    auto host = numbers();
    EXPECT_EQ(cudaMemset(host.data(), 0, bytes), cudaErrorInvalidValue);
}

TEST(Memory, refuses_more_than_there_is) {
    int* pointer = nullptr;
    EXPECT_EQ(cudaMalloc(&pointer, std::size_t{1} << 50), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_CUDA(cudaMalloc(&pointer, 4)); // and goes on
    EXPECT_CUDA(cudaFree(pointer));
}

TEST(Memory, says_how_much_there_is) {
    std::size_t free_bytes = 0, total_bytes = 0;
    EXPECT_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    EXPECT_GT(free_bytes, 0u);
    EXPECT_GE(total_bytes, free_bytes);
}

TEST(Memory, copies_rectangles) {
    constexpr std::size_t width = 10, height = 3; // ints
    char* device = nullptr;
    std::size_t pitch = 0;
    ASSERT_CUDA(cudaMallocPitch(&device, &pitch, width * sizeof(int), height));
    EXPECT_EQ(pitch % 256, 0u);
    EXPECT_GE(pitch, width * sizeof(int));

    std::vector<int> sent(width * height), received(width * height);
    std::iota(sent.begin(), sent.end(), 1);
    const std::size_t row = width * sizeof(int);
    EXPECT_CUDA(cudaMemcpy2D(device, pitch, sent.data(), row, row, height, cudaMemcpyHostToDevice));
    // First column, all rows but one.
    EXPECT_CUDA(cudaMemset2D(device + pitch, pitch, 0, sizeof(int), height - 1));
    EXPECT_CUDA(cudaMemcpy2D(received.data(), row, device, pitch, row, height, cudaMemcpyDeviceToHost));
    sent[width] = sent[2 * width] = 0;
    EXPECT_EQ(received, sent);

    EXPECT_EQ(cudaMemcpy2D(received.data(), row - 1, device, pitch, row, height, cudaMemcpyDeviceToHost),
              cudaErrorInvalidPitchValue);
    EXPECT_CUDA(cudaFree(device));
}

TEST(Memory, tells_what_a_pointer_is) {
    int *device = nullptr, *managed = nullptr, *pinned = nullptr, local = 0;
    ASSERT_CUDA(cudaMalloc(&device, bytes));
    ASSERT_CUDA(cudaMallocManaged(&managed, bytes));
    ASSERT_CUDA(cudaMallocHost(&pinned, bytes));
    cudaPointerAttributes attributes{};

    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, device + 5));
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    EXPECT_EQ(attributes.devicePointer, device + 5);
    EXPECT_EQ(attributes.hostPointer, nullptr);

    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, managed));
    EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
    EXPECT_EQ(attributes.devicePointer, managed);
    EXPECT_EQ(attributes.hostPointer, managed);

    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(attributes.hostPointer, pinned);

    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, &local));
    EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);

    EXPECT_CUDA(cudaFree(device));
    EXPECT_CUDA(cudaFree(managed));
    EXPECT_CUDA(cudaFreeHost(pinned));
}

TEST(Memory, managed_is_the_hosts_too) {
    int* managed = nullptr;
    ASSERT_CUDA(cudaMallocManaged(&managed, bytes));
    std::fill_n(managed, count, 7);
    DeviceInts device(count);
    EXPECT_CUDA(cudaMemcpy(device.data(), managed, bytes, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemcpy(device.data(), managed, bytes, cudaMemcpyDeviceToDevice));
    EXPECT_EQ(device.copy_back(), std::vector<int>(count, 7));
    EXPECT_CUDA(cudaFree(managed));
    EXPECT_CUDA(cudaMallocManaged(&managed, 0));
    EXPECT_EQ(cudaMallocManaged(&managed, 4, 0), cudaErrorInvalidValue);
}

TEST(Memory, of_the_host_can_be_registered) {
    constexpr std::size_t page = 4096;
    void* host = std::aligned_alloc(page, page);
    EXPECT_CUDA(cudaHostRegister(host, page, cudaHostRegisterDefault));
    EXPECT_EQ(cudaHostRegister(host, page, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
    void* device = nullptr;
    EXPECT_CUDA(cudaHostGetDevicePointer(&device, host, 0));
    EXPECT_EQ(device, host);
    EXPECT_CUDA(cudaHostUnregister(host));
    EXPECT_EQ(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
    std::free(host);
}

TEST(Memory, in_three_dimensions_is_set_and_copied) {
    // 5 x 4 x 3 bytes, of which the middle is copied: 3 x 2 x 2 from (1, 1, 1) on.
    cudaPitchedPtr memory{};
    const cudaExtent whole = make_cudaExtent(5, 4, 3);
    ASSERT_CUDA(cudaMalloc3D(&memory, whole));
    EXPECT_GE(memory.pitch, 5u);
    EXPECT_EQ(memory.xsize, 5u);
    EXPECT_EQ(memory.ysize, 4u);
    EXPECT_CUDA(cudaMemset3D(memory, 7, whole));
    unsigned char source[3][4][5];
    for (int i = 0; i < 60; ++i) (&source[0][0][0])[i] = static_cast<unsigned char>(i + 100);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(source, 5, 5, 4);
    copy.srcPos = copy.dstPos = make_cudaPos(1, 1, 1);
    copy.dstPtr = memory;
    copy.extent = make_cudaExtent(3, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_CUDA(cudaMemcpy3D(&copy));
    unsigned char result[3][4][5] = {};
    cudaMemcpy3DParms back{};
    back.srcPtr = memory;
    back.dstPtr = make_cudaPitchedPtr(result, 5, 5, 4);
    back.extent = whole;
    back.kind = cudaMemcpyDeviceToHost;
    EXPECT_CUDA(cudaMemcpy3DAsync(&back, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    for (int z = 0; z < 3; ++z)
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 5; ++x) {
                const bool is_middle = x >= 1 && x < 4 && y >= 1 && y < 3 && z >= 1;
                EXPECT_EQ(result[z][y][x], is_middle ? source[z][y][x] : 7) << x << ' ' << y << ' ' << z;
            }
    EXPECT_CUDA(cudaFree(memory.ptr));
}

TEST(Memory, refuses_more_than_there_is_in_every_way_of_asking) {
    constexpr std::size_t too_much = std::size_t{1} << 50;
    void* pointer = nullptr;
    std::size_t pitch = 0;
    cudaPitchedPtr pitched{};
    EXPECT_EQ(cudaMallocManaged(&pointer, too_much), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaMallocHost(&pointer, too_much), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaMallocAsync(&pointer, too_much, nullptr), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaMallocPitch(&pointer, &pitch, std::size_t{1} << 25, std::size_t{1} << 25),
              cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaMalloc3D(&pitched, make_cudaExtent(std::size_t{1} << 20, 1 << 15, 1 << 15)),
              cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_CUDA(cudaGetLastError()); // reported once: the device goes on
    EXPECT_CUDA(cudaMalloc(&pointer, 64));
    EXPECT_CUDA(cudaFree(pointer));
}
