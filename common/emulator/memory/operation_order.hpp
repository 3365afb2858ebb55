/// Which operations of streams happen before which: launches, copies and memsets, in the order that CUDA promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace emulator {

/// Vector clocks: of each stream, of each recorded event, and of the host.
///
/// The host is one: its threads count as ordered in the order of their calls, since nothing here sees how they
/// synchronize. The streams per thread (cudaStreamPerThread) count as the legacy default stream of their device.
/// Both may miss a race; neither invents one.
class OperationOrder {
public:
    /// For each stream: so many of its operations are known to have ended.
    using Clock = std::vector<std::uint32_t>;

    explicit OperationOrder(int devices) : has_several_devices_(devices > 1) {}

    struct Operation {
        std::uint32_t stream = 0; ///< its number here
        std::uint32_t number = 0; ///< in the stream, from 1; 0: none
        int device = 0;           ///< of the stream
        std::string what{};       ///< "kernel fill(int*)", "copy"
        Clock before{};           ///< what happens before it
    };

    // ---- streams; `handle` is CUDA's, and `device` matters for the default streams ----

    void created(const void* handle, int device, bool is_blocking, std::string name);
    /// Its number goes to a stream that is created later, whose operations count as later ones of this stream.
    void destroyed(const void* handle);
    /// "stream #2 of device 1"
    const std::string& name(std::uint32_t stream) const { return streams_[stream].name; }
    bool is_default(std::uint32_t stream) const { return streams_[stream].is_default; }
    /// Whether operations may run at once.
    bool may_overlap() const { return has_several_devices_ || streams_.size() > 1; }

    // ---- operations, one at a time ----

    void begin(const void* handle, int device, std::string what);
    /// Gives it its place in the order, and leaves it for later: see resume().
    Operation place(const void* handle, int device, std::string what);
    /// A kernel's full name is known later than its launch.
    void rename(std::string what) { current_.what = std::move(what); }
    /// A copy in a default stream between two devices waits for all streams of both, and they for it.
    void joins_devices(int one, int other);
    void end();
    /// Begins or goes on with one that has its place.
    void resume(Operation operation) { current_ = std::move(operation); }
    /// Leaves it for later.
    Operation pause() { return std::exchange(current_, {}); }
    /// So many have a place in the order, and have not run.
    void set_waiting(std::size_t operations) { waiting_ = operations; }
    bool has_waiting() const { return waiting_ != 0; }
    /// number 0: no operation is in progress.
    const Operation& current() const { return current_; }

    // ---- the host, and events ----

    void host_waits_for_device(int device) { join(host_, all_of(device)); }
    /// The operation in progress tells the host something: where it stores a flag in the host's memory.
    void host_waits_for_current();
    void host_waits_for(const Clock& event) { join(host_, event); }
    /// What an event that is recorded now in the stream will tell those that wait for it.
    Clock recorded(const void* handle, int device);
    void stream_waits_for(const void* handle, int device, const Clock& event);
    /// All operations of the device until now.
    Clock all_of(int device) const;

    /// What has ended for sure when the host makes its next call.
    const Clock& host() const { return host_; }
    static bool knows(const Clock& clock, std::uint32_t stream, std::uint32_t number) {
        return stream < clock.size() && number <= clock[stream];
    }

private:
    struct Stream {
        int device = 0;
        bool is_default = false, is_blocking = true, is_in_use = true;
        std::uint32_t operations = 0;
        Clock clock{};
        std::string name{};
    };

    static void join(Clock& clock, const Clock& other);
    /// The number of the stream; that of a default stream begins to exist here.
    std::uint32_t number_of(const void* handle, int device);
    /// What its next operation comes after.
    Clock next_in(std::uint32_t stream) const;

    const bool has_several_devices_;
    std::vector<Stream> streams_;
    std::map<std::pair<const void*, int>, std::uint32_t> numbers_; ///< the device is -1 for created streams
    std::vector<int> joined_devices_;                              ///< by the operation in progress
    Clock host_;
    Operation current_;
    std::size_t waiting_ = 0;
};

} // namespace emulator
