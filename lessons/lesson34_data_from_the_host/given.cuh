#pragma once

/// The two streams that the exercise fills.
enum class Stream : int { copies, kernels };

/// One call that the host is to make. All zeros: none.
struct alignas(16) Call {
    enum Kind : int { none, copy, add, record, wait };
    int kind;
    int stream;
    int which; ///< the buffer of a copy or a kernel, or the event
    int tile;  ///< of a copy or a kernel
};

/// A list of calls, in the order in which the host makes them. It stands for the CUDA runtime, since the check of an
/// exercise runs kernels only: the program makes the calls, see play.hpp. One thread may use it.
struct Queue {
    Call* calls;
    int capacity; ///< what does not fit is dropped
    int size = 0;

    /// cudaMemcpyAsync(buffers[buffer], host + first int of the tile, …, stream)
    __device__ void copy(int buffer, int tile, Stream stream) { push(Call::copy, stream, buffer, tile); }
    /// add_sum<<<…, stream>>>(buffers[buffer], ints of the tile, sum)
    __device__ void add(int buffer, int tile, Stream stream) { push(Call::add, stream, buffer, tile); }
    /// cudaEventRecord(events[event], stream): the event happens when all that is in the stream so far is done.
    __device__ void record(int event, Stream stream) { push(Call::record, stream, event, 0); }
    /// cudaStreamWaitEvent(stream, events[event]): what comes later in the stream waits for the event, as recorded
    /// last. It never happens? Then nothing waits.
    __device__ void wait(Stream stream, int event) { push(Call::wait, stream, event, 0); }

private:
    __device__ void push(Call::Kind kind, Stream stream, int which, int tile) {
        if (size < capacity) {
            calls[size++] = {kind, static_cast<int>(stream), which, tile};
        }
    }
};

constexpr int events = 8; ///< numbered from 0
