/// Streams and events that end with their owner.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/check.hpp"

namespace harness {

/// An event without a time. It belongs to the device that is current when it is made.
class Event {
public:
    Event() { HARNESS_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event_); }
    operator cudaEvent_t() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

/// A stream that no other one waits for unless an event says so. It belongs to the device that is current when it is
/// made.
class OwnStream {
public:
    OwnStream() { HARNESS_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    ~OwnStream() { // Nobody frees what its work still uses.
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

/// The one that waits for no own stream.
inline constexpr cudaStream_t default_stream = nullptr;

/// An event with a time. It belongs to the device that is current when it is made.
class TimedEvent {
public:
    TimedEvent() { HARNESS_CHECK(cudaEventCreate(&event_)); }
    TimedEvent(const TimedEvent&) = delete;
    TimedEvent& operator=(const TimedEvent&) = delete;
    ~TimedEvent() { cudaEventDestroy(event_); }

    void record(cudaStream_t stream = default_stream) { HARNESS_CHECK(cudaEventRecord(event_, stream)); }
    /// Both have to be over.
    double microseconds_since(const TimedEvent& start) const {
        float milliseconds = 0;
        HARNESS_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
        return milliseconds * 1e3;
    }

private:
    cudaEvent_t event_ = nullptr;
};

} // namespace harness
