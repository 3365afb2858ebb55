// Two devices that use each other's memory.
#include "../programs.hpp"

#include <cuda/atomic>

namespace {

constexpr int threads = 256;

/// Ints on a device, all 0, freed at the end of the scope. Both devices may access them.
class Ints {
public:
    Ints(int device, int count) {
        cudaSetDevice(1 - device);
        cudaDeviceEnablePeerAccess(device, 0);
        cudaSetDevice(device);
        cudaMalloc(&first_, count * sizeof(int));
        cudaMemset(first_, 0, count * sizeof(int));
        cudaDeviceSynchronize();
        cudaGetLastError(); // access was enabled already
    }
    Ints(const Ints&) = delete;
    Ints& operator=(const Ints&) = delete;
    ~Ints() {
        for (const int device : {1, 0}) {
            cudaSetDevice(device);
            cudaDeviceSynchronize();
        }
        failed_to_free |= cudaFree(first_) != cudaSuccess;
    }

    operator int*() const { return first_; }

private:
    int* first_ = nullptr;
};

/// Launches one kernel on device 0 and one on device 1, and nothing orders the two.
template <class First, class Second> void launch_on_both(First first, Second second) {
    cudaSetDevice(0);
    first();
    cudaSetDevice(1);
    second();
}

} // namespace

// ---- devices_missing_event ----------------------------------------------------------------------
// Device 1 reads what device 0 still writes: each has its own default stream.
// options: --devices 2
__global__ void write_own(int* out) { out[threadIdx.x] = 1; }
__global__ void read_peers(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x]; // expect: race, read after write
}

LAUNCHES(devices_missing_event) {
    const Ints theirs(0, threads), own(1, threads);
    launch_on_both([&] { write_own<<<1, threads>>>(theirs); },
                   [&] { read_peers<<<1, threads>>>(theirs, own); });
}

// ---- devices_ordered ----------------------------------------------------------------------------
// By an event, by the host, and by a copy in the default stream, which waits for both devices.
// options: --devices 2
__global__ void read_peers_in_time(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

LAUNCHES(devices_ordered) {
    const Ints theirs(0, threads), own(1, threads);
    cudaEvent_t event = nullptr;
    cudaSetDevice(0);
    cudaEventCreate(&event);
    launch_on_both(
        [&] {
            write_own<<<1, threads>>>(theirs);
            cudaEventRecord(event, nullptr);
        },
        [&] {
            cudaStreamWaitEvent(nullptr, event, 0);
            read_peers_in_time<<<1, threads>>>(theirs, own);
            cudaDeviceSynchronize();
        });
    launch_on_both(
        [&] {
            write_own<<<1, threads>>>(theirs);
            cudaDeviceSynchronize();
        },
        [&] { read_peers_in_time<<<1, threads>>>(theirs, own); });
    launch_on_both(
        [&] {
            cudaMemcpyPeerAsync(theirs, 0, own, 1, threads * sizeof(int), nullptr);
            write_own<<<1, threads>>>(theirs);
            cudaMemcpyPeerAsync(own, 1, theirs, 0, threads * sizeof(int), nullptr);
        },
        [&] { read_peers_in_time<<<1, threads>>>(theirs, own); });
    cudaSetDevice(0);
    cudaEventDestroy(event);
}

// ---- device_scope_fence -------------------------------------------------------------------------
// The fence before the flag orders memory for device 0 only.
// options: --devices 2
__global__ void hand_over_too_narrowly(int* data, int* flag) {
    *data = 42;
    __threadfence();
    atomicExch_system(flag, 1);
}
__global__ void take_over(const int* data, int* flag, int* out) {
    if (atomicAdd_system(flag, 0) != 1) return;
    __threadfence_system();
    *out = *data; // expect: race, read after write
}

LAUNCHES(device_scope_fence) {
    const Ints memory(0, 2), out(1, 1);
    launch_on_both([&] { hand_over_too_narrowly<<<1, 1>>>(memory, memory + 1); },
                   [&] { take_over<<<1, 1>>>(memory, memory + 1, out); });
}

// ---- device_scope_fence_of_reader ---------------------------------------------------------------
// options: --devices 2
__global__ void hand_over(int* data, int* flag) {
    *data = 42;
    __threadfence_system();
    atomicExch_system(flag, 1);
}
__global__ void take_over_too_narrowly(const int* data, int* flag, int* out) {
    if (atomicAdd_system(flag, 0) != 1) return;
    __threadfence();
    *out = *data; // expect: race, read after write
}

LAUNCHES(device_scope_fence_of_reader) {
    const Ints memory(0, 2), out(1, 1);
    launch_on_both([&] { hand_over<<<1, 1>>>(memory, memory + 1); },
                   [&] { take_over_too_narrowly<<<1, 1>>>(memory, memory + 1, out); });
}

// ---- system_scope_fences ------------------------------------------------------------------------
// options: --devices 2
__global__ void take_over_rightly(const int* data, int* flag, int* out) {
    if (atomicAdd_system(flag, 0) != 1) return;
    __threadfence_system();
    *out = *data;
}

LAUNCHES(system_scope_fences) {
    const Ints memory(0, 2), out(1, 1);
    launch_on_both([&] { hand_over<<<1, 1>>>(memory, memory + 1); },
                   [&] { take_over_rightly<<<1, 1>>>(memory, memory + 1, out); });
}

// ---- device_scope_fence_within_device -----------------------------------------------------------
// Two streams of one device: there its scope is wide enough.
__global__ void take_over_on_device(const int* data, int* flag, int* out) {
    if (atomicAdd(flag, 0) != 1) return;
    __threadfence();
    *out = *data;
}
__global__ void hand_over_on_device(int* data, int* flag) {
    *data = 42;
    __threadfence();
    atomicExch(flag, 1);
}

LAUNCHES(device_scope_fence_within_device) {
    const Memory<int> memory(2, 0), out(1);
    cudaDeviceSynchronize();
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    hand_over_on_device<<<1, 1, 0, stream>>>(memory, memory + 1);
    take_over_on_device<<<1, 1>>>(memory, memory + 1, out);
    cudaDeviceSynchronize();
    cudaStreamDestroy(stream);
}

// ---- device_scope_atomic ------------------------------------------------------------------------
// atomicAdd() excludes only the threads of its own device.
// options: --devices 2
__global__ void count_on_own_device(int* counter) { atomicAdd(counter, 1); }
__global__ void count_on_peer(int* counter) {
    atomicAdd_system(counter, 1); // expect: race, atomic after atomic
}

LAUNCHES(device_scope_atomic) {
    const Ints counter(0, 1);
    launch_on_both([&] { count_on_own_device<<<1, 32>>>(counter); },
                   [&] { count_on_peer<<<1, 32>>>(counter); });
}

// ---- system_scope_atomics -----------------------------------------------------------------------
// options: --devices 2
__global__ void count_for_all(int* counter) {
    atomicAdd_system(counter, 1);
    cuda::atomic_ref<int, cuda::thread_scope_system>(*counter).fetch_add(1, cuda::memory_order_relaxed);
}

LAUNCHES(system_scope_atomics) {
    const Ints counter(0, 1);
    launch_on_both([&] { count_for_all<<<1, 32>>>(counter); }, [&] { count_for_all<<<1, 32>>>(counter); });
}

// ---- device_scope_atomic_ref --------------------------------------------------------------------
// options: --devices 2
__global__ void publish(int* data, int* flag) {
    *data = 42;
    cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_release);
}
__global__ void consume(const int* data, int* flag, int* out) {
    const cuda::atomic_ref<int, cuda::thread_scope_system> ready(*flag);
    if (ready.load(cuda::memory_order_acquire) == 1) // expect: race, atomic after atomic
        *out = *data;                                // expect: race, read after write
}

LAUNCHES(device_scope_atomic_ref) {
    const Ints memory(0, 2), out(1, 1);
    launch_on_both([&] { publish<<<1, 1>>>(memory, memory + 1); },
                   [&] { consume<<<1, 1>>>(memory, memory + 1, out); });
}

// ---- system_scope_atomic_ref --------------------------------------------------------------------
// options: --devices 2
__global__ void publish_for_all(int* data, int* flag) {
    *data = 42;
    cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).store(1, cuda::memory_order_release);
}
__global__ void consume_rightly(const int* data, int* flag, int* out) {
    const cuda::atomic_ref<int, cuda::thread_scope_system> ready(*flag);
    if (ready.load(cuda::memory_order_acquire) == 1) *out = *data;
}

LAUNCHES(system_scope_atomic_ref) {
    const Ints memory(0, 2), out(1, 1);
    launch_on_both([&] { publish_for_all<<<1, 1>>>(memory, memory + 1); },
                   [&] { consume_rightly<<<1, 1>>>(memory, memory + 1, out); });
}

// ---- kernels_that_meet --------------------------------------------------------------------------
// Both run at the same time, and wait for each other: the first time until all inputs are there, the second time until
// both have read them.
// options: --devices 2
__device__ void meet(volatile int* own_flag, volatile int* peers_flag) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        *peers_flag = 1;
        while (*own_flag == 0) {
        }
        __threadfence_system();
    }
    __syncthreads();
}
__global__ void sum_of_both(int* own, const int* peers, volatile int* own_flags, volatile int* peers_flags) {
    own[threadIdx.x] = static_cast<int>(threadIdx.x);
    meet(own_flags, peers_flags);
    const int sum = own[threadIdx.x] + peers[threadIdx.x];
    meet(own_flags + 1, peers_flags + 1);
    own[threadIdx.x] = sum;
}

LAUNCHES(kernels_that_meet) {
    const Ints zero(0, threads), one(1, threads), flags_of_zero(0, 2), flags_of_one(1, 2);
    launch_on_both([&] { sum_of_both<<<1, threads>>>(zero, one, flags_of_zero, flags_of_one); },
                   [&] { sum_of_both<<<1, threads>>>(one, zero, flags_of_one, flags_of_zero); });
}

// ---- kernels_that_meet_by_release_and_acquire ---------------------------------------------------
// Many blocks, whose flags hold the number of the round.
// options: --devices 2
__device__ void meet_in_round(int round, int* own_flag, int* peers_flag) {
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_system>(*peers_flag)
            .store(round, cuda::memory_order_release);
        const cuda::atomic_ref<int, cuda::thread_scope_system> flag(*own_flag);
        while (flag.load(cuda::memory_order_acquire) < round) {
        }
    }
    __syncthreads();
}
__global__ void rounds(int* own, const int* peers, int* own_flags, int* peers_flags, int round) {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    own[i] = static_cast<int>(i);
    for (int k = 0; k < 3; ++k) {
        meet_in_round(++round, own_flags + blockIdx.x, peers_flags + blockIdx.x);
        const int sum = own[i] + peers[i];
        meet_in_round(++round, own_flags + blockIdx.x, peers_flags + blockIdx.x);
        own[i] = sum;
    }
}

LAUNCHES(kernels_that_meet_by_release_and_acquire) {
    const Ints zero(0, 3 * 32), one(1, 3 * 32), flags_of_zero(0, 3), flags_of_one(1, 3);
    for (const int round : {0, 6}) // the second launch meets the first one of the other device, too
        launch_on_both([&] { rounds<<<3, 32>>>(zero, one, flags_of_zero, flags_of_one, round); },
                       [&] { rounds<<<3, 32>>>(one, zero, flags_of_one, flags_of_zero, round); });
}

// ---- kernels_that_meet_too_seldom ---------------------------------------------------------------
// One stores its sum while the other may still read the input there.
// options: --devices 2
__global__ void sum_in_place(int* own, const int* peers, volatile int* own_flags, volatile int* peers_flags) {
    meet(own_flags, peers_flags);
    const int sum = own[threadIdx.x] + peers[threadIdx.x]; // expect: race, read after write
    own[threadIdx.x] = sum;                                // expect: race, write after read
}

LAUNCHES(kernels_that_meet_too_seldom) {
    const Ints zero(0, threads), one(1, threads), flags_of_zero(0, 2), flags_of_one(1, 2);
    launch_on_both([&] { sum_in_place<<<1, threads>>>(zero, one, flags_of_zero, flags_of_one); },
                   [&] { sum_in_place<<<1, threads>>>(one, zero, flags_of_one, flags_of_zero); });
}

// ---- next_kernel_after_a_meeting ----------------------------------------------------------------
// The kernels meet once. So the next kernel of a device may change what the other device's kernel still reads.
// options: --devices 2
__global__ void read_after_meeting(const int* peers, int* out, volatile int* own_flags,
                                   volatile int* peers_flags) {
    meet(own_flags, peers_flags);
    out[threadIdx.x] = peers[threadIdx.x];
}
__global__ void overwrite(int* own) {
    own[threadIdx.x] = 7; // expect: race, write after read
}

LAUNCHES(next_kernel_after_a_meeting) {
    const Ints zero(0, threads), one(1, threads), out_of_zero(0, threads), out_of_one(1, threads);
    const Ints flags_of_zero(0, 2), flags_of_one(1, 2);
    launch_on_both([&] { read_after_meeting<<<1, threads>>>(one, out_of_zero, flags_of_zero, flags_of_one); },
                   [&] {
                       read_after_meeting<<<1, threads>>>(zero, out_of_one, flags_of_one, flags_of_zero);
                       overwrite<<<1, threads>>>(one);
                   });
}

// ---- next_kernel_after_the_last_meeting ---------------------------------------------------------
// Here they meet again when both have read. That is the last thing that they do.
// options: --devices 2
__global__ void read_between_meetings(const int* peers, int* out, volatile int* own_flags,
                                      volatile int* peers_flags) {
    meet(own_flags, peers_flags);
    out[threadIdx.x] = peers[threadIdx.x];
    meet(own_flags + 1, peers_flags + 1);
}
__global__ void overwrite_rightly(int* own) { own[threadIdx.x] = 7; }

LAUNCHES(next_kernel_after_the_last_meeting) {
    const Ints zero(0, threads), one(1, threads), out_of_zero(0, threads), out_of_one(1, threads);
    const Ints flags_of_zero(0, 2), flags_of_one(1, 2);
    const auto launch = [](const Ints& own, const Ints& peers, const Ints& out, const Ints& own_flags,
                           const Ints& peers_flags) {
        read_between_meetings<<<1, threads>>>(peers, out, own_flags, peers_flags);
        overwrite_rightly<<<1, threads>>>(own);
    };
    launch_on_both([&] { launch(zero, one, out_of_zero, flags_of_zero, flags_of_one); },
                   [&] { launch(one, zero, out_of_one, flags_of_one, flags_of_zero); });
}

// ---- kernels_that_meet_on_own_device_only -------------------------------------------------------
// The fence before the flag is for the threads of its device only.
// options: --devices 2
__global__ void meet_too_narrowly(int* own, const int* peers, int* out, volatile int* own_flag,
                                  volatile int* peers_flag) {
    *own = 42; // expect: race, write after read
    __threadfence();
    *peers_flag = 1;
    while (*own_flag == 0) {
    }
    __threadfence_system();
    *out = *peers; // expect: race, read after write
}

LAUNCHES(kernels_that_meet_on_own_device_only) {
    const Ints zero(0, 2), one(1, 2), flag_of_zero(0, 1), flag_of_one(1, 1);
    launch_on_both([&] { meet_too_narrowly<<<1, 1>>>(zero, one, zero + 1, flag_of_zero, flag_of_one); },
                   [&] { meet_too_narrowly<<<1, 1>>>(one, zero, one + 1, flag_of_one, flag_of_zero); });
}

// ---- store_after_telling ------------------------------------------------------------------------
// What a kernel stores after the flag may or may not be what the other one loads.
// options: --devices 2
__global__ void tell_and_go_on(int* own, const int* peers, int* out, volatile int* own_flags,
                               volatile int* peers_flags) {
    meet(own_flags, peers_flags);
    *own = 42;
    __threadfence_system();
    peers_flags[1] = 1;
    *own = 43; // expect: race, write after read
    while (own_flags[1] == 0) {
    }
    __threadfence_system();
    *out = *peers; // expect: race, read after write
}

LAUNCHES(store_after_telling) {
    const Ints zero(0, 2), one(1, 2), flags_of_zero(0, 2), flags_of_one(1, 2);
    launch_on_both([&] { tell_and_go_on<<<1, 1>>>(zero, one, zero + 1, flags_of_zero, flags_of_one); },
                   [&] { tell_and_go_on<<<1, 1>>>(one, zero, one + 1, flags_of_one, flags_of_zero); });
}
