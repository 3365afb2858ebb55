/// What a launch transfers to and from the memory of other devices and of the host.
#pragma once

#include "emulator/machine/observer.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace emulator {

/// Sectors of requests to the memory of one other device, as those of all requests are counted. Those of the
/// host's memory, and of managed memory, are Allocation::on_host.
struct PeerSectors {
    std::uint64_t loads = 0, stores = 0, atomics = 0;
};

class PeerTraffic final : public Watcher {
public:
    std::unique_ptr<Observer> observer(const Grid& grid) override;

    /// By device, once the launch has ended.
    const std::map<int, PeerSectors>& sectors() const { return sectors_; }
    /// Adds what one host thread has seen.
    void add(const std::map<int, PeerSectors>& seen);

private:
    std::mutex mutex_;
    std::map<int, PeerSectors> sectors_;
};

} // namespace emulator
