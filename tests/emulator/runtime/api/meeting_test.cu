// Kernels that wait for each other while both run. An ordinary CUDA program, which also runs on a machine with two
// GPUs that can access each other's memory. It has no managed variable: without memory that the host can store to,
// the emulator runs kernels in calls only.

#include "cuda_test.hpp"

#include <cuda/atomic>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Tells the peer, and waits for it.
__device__ void meet(volatile int* own_flag, volatile int* peers_flag) {
    __syncthreads(); // all of the block have stored what the peer is to load
    if (threadIdx.x == 0) {
        __threadfence_system();
        *peers_flag = 1;
        while (*own_flag == 0) {
        }
        __threadfence_system();
    }
    __syncthreads();
}

/// Adds the peer's values to its own ones. Between two meetings nobody stores.
__global__ void all_reduce(int* own, const int* peers, int n, volatile int* own_flags,
                           volatile int* peers_flags) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    meet(own_flags + 2 * blockIdx.x, peers_flags + 2 * blockIdx.x);
    const int sum = i < n ? own[i] + peers[i] : 0;
    meet(own_flags + 2 * blockIdx.x + 1, peers_flags + 2 * blockIdx.x + 1);
    if (i < n) own[i] = sum;
}

/// The same by the operations that release and acquire.
__global__ void exchange(int* own, int value, int* own_flag, int* peers, int* peers_flag) {
    *peers = value;
    cuda::atomic_ref<int, cuda::thread_scope_system>(*peers_flag).store(1, cuda::memory_order_release);
    const cuda::atomic_ref<int, cuda::thread_scope_system> flag(*own_flag);
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    *own += 100;
}

__global__ void wait_for(volatile int* flag, int* out) {
    while (*flag == 0) {
    }
    __threadfence();
    *out += 1;
}
__global__ void set(volatile int* flag, int* out) {
    *out = 41;
    __threadfence();
    *flag = 1;
}

/// By an atomic that changes nothing until it may, and with a counter of its turns.
__global__ void lock_and_count(int* lock, int* turns) {
    int n = 0;
    while (atomicCAS(lock, 1, 2) != 1) ++n;
    *turns = n;
}
__global__ void unlock(int* lock) { atomicExch(lock, 1); }

/// Ints on a device, all 0.
class Ints {
public:
    explicit Ints(int device, std::size_t count = 1) : count_(count) {
        EXPECT_CUDA(cudaSetDevice(device));
        EXPECT_CUDA(cudaMalloc(&first_, count * sizeof(int)));
        EXPECT_CUDA(cudaMemset(first_, 0, count * sizeof(int)));
        EXPECT_CUDA(cudaDeviceSynchronize());
    }
    Ints(const Ints&) = delete;
    Ints& operator=(const Ints&) = delete;
    ~Ints() { EXPECT_CUDA(cudaFree(first_)); }

    operator int*() const { return first_; }
    std::vector<int> values() const {
        std::vector<int> values(count_);
        EXPECT_CUDA(cudaMemcpy(values.data(), first_, count_ * sizeof(int), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    std::size_t count_;
    int* first_ = nullptr;
};

struct Stream {
    Stream() { EXPECT_CUDA(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { EXPECT_CUDA(cudaStreamDestroy(handle)); }
    operator cudaStream_t() const { return handle; }
    cudaStream_t handle = nullptr;
};

/// Two devices that access each other's memory.
class Meeting : public testing::Test {
protected:
    void SetUp() override {
        int count = 0;
        ASSERT_CUDA(cudaGetDeviceCount(&count));
        if (count < 2) GTEST_SKIP() << "needs two devices";
        for (const int device : {1, 0}) {
            ASSERT_CUDA(cudaSetDevice(device));
            ASSERT_CUDA(cudaDeviceEnablePeerAccess(1 - device, 0));
        }
    }
    void TearDown() override {
        for (const int device : {1, 0}) {
            EXPECT_CUDA(cudaSetDevice(device));
            EXPECT_CUDA(cudaDeviceReset());
        }
    }
};

constexpr int threads = 64, blocks = 5, n = threads * blocks - 3;

void launch_all_reduce(int device, const Ints (&values)[2], const Ints (&flags)[2]) {
    EXPECT_CUDA(cudaSetDevice(device));
    all_reduce<<<blocks, threads>>>(values[device], values[1 - device], n, flags[device], flags[1 - device]);
    EXPECT_CUDA(cudaGetLastError());
}

void fill(const Ints (&values)[2]) {
    for (const int device : {0, 1}) {
        std::vector<int> own(n);
        for (int i = 0; i < n; ++i) own[static_cast<std::size_t>(i)] = (device + 1) * 1000 + i;
        EXPECT_CUDA(cudaMemcpy(values[device], own.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    }
}
std::vector<int> sums() {
    std::vector<int> all(n);
    for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = 3000 + 2 * i;
    return all;
}

TEST_F(Meeting, of_kernels_on_two_devices) {
    const Ints values[2]{Ints(0, n), Ints(1, n)}, flags[2]{Ints(0, 2 * blocks), Ints(1, 2 * blocks)};
    fill(values);
    launch_all_reduce(0, values, flags);
    launch_all_reduce(1, values, flags);
    for (const int device : {1, 0}) {
        EXPECT_CUDA(cudaSetDevice(device));
        EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_EQ(values[device].values(), sums()) << device;
    }
}

TEST_F(Meeting, of_kernels_that_release_and_acquire) {
    const Ints data[2]{Ints(0), Ints(1)}, flags[2]{Ints(0), Ints(1)};
    for (const int device : {1, 0}) {
        EXPECT_CUDA(cudaSetDevice(device));
        exchange<<<1, 1>>>(data[device], 7 + device, flags[device], data[1 - device], flags[1 - device]);
    }
    EXPECT_EQ(data[0].values(), std::vector{108});
    EXPECT_EQ(data[1].values(), std::vector{107});
}

// The first waits for its device, probably before the other launches.
TEST_F(Meeting, of_kernels_that_two_host_threads_launch) {
    const Ints values[2]{Ints(0, n), Ints(1, n)}, flags[2]{Ints(0, 2 * blocks), Ints(1, 2 * blocks)};
    fill(values);
    const auto run = [&](int device) {
        launch_all_reduce(device, values, flags);
        EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_EQ(values[device].values(), sums()) << device;
    };
    std::thread first([&] { run(0); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    run(1);
    first.join();
}

// The first waits for its stream, or for an event: the other one's launch does not come after that.
TEST_F(Meeting, of_kernels_in_streams_of_two_host_threads) {
    for (const bool by_event : {false, true}) {
        const Ints data[2]{Ints(0), Ints(1)}, flags[2]{Ints(0), Ints(1)};
        const auto run = [&](int device) {
            EXPECT_CUDA(cudaSetDevice(device));
            const Stream stream;
            cudaEvent_t event = nullptr;
            EXPECT_CUDA(cudaEventCreate(&event));
            exchange<<<1, 1, 0, stream>>>(data[device], 7 + device, flags[device], data[1 - device],
                                          flags[1 - device]);
            EXPECT_CUDA(cudaEventRecord(event, stream));
            EXPECT_CUDA(by_event ? cudaEventSynchronize(event) : cudaStreamSynchronize(stream));
            EXPECT_CUDA(cudaEventDestroy(event));
        };
        std::thread first([&] { run(0); });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        run(1);
        first.join();
        EXPECT_EQ(data[0].values(), std::vector{108});
        EXPECT_EQ(data[1].values(), std::vector{107});
    }
}

TEST_F(Meeting, with_pinned_memory_that_the_host_could_store_to) {
    int* pinned = nullptr;
    ASSERT_CUDA(cudaMallocHost(&pinned, n * sizeof(int)));
    const Ints values[2]{Ints(0, n), Ints(1, n)}, flags[2]{Ints(0, 2 * blocks), Ints(1, 2 * blocks)};
    fill(values);
    const Stream stream;
    launch_all_reduce(0, values, flags);
    launch_all_reduce(1, values, flags);
    EXPECT_CUDA(cudaMemcpyAsync(pinned, values[1], n * sizeof(int), cudaMemcpyDeviceToHost, nullptr));
    EXPECT_CUDA(cudaStreamSynchronize(nullptr));
    EXPECT_EQ(std::vector<int>(pinned, pinned + n), sums());
    EXPECT_CUDA(cudaFreeHost(pinned));
}

TEST_F(Meeting, of_kernels_in_streams_of_one_device) {
    const Ints flag(0), out(0);
    const Stream waits, sets;
    wait_for<<<1, 32, 0, waits>>>(flag, out);
    set<<<1, 1, 0, sets>>>(flag, out);
    EXPECT_CUDA(cudaStreamSynchronize(waits));
    EXPECT_EQ(out.values().front(), 42);
}

// What comes after a waiting kernel in its stream, or by an event, waits too.
TEST_F(Meeting, keeps_the_order_of_the_streams) {
    const Ints flag(0), out(0), copied(0), later(0);
    const Stream waits, sets, other;
    cudaEvent_t event = nullptr;
    EXPECT_CUDA(cudaEventCreate(&event));
    wait_for<<<1, 1, 0, waits>>>(flag, out);
    EXPECT_CUDA(cudaMemcpyAsync(copied, out, sizeof(int), cudaMemcpyDeviceToDevice, waits));
    EXPECT_CUDA(cudaEventRecord(event, waits));
    EXPECT_CUDA(cudaStreamWaitEvent(other, event, 0));
    EXPECT_CUDA(cudaMemcpyAsync(later, copied, sizeof(int), cudaMemcpyDeviceToDevice, other));
    EXPECT_EQ(cudaStreamQuery(waits), cudaErrorNotReady);
    EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
    EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
    EXPECT_CUDA(cudaStreamQuery(sets));
    set<<<1, 1, 0, sets>>>(flag, out);
    EXPECT_CUDA(cudaEventSynchronize(event));
    EXPECT_EQ(copied.values().front(), 42);
    EXPECT_CUDA(cudaStreamSynchronize(other));
    EXPECT_EQ(later.values().front(), 42);
    EXPECT_CUDA(cudaEventDestroy(event));
}

// The host waits for device 0 while device 1 waits for what the host has not launched yet.
TEST_F(Meeting, is_not_hurried_by_a_wait_for_the_other_device) {
    const Ints flag(1), out(1), own(0), own_flag(0);
    EXPECT_CUDA(cudaSetDevice(1));
    wait_for<<<1, 1>>>(flag, out);
    EXPECT_CUDA(cudaSetDevice(0));
    set<<<1, 1>>>(own_flag, own);
    int* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, sizeof(int)));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(own.values().front(), 41);
    set<<<1, 1>>>(flag, out);
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(out.values().front(), 42);
    EXPECT_CUDA(cudaFree(memory));
}

// One graph with a kernel for each device, captured from a stream of each.
TEST_F(Meeting, of_kernels_in_a_graph) {
    const Ints data[2]{Ints(0), Ints(1)}, flags[2]{Ints(0), Ints(1)}, copied(0);
    EXPECT_CUDA(cudaSetDevice(1));
    const Stream second;
    cudaEvent_t begun = nullptr, ended = nullptr;
    EXPECT_CUDA(cudaEventCreateWithFlags(&ended, cudaEventDisableTiming));
    EXPECT_CUDA(cudaSetDevice(0));
    const Stream first;
    EXPECT_CUDA(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
    EXPECT_CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaEventRecord(begun, first));
    EXPECT_CUDA(cudaStreamWaitEvent(second, begun, 0));
    exchange<<<1, 1, 0, first>>>(data[0], 7, flags[0], data[1], flags[1]);
    EXPECT_CUDA(cudaSetDevice(1));
    exchange<<<1, 1, 0, second>>>(data[1], 8, flags[1], data[0], flags[0]);
    EXPECT_CUDA(cudaEventRecord(ended, second));
    EXPECT_CUDA(cudaSetDevice(0));
    EXPECT_CUDA(cudaStreamWaitEvent(first, ended, 0));
    EXPECT_CUDA(cudaMemcpyAsync(copied, data[0], sizeof(int), cudaMemcpyDeviceToDevice, first));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaStreamEndCapture(first, &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_CUDA(cudaGraphLaunch(exec, first));
    EXPECT_CUDA(cudaStreamSynchronize(first));
    EXPECT_EQ(copied.values().front(), 108);
    EXPECT_EQ(data[1].values().front(), 107);
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaEventDestroy(begun));
    EXPECT_CUDA(cudaEventDestroy(ended));
}

// It does not look as if it did nothing, since it counts.
TEST_F(Meeting, of_a_kernel_that_counts_while_it_waits) {
    const Ints lock(0), turns(0);
    const Stream waits, sets;
    lock_and_count<<<1, 1, 0, waits>>>(lock, turns);
    unlock<<<1, 1, 0, sets>>>(lock);
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(lock.values().front(), 2);
    EXPECT_GT(turns.values().front(), 0);
}

// The program is wrong, and the emulator must not crash.
TEST_F(Meeting, in_memory_that_is_freed_meanwhile_fails_OnEmulator) {
    int* memory = nullptr;
    cudaStream_t other = nullptr; // the reset destroys it
    ASSERT_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    ASSERT_CUDA(cudaMallocAsync(&memory, 2 * sizeof(int), nullptr));
    ASSERT_CUDA(cudaMemset(memory, 0, 2 * sizeof(int)));
    ASSERT_CUDA(cudaDeviceSynchronize());
    wait_for<<<1, 1>>>(memory, memory + 1);
    EXPECT_CUDA(cudaFreeAsync(memory, other));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_CUDA(cudaDeviceReset());
}

// On a card this hangs.
TEST_F(Meeting, that_cannot_be_fails_OnEmulator) {
    int* memory = nullptr; // the reset frees it
    ASSERT_CUDA(cudaMalloc(&memory, 2 * sizeof(int)));
    ASSERT_CUDA(cudaMemset(memory, 0, 2 * sizeof(int)));
    wait_for<<<2, 64>>>(memory, memory + 1);
    EXPECT_CUDA(cudaGetLastError());
    testing::internal::CaptureStderr();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    const std::string reported = testing::internal::GetCapturedStderr();
    EXPECT_NE(reported.find("wait_for(int volatile*, int*) in the default stream would wait forever:\n"
                            "emulator:     thread (0,0,0) of block (0,0,0) at "),
              std::string::npos)
        << reported;
    set<<<1, 1>>>(memory, memory + 1); // too late
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    EXPECT_CUDA(cudaDeviceReset()); // the kernel is gone
    EXPECT_CUDA(cudaDeviceSynchronize());
}

} // namespace
