#include "emulator/observe/peer_traffic.hpp"

#include "emulator/machine/launch.hpp"
#include "emulator/machine/memory_traffic.hpp"
#include "emulator/memory/global_memory.hpp"

#include <array>
#include <bit>

namespace emulator {

namespace {

class PeerTrafficObserver final : public Observer {
public:
    PeerTrafficObserver(PeerTraffic& all, const Grid& grid) : all_(all), grid_(grid) {}
    PeerTrafficObserver(const PeerTrafficObserver&) = delete;
    PeerTrafficObserver& operator=(const PeerTrafficObserver&) = delete;
    ~PeerTrafficObserver() override { all_.add(sectors_); }

    bool wants(EventKind kind) const override { return is_global_access(kind); }

    void accessed(const Warp&, const Instruction&, const Access& access) override {
        if (access.space != ptx::Space::global) return;
        for (LaneMask left = access.active; left != 0;) { // nearly always all in one allocation
            const Allocation* const allocation = at(access.addresses[std::countr_zero(left)]);
            if (!allocation) return;
            LaneMask here = 0;
            for_each_lane(left, [&](int lane) {
                here |= LaneMask{allocation->contains(access.addresses[lane], 1)} << lane;
            });
            left &= ~here;
            if (allocation->device != grid_.configuration.device)
                count(access, here, sectors_[allocation->device]);
        }
    }

    void launch_paused() override { last_ = nullptr; }

private:
    const Allocation* at(std::uint64_t address) {
        if (!last_ || !last_->contains(address, 1)) last_ = grid_.memory.find(address);
        return last_;
    }

    static void count(const Access& access, LaneMask lanes, PeerSectors& to) {
        std::array<std::uint64_t, warp_size> addresses;
        for (int lane = 0; lane < warp_size; ++lane)
            addresses[static_cast<std::size_t>(lane)] =
                access.addresses[(lanes >> lane & 1) != 0 ? lane : std::countr_zero(lanes)];
        Access part = access;
        part.active = lanes;
        part.addresses = addresses.data();
        if (access.kind == AccessKind::load)
            to.loads += sectors(part);
        else if (access.kind == AccessKind::store)
            to.stores += sectors(part);
        else
            to.atomics += atomic_sectors(part);
    }

    PeerTraffic& all_;
    const Grid& grid_;
    const Allocation* last_ = nullptr;
    std::map<int, PeerSectors> sectors_;
};

} // namespace

std::unique_ptr<Observer> PeerTraffic::observer(const Grid& grid) {
    return std::make_unique<PeerTrafficObserver>(*this, grid);
}

void PeerTraffic::add(const std::map<int, PeerSectors>& seen) {
    const std::lock_guard lock(mutex_);
    for (const auto& [device, sectors] : seen) {
        PeerSectors& all = sectors_[device];
        all.loads += sectors.loads;
        all.stores += sectors.stores;
        all.atomics += sectors.atomics;
    }
}

} // namespace emulator
