#include "emulator/memory/operation_order.hpp"

#include <algorithm>

namespace emulator {

namespace {

constexpr int any_device = -1;

/// Those that every device has. CUDA's handles 0, 1 and 2.
bool is_default_stream(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) <= 2; }

} // namespace

void OperationOrder::join(Clock& clock, const Clock& other) {
    clock.resize(std::max(clock.size(), other.size()));
    for (std::size_t k = 0; k < other.size(); ++k) clock[k] = std::max(clock[k], other[k]);
}

void OperationOrder::created(const void* handle, int device, bool is_blocking, std::string name) {
    const auto unused = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& stream) {
        return !stream.is_in_use && stream.device == device && stream.is_blocking == is_blocking;
    });
    Stream& stream = unused == streams_.end() ? streams_.emplace_back() : *unused;
    stream.device = device;
    stream.is_blocking = is_blocking;
    stream.is_in_use = true;
    stream.name = std::move(name);
    numbers_[{handle, any_device}] = static_cast<std::uint32_t>(&stream - streams_.data());
}

void OperationOrder::destroyed(const void* handle) {
    const auto found = numbers_.find({handle, any_device});
    if (found == numbers_.end()) return;
    streams_[found->second].is_in_use = false;
    numbers_.erase(found);
}

std::uint32_t OperationOrder::number_of(const void* handle, int device) {
    if (!is_default_stream(handle)) return numbers_.at({handle, any_device});
    const auto [found, is_new] =
        numbers_.try_emplace({nullptr, device}, static_cast<std::uint32_t>(streams_.size()));
    if (is_new)
        streams_.push_back(
            {.device = device,
             .is_default = true,
             .name = "the default stream" + (device == 0 ? "" : " of device " + std::to_string(device))});
    return found->second;
}

OperationOrder::Clock OperationOrder::next_in(std::uint32_t number) const {
    const Stream& stream = streams_[number];
    Clock clock = stream.clock;
    join(clock, host_);
    for (const Stream& other : streams_)
        if (other.device == stream.device &&
            (stream.is_default ? other.is_blocking : other.is_default && stream.is_blocking))
            join(clock, other.clock);
    return clock;
}

void OperationOrder::begin(const void* handle, int device, std::string what) {
    const std::uint32_t number = number_of(handle, device);
    Stream& stream = streams_[number];
    current_ = {.stream = number,
                .number = ++stream.operations,
                .device = stream.device,
                .what = std::move(what),
                .before = next_in(number)};
}

OperationOrder::Operation OperationOrder::place(const void* handle, int device, std::string what) {
    begin(handle, device, std::move(what));
    Operation placed = current_;
    end();
    return placed;
}

void OperationOrder::joins_devices(int one, int other) {
    if (current_.number == 0 || !streams_[current_.stream].is_default) return;
    joined_devices_ = {one, other};
    for (const Stream& stream : streams_)
        if (stream.device == one || stream.device == other) join(current_.before, stream.clock);
}

void OperationOrder::end() {
    Clock after = current_.before;
    after.resize(std::max(after.size(), streams_.size()));
    after[current_.stream] = current_.number;
    join(streams_[current_.stream].clock, after);
    for (Stream& stream : streams_)
        if (std::find(joined_devices_.begin(), joined_devices_.end(), stream.device) != joined_devices_.end())
            join(stream.clock, after);
    joined_devices_.clear();
    current_ = {};
}

void OperationOrder::host_waits_for_current() {
    if (current_.number == 0) return;
    join(host_, current_.before);
    host_.resize(std::max(host_.size(), streams_.size()));
    host_[current_.stream] = current_.number;
}

OperationOrder::Clock OperationOrder::all_of(int device) const {
    Clock all;
    for (const Stream& stream : streams_)
        if (stream.device == device) join(all, stream.clock);
    return all;
}

OperationOrder::Clock OperationOrder::recorded(const void* handle, int device) {
    return next_in(number_of(handle, device));
}

void OperationOrder::stream_waits_for(const void* handle, int device, const Clock& event) {
    join(streams_[number_of(handle, device)].clock, event);
}

} // namespace emulator
