// Streams, events, and the host.
#include "../programs.hpp"

namespace {

constexpr int n = 2048; // ints: two pages

struct Streams {
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t event = nullptr;

    Streams() {
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
        cudaEventCreate(&event);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
    ~Streams() {
        cudaStreamDestroy(first);
        cudaStreamDestroy(second);
        cudaEventDestroy(event);
    }
    /// The second stream waits for what is in the first one so far.
    void order() const {
        cudaEventRecord(event, first);
        cudaStreamWaitEvent(second, event, 0);
    }
};

/// Ints in pinned memory. Whoever uses them frees them.
int* pinned_ints() {
    int* ints = nullptr;
    cudaMallocHost(&ints, n * sizeof(int));
    return ints;
}

__global__ void fill(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

} // namespace

// ---- missing_event ------------------------------------------------------------------------------
// The kernel reads what a copy in another stream still writes.
__global__ void sum_copied(const int* in, int* total) {
    atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]); // expect: race, read after write
}

LAUNCHES(missing_event) {
    int* const pinned = pinned_ints();
    const Memory<int> in(n), total(1, 0);
    cudaDeviceSynchronize();
    {
        const Streams streams;
        cudaMemcpyAsync(in, pinned, n * sizeof(int), cudaMemcpyHostToDevice, streams.first);
        sum_copied<<<n / 256, 256, 0, streams.second>>>(in, total);
        cudaDeviceSynchronize();
    }
    cudaFreeHost(pinned);
}

// ---- ordered_by_event ---------------------------------------------------------------------------
// The same with the event, and with what else orders two streams.
__global__ void sum_after_copy(const int* in, int* total) {
    atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

LAUNCHES(ordered_by_event) {
    int* const pinned = pinned_ints();
    const Memory<int> in(n), total(1, 0);
    cudaDeviceSynchronize();
    {
        const Streams streams;
        const auto copy = [&](cudaStream_t stream) {
            cudaMemcpyAsync(in, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream);
        };
        const auto sum = [&](cudaStream_t stream) { sum_after_copy<<<n / 256, 256, 0, stream>>>(in, total); };
        copy(streams.first);
        streams.order();
        sum(streams.second);
        cudaStreamSynchronize(streams.second);
        copy(streams.first);
        cudaStreamSynchronize(streams.first); // the host waits, and launches then
        sum(streams.second);
        cudaEventRecord(streams.event, streams.second);
        cudaEventSynchronize(streams.event);
        copy(streams.first);
        cudaDeviceSynchronize();
        cudaStream_t blocking = nullptr; // and the default stream wait for each other
        cudaStreamCreate(&blocking);
        copy(blocking);
        sum(nullptr);
        copy(blocking);
        cudaStreamSynchronize(blocking);
        cudaStreamDestroy(blocking);
    }
    cudaFreeHost(pinned);
}

// ---- event_recorded_too_early -------------------------------------------------------------------
// The other stream waits for an event, which was recorded before the kernel that matters.
__global__ void double_in_place(int* data) {
    const int before = data[blockIdx.x * blockDim.x + threadIdx.x]; // expect: race, read after write
    data[blockIdx.x * blockDim.x + threadIdx.x] = 2 * before;       // expect: race, write after write
}

LAUNCHES(event_recorded_too_early) {
    const Memory<int> data(n, 1);
    cudaDeviceSynchronize();
    const Streams streams;
    streams.order();
    fill<<<n / 256, 256, 0, streams.first>>>(data);
    double_in_place<<<n / 256, 256, 0, streams.second>>>(data);
    cudaDeviceSynchronize();
}

// ---- halves_of_one_array ------------------------------------------------------------------------
// Each stream has its half, which ends in the middle of a page, and of a word: no byte is both's.
__global__ void fill_bytes(char* out, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = 1;
}

LAUNCHES(halves_of_one_array) {
    const Memory<char> data(6000, 1);
    cudaDeviceSynchronize();
    const Streams streams;
    fill_bytes<<<12, 256, 0, streams.first>>>(data, 2999);
    fill_bytes<<<12, 256, 0, streams.second>>>(data + 2999, 3001);
    cudaMemsetAsync(data, 0, 2999, streams.first);
    cudaDeviceSynchronize();
}

// ---- memset_in_default_stream -------------------------------------------------------------------
// cudaMemset does not wait, and a stream created with cudaStreamNonBlocking does not wait for the default stream.
__global__ void add_one(int* data) {
    const int before = data[blockIdx.x * blockDim.x + threadIdx.x]; // expect: race, read after write
    data[blockIdx.x * blockDim.x + threadIdx.x] = before + 1;       // expect: race, write after write
}

LAUNCHES(memset_in_default_stream) {
    const Streams streams;
    const Memory<int> data(n);
    cudaMemset(data, 0, n * sizeof(int));
    add_one<<<n / 256, 256, 0, streams.first>>>(data);
    cudaDeviceSynchronize();
}

// ---- copy_over_what_is_read ---------------------------------------------------------------------
// The next copy into the buffer does not wait for the kernel that still reads it.
// expect: race, write after read
__global__ void read_buffer(const int* in, int* total) {
    atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

LAUNCHES(copy_over_what_is_read) {
    int* const pinned = pinned_ints();
    const Memory<int> in(n), total(1, 0);
    cudaDeviceSynchronize();
    {
        const Streams streams;
        cudaMemcpyAsync(in, pinned, n * sizeof(int), cudaMemcpyHostToDevice, streams.first);
        streams.order();
        read_buffer<<<n / 256, 256, 0, streams.second>>>(in, total);
        cudaMemcpyAsync(in, pinned, n * sizeof(int), cudaMemcpyHostToDevice, streams.first);
        cudaDeviceSynchronize();
    }
    cudaFreeHost(pinned);
}

// ---- pinned_memory_freed_too_early --------------------------------------------------------------
// The host frees what the stream still copies. There is one stream, and no other.
// expect: race, free after read
LAUNCHES(pinned_memory_freed_too_early) {
    int* const pinned = pinned_ints();
    const Memory<int> in(n);
    cudaMemcpyAsync(in, pinned, n * sizeof(int), cudaMemcpyHostToDevice, nullptr);
    cudaFreeHost(pinned);
}

// ---- pinned_memory_freed_under_kernel -----------------------------------------------------------
// The same, with a kernel that reads it in place.
__global__ void sum_pinned(const int* in, int* total) {
    atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]);
}
// expect: race, free after read
LAUNCHES(pinned_memory_freed_under_kernel) {
    int* const pinned = pinned_ints();
    const Memory<int> total(1, 0);
    sum_pinned<<<n / 256, 256>>>(pinned, total);
    cudaFreeHost(pinned);
}

// ---- pinned_memory_freed_in_time ----------------------------------------------------------------
LAUNCHES(pinned_memory_freed_in_time) {
    int* const pinned = pinned_ints();
    const Memory<int> in(n);
    cudaMemcpyAsync(in, pinned, n * sizeof(int), cudaMemcpyHostToDevice, nullptr);
    cudaStreamSynchronize(nullptr);
    cudaFreeHost(pinned);
}

// ---- freed_in_another_stream --------------------------------------------------------------------
// cudaFreeAsync waits for its own stream only.
// expect: race, free after write
LAUNCHES(freed_in_another_stream) {
    const Streams streams;
    int* data = nullptr;
    cudaMallocAsync(&data, n * sizeof(int), streams.first);
    fill<<<n / 256, 256, 0, streams.first>>>(data);
    cudaFreeAsync(data, streams.second);
}

// ---- freed_in_its_stream ------------------------------------------------------------------------
LAUNCHES(freed_in_its_stream) {
    const Streams streams;
    int* data = nullptr;
    cudaMallocAsync(&data, n * sizeof(int), streams.first);
    fill<<<n / 256, 256, 0, streams.first>>>(data);
    streams.order();
    cudaFreeAsync(data, streams.second);
    cudaMallocAsync(&data, n * sizeof(int), streams.first);
    fill<<<n / 256, 256, 0, streams.first>>>(data);
    cudaFree(data); // waits for the device
}
