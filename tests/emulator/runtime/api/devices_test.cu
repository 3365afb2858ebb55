// Several devices. An ordinary CUDA program: it knows nothing of the emulator, and runs on a machine with two GPUs
// as well, where they can access each other's memory.

#include "cuda_test.hpp"

#include <cstring>
#include <set>
#include <thread>

namespace {

__global__ void add_to_all(int* values, int n, int summand) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) values[i] += summand;
}

__device__ int per_device = 5;
__managed__ int for_all = 7;

__global__ void change_variables(int summand) {
    per_device += summand;
    for_all += summand;
}

__global__ void pass_through_heap(int** out) {
    if (!out[0]) {
        out[0] = new int(static_cast<int>(threadIdx.x) + 42);
        return;
    }
    *out[1] = *out[0];
    delete out[0];
}

/// Two devices, without peer access, and device 0 is current.
class Devices : public testing::Test {
protected:
    void SetUp() override {
        int count = 0;
        ASSERT_CUDA(cudaGetDeviceCount(&count));
        if (count < 2) GTEST_SKIP() << "needs two devices";
        ASSERT_CUDA(cudaSetDevice(0));
    }
};

int current() {
    int device = -1;
    EXPECT_CUDA(cudaGetDevice(&device));
    return device;
}

template <class T> T* allocate_on(int device, std::size_t count) {
    T* memory = nullptr;
    const int before = current();
    EXPECT_CUDA(cudaSetDevice(device));
    EXPECT_CUDA(cudaMalloc(&memory, count * sizeof(T)));
    EXPECT_CUDA(cudaMemset(memory, 0, count * sizeof(T)));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaSetDevice(before));
    return memory;
}

int read(const int* value) {
    int result = -1;
    EXPECT_CUDA(cudaMemcpy(&result, value, sizeof result, cudaMemcpyDefault));
    return result;
}

} // namespace

TEST_F(Devices, are_current_for_each_host_thread) {
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_EQ(current(), 1);
    std::thread([] {
        EXPECT_EQ(current(), 0) << "a thread begins with device 0";
        EXPECT_CUDA(cudaSetDevice(1));
        EXPECT_CUDA(cudaSetDevice(0));
    }).join();
    EXPECT_EQ(current(), 1) << "another thread's device is its own";
}

TEST_F(Devices, are_told_apart) {
    int count = 0;
    EXPECT_CUDA(cudaGetDeviceCount(&count));
    std::set<std::string> ids, places;
    for (int device = 0; device < count; ++device) {
        cudaDeviceProp properties{};
        EXPECT_CUDA(cudaGetDeviceProperties(&properties, device));
        ids.insert(std::string(properties.uuid.bytes, sizeof properties.uuid.bytes));
        char place[32] = {};
        EXPECT_CUDA(cudaDeviceGetPCIBusId(place, sizeof place, device));
        places.insert(place);
        int found = -1;
        EXPECT_CUDA(cudaDeviceGetByPCIBusId(&found, place));
        EXPECT_EQ(found, device);
    }
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(places.size(), static_cast<std::size_t>(count));
    int none = -1;
    EXPECT_EQ(cudaDeviceGetByPCIBusId(&none, "0000:ff:1f.7"), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
    cudaGetLastError();
}

TEST_F(Devices, have_memory_of_their_own) {
    for (const int device : {0, 1}) {
        int* const memory = allocate_on<int>(device, 16);
        cudaPointerAttributes attributes{};
        EXPECT_CUDA(cudaPointerGetAttributes(&attributes, memory + 3));
        EXPECT_EQ(attributes.device, device);
        EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
        EXPECT_CUDA(cudaFree(memory)) << "whichever device is current";
    }
    void* pinned = nullptr;
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaMallocHost(&pinned, 16));
    cudaPointerAttributes attributes{};
    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(attributes.device, 1) << "that was current";
    EXPECT_CUDA(cudaFreeHost(pinned));
}

TEST_F(Devices, have_no_more_memory_than_they_say) {
    std::size_t free_bytes = 0, total = 0;
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaMemGetInfo(&free_bytes, &total));
    EXPECT_LE(free_bytes, total);
    void* too_much = nullptr;
    EXPECT_EQ(cudaMalloc(&too_much, total + 1), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    cudaDeviceProp properties{};
    EXPECT_CUDA(cudaGetDeviceProperties(&properties, 1));
    EXPECT_EQ(properties.totalGlobalMem, total);
}

TEST_F(Devices, run_kernels_on_their_own_memory_and_on_the_hosts) {
    int* managed = nullptr;
    int* pinned = nullptr;
    EXPECT_CUDA(cudaMallocManaged(&managed, sizeof(int)));
    EXPECT_CUDA(cudaMallocHost(&pinned, sizeof(int)));
    *managed = *pinned = 0;
    for (const int device : {0, 1}) {
        EXPECT_CUDA(cudaSetDevice(device));
        int* const own = allocate_on<int>(device, 1);
        for (int* const values : {own, managed, pinned}) add_to_all<<<1, 32>>>(values, 1, 10 + device);
        EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_EQ(read(own), 10 + device);
        EXPECT_CUDA(cudaFree(own));
    }
    EXPECT_EQ(*managed, 21);
    EXPECT_EQ(*pinned, 21);
    EXPECT_CUDA(cudaFree(managed));
    EXPECT_CUDA(cudaFreeHost(pinned));
}

TEST_F(Devices, have_variables_of_their_own_but_for_managed_ones) {
    const int before = for_all;
    for (const int device : {0, 1}) {
        EXPECT_CUDA(cudaSetDevice(device));
        change_variables<<<1, 1>>>(100 * (device + 1));
        EXPECT_CUDA(cudaDeviceSynchronize());
    }
    EXPECT_EQ(for_all, before + 300);
    std::set<void*> places;
    for (const int device : {0, 1}) {
        EXPECT_CUDA(cudaSetDevice(device));
        int value = 0;
        EXPECT_CUDA(cudaMemcpyFromSymbol(&value, per_device, sizeof value));
        EXPECT_EQ(value, 5 + 100 * (device + 1));
        void* place = nullptr;
        EXPECT_CUDA(cudaGetSymbolAddress(&place, per_device));
        places.insert(place);
        cudaPointerAttributes attributes{};
        EXPECT_CUDA(cudaPointerGetAttributes(&attributes, place));
        EXPECT_EQ(attributes.device, device);
    }
    EXPECT_EQ(places.size(), 2u);
}

TEST_F(Devices, have_heaps_of_their_own) {
    for (const int device : {0, 1}) {
        EXPECT_CUDA(cudaSetDevice(device));
        auto** const out = allocate_on<int*>(device, 2);
        int* const value = allocate_on<int>(device, 1);
        EXPECT_CUDA(cudaMemcpy(out + 1, &value, sizeof value, cudaMemcpyHostToDevice));
        pass_through_heap<<<1, 1>>>(out);
        pass_through_heap<<<1, 1>>>(out);
        EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_EQ(read(value), 42);
        EXPECT_CUDA(cudaFree(value));
        EXPECT_CUDA(cudaFree(out));
    }
}

// An H200 with CUDA 13.0 runs the kernel on the stream's device. The programming guide says that the launch fails.
using DevicesOnEmulator = Devices;
TEST_F(DevicesOnEmulator, refuse_a_kernel_in_a_stream_of_another_device) {
    cudaStream_t stream = nullptr;
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaStreamCreate(&stream));
    EXPECT_CUDA(cudaSetDevice(0));
    int* const memory = allocate_on<int>(0, 4);
    add_to_all<<<1, 32, 0, stream>>>(memory, 4, 1);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    EXPECT_CUDA(cudaStreamDestroy(stream));
    EXPECT_CUDA(cudaFree(memory));
}

// The rules are those of the programming guide, "Multi-Device System".
TEST_F(Devices, own_streams_and_events) {
    cudaStream_t streams[2];
    cudaEvent_t events[2];
    for (const int device : {0, 1}) {
        EXPECT_CUDA(cudaSetDevice(device));
        EXPECT_CUDA(cudaStreamCreate(&streams[device]));
        EXPECT_CUDA(cudaEventCreate(&events[device]));
    }
    EXPECT_CUDA(cudaSetDevice(0));
    int* const first = allocate_on<int>(0, 4);
    int* const second = allocate_on<int>(1, 4);
    int device = -1;
    EXPECT_CUDA(cudaStreamGetDevice(streams[1], &device));
    EXPECT_EQ(device, 1);
    EXPECT_CUDA(cudaStreamGetDevice(nullptr, &device));
    EXPECT_EQ(device, 0) << "the default stream of the current device";

    EXPECT_CUDA(cudaMemcpyAsync(second, first, 4, cudaMemcpyDeviceToDevice, streams[1])) << "a copy may";
    EXPECT_EQ(cudaEventRecord(events[0], streams[1]), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventRecord(events[1], nullptr), cudaErrorInvalidResourceHandle);
    EXPECT_CUDA(cudaEventRecord(events[1], streams[1]));
    EXPECT_CUDA(cudaEventRecord(events[0], streams[0]));
    EXPECT_CUDA(cudaStreamWaitEvent(streams[0], events[1], 0));
    EXPECT_CUDA(cudaEventSynchronize(events[1]));
    EXPECT_CUDA(cudaEventQuery(events[1]));
    EXPECT_CUDA(cudaStreamSynchronize(streams[1]));
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, events[0], events[1]), cudaErrorInvalidResourceHandle);
    for (const int each : {0, 1}) {
        EXPECT_CUDA(cudaStreamDestroy(streams[each]));
        EXPECT_CUDA(cudaEventDestroy(events[each]));
    }
    EXPECT_CUDA(cudaFree(first));
    EXPECT_CUDA(cudaFree(second));
    cudaGetLastError();
}

TEST_F(Devices, enable_access_to_their_peers) {
    int can_access = 0;
    EXPECT_CUDA(cudaDeviceCanAccessPeer(&can_access, 0, 1));
    if (can_access == 0) GTEST_SKIP() << "these two devices are no peers";
    EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue) << "no flags";
    int* const before = allocate_on<int>(1, 8);
    cudaPointerAttributes attributes{};
    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, before));
    EXPECT_EQ(attributes.device, 1);
    EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    EXPECT_CUDA(cudaPointerGetAttributes(&attributes, before));
    EXPECT_EQ(attributes.devicePointer, before);
    int* const after = allocate_on<int>(1, 8);
    for (int* const values : {before, after}) {
        add_to_all<<<1, 32>>>(values, 8, 3);
        EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_EQ(read(values + 7), 3);
        EXPECT_CUDA(cudaFree(values));
    }
    EXPECT_CUDA(cudaDeviceDisablePeerAccess(1));
    cudaGetLastError();
}

TEST_F(Devices, copy_from_one_to_another_with_access_and_without) {
    const int input[2] = {3, 4};
    int* const first = allocate_on<int>(0, 2);
    int* const second = allocate_on<int>(1, 2);
    EXPECT_CUDA(cudaMemcpy(first, input, sizeof input, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemcpyPeer(second, 1, first, 0, sizeof input));
    EXPECT_EQ(read(second + 1), 4);
    add_to_all<<<1, 32>>>(first, 2, 1);
    EXPECT_CUDA(cudaMemcpyPeerAsync(second, 1, first, 0, sizeof input, nullptr));
    EXPECT_EQ(read(second + 1), 5);
    add_to_all<<<1, 32>>>(first, 2, 1);
    EXPECT_CUDA(cudaMemcpy(second, first, sizeof input, cudaMemcpyDefault));
    EXPECT_EQ(read(second + 1), 6);
    EXPECT_EQ(cudaMemcpyPeer(second, 1000, first, 0, sizeof input), cudaErrorInvalidDevice);
    EXPECT_CUDA(cudaFree(first));
    EXPECT_CUDA(cudaFree(second));
    cudaGetLastError();
}

TEST_F(Devices, have_pools_whose_access_is_enabled_apart) {
    cudaMemPool_t pools[2];
    for (const int device : {0, 1}) EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&pools[device], device));
    EXPECT_NE(pools[0], pools[1]);
    cudaMemLocation zero{};
    zero.type = cudaMemLocationTypeDevice;
    zero.id = 0;
    cudaMemAccessFlags flags = cudaMemAccessFlagsProtReadWrite;
    EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pools[1], &zero));
    EXPECT_EQ(flags, cudaMemAccessFlagsProtNone);

    int* memory = nullptr;
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaMallocAsync(&memory, sizeof(int), nullptr));
    EXPECT_CUDA(cudaMemset(memory, 0, sizeof(int)));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaSetDevice(0));
    cudaMemAccessDesc access{};
    access.location = zero;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    EXPECT_CUDA(cudaMemPoolSetAccess(pools[1], &access, 1));
    EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pools[1], &zero));
    EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
    add_to_all<<<1, 32>>>(memory, 1, 9);
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(read(memory), 9);
    access.flags = cudaMemAccessFlagsProtNone;
    EXPECT_CUDA(cudaMemPoolSetAccess(pools[1], &access, 1));
    EXPECT_CUDA(cudaFree(memory));
}

TEST_F(Devices, are_reset_one_by_one) {
    int* const kept = allocate_on<int>(0, 1);
    int* const ended = allocate_on<int>(1, 1);
    cudaStream_t stream;
    EXPECT_CUDA(cudaStreamCreate(&stream));
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaDeviceReset());
    EXPECT_EQ(cudaFree(ended), cudaErrorInvalidValue);
    cudaGetLastError();
    EXPECT_CUDA(cudaSetDevice(0));
    add_to_all<<<1, 32, 0, stream>>>(kept, 1, 2);
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(read(kept), 2);
    EXPECT_CUDA(cudaStreamDestroy(stream));
    EXPECT_CUDA(cudaFree(kept));
}

// A fault is for ever: each of these runs in a process of its own.
TEST_F(Devices, fault_at_a_peers_memory_without_access) {
    int* const theirs = allocate_on<int>(1, 1);
    add_to_all<<<1, 32>>>(theirs, 1, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_CUDA(cudaDeviceReset());
}

TEST_F(Devices, fault_again_once_access_is_disabled) {
    int* const theirs = allocate_on<int>(1, 1);
    EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_CUDA(cudaDeviceDisablePeerAccess(1));
    add_to_all<<<1, 32>>>(theirs, 1, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_CUDA(cudaDeviceReset());
}

TEST_F(Devices, fault_at_a_peers_pool_whatever_peer_access_says) {
    int* theirs = nullptr;
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaMallocAsync(&theirs, sizeof(int), nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaSetDevice(0));
    EXPECT_CUDA(cudaDeviceEnablePeerAccess(1, 0));
    add_to_all<<<1, 32>>>(theirs, 1, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_CUDA(cudaDeviceReset());
}
