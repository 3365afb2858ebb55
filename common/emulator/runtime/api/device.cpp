/// The devices: which is current, their properties, their limits, peer access, and their reset.

#include "emulator/runtime/api_call.hpp"

#include <algorithm>
#include <cstring>

using namespace emulator;
using namespace emulator::abi;

namespace {

constexpr int cuda_version = EMULATOR_CUDA_VERSION; ///< 13000 for 13.0

/// The limit's default.
std::size_t default_limit(cudaLimit limit) {
    switch (limit) {
    case cudaLimitStackSize: return 1024;
    case cudaLimitPrintfFifoSize: return 1 << 20;
    case cudaLimitMallocHeapSize: return DeviceHeap::default_bytes;
    case cudaLimitDevRuntimeSyncDepth: throw ApiError(cudaErrorUnsupportedLimit); // since 9.0
    case cudaLimitDevRuntimePendingLaunchCount: return 2048;
    case cudaLimitMaxL2FetchGranularity: return 64;
    case cudaLimitPersistingL2CacheSize: return 0;
    }
    throw ApiError(cudaErrorInvalidValue);
}

// How limits respond to being set: like an H200 (driver 580.159.04).

std::size_t stack_bytes(std::size_t wanted) {
    constexpr std::size_t most = 523'712; // 512 KiB minus what it reserves
    require(wanted <= most);
    return (wanted + 15) / 16 * 16;
}

std::size_t heap_bytes(const Device& device, std::size_t wanted) {
    constexpr std::size_t least = 4 << 20, most = 17'681'179'680, step = 64 << 10;
    const std::size_t here = std::min(most, device.memory.available_bytes(device.number));
    if (wanted >= here) return here;
    return std::min(std::max(least, (wanted + step - 1) / step * step), here);
}

void set_flags(Device& device, unsigned int flags) {
    require((flags & ~cudaDeviceMask) == 0);
    device.flags = flags | cudaDeviceMapHost;
}

/// For calls that do nothing here except report a kernel's failure.
cudaError_t do_nothing() {
    return api_call([](Device&) {});
}

} // namespace

EMULATOR_ENTRY cudaError_t cudaGetDeviceCount(int* count) {
    return query_call([&](Device&) {
        require(count);
        *count = static_cast<int>(Runtime::instance().devices.size());
    });
}

EMULATOR_ENTRY cudaError_t cudaGetDevice(int* device) {
    return query_call([&](Device& current) {
        require(device);
        *device = current.number;
    });
}

EMULATOR_ENTRY cudaError_t cudaSetDevice(int device) {
    return call_without_waiting([&](Device&) {
        require_device(device);
        Runtime::current_device_number() = device;
    });
}

EMULATOR_ENTRY cudaError_t cudaInitDevice(int device, unsigned int flags, unsigned int flags_are_valid) {
    return api_call([&](Device&) {
        Device& started = device_at(device);
        require(flags_are_valid <= 1);
        if (flags_are_valid) set_flags(started, flags);
    });
}

EMULATOR_ENTRY cudaError_t cudaSetValidDevices(int* devices, int count) {
    return query_call([&](Device&) {
        require(count >= 0 && (devices || count == 0));
        for (int i = 0; i < count; ++i) require_device(devices[i]);
    });
}

EMULATOR_ENTRY cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
    return query_call([&](Device&) {
        require(device && wanted);
        *device = 0;
    });
}

EMULATOR_ENTRY cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return query_call([&](Device& device) { set_flags(device, flags); });
}

EMULATOR_ENTRY cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    return query_call([&](Device& device) {
        require(flags);
        *flags = device.flags;
    });
}

EMULATOR_ENTRY cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return query_call([&](Device&) {
        require(properties);
        require_device(device);
        *properties = device_properties(device);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int device) {
    return query_call([&](Device&) {
        require(value && attribute > 0 && attribute < cudaDevAttrMax);
        require_device(device);
        *value = attribute == cudaDevAttrPciBusId ? device : device_attribute(attribute);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetPCIBusId(char* text, int capacity, int device) {
    return query_call([&](Device&) {
        require(text);
        require_device(device);
        const std::string id = pci_bus_id(device);
        require(capacity > static_cast<int>(id.size()));
        std::strcpy(text, id.c_str());
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
    return query_call([&](Device&) {
        require(device && text);
        int number = 0;
        while (pci_bus_id(device_at(number).number) != text) ++number;
        *device = number;
    });
}

// All devices can access each other's memory, once that is enabled. None is its own peer.

EMULATOR_ENTRY cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
    return query_call([&](Device&) {
        require(can_access);
        require_device(device);
        require_device(peer);
        *can_access = device != peer;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return call_without_waiting([&](Device& device) {
        require(flags == 0);
        require_device(peer);
        require(peer != device.number, cudaErrorPeerAccessUnsupported);
        require(!device.memory.has_peer_access(device.number, peer), cudaErrorPeerAccessAlreadyEnabled);
        device.memory.set_peer_access(device.number, peer, true);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return api_call([&](Device& device) {
        require_device(peer);
        require(peer != device.number && device.memory.has_peer_access(device.number, peer),
                cudaErrorPeerAccessNotEnabled);
        device.memory.set_peer_access(device.number, peer, false);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device,
                                                     int peer) {
    return query_call([&](Device&) {
        require(value && attribute >= cudaDevP2PAttrPerformanceRank &&
                attribute <= cudaDevP2PAttrOnlyPartialNativeAtomicSupported);
        require_device(device);
        require_device(peer);
        require(device != peer, cudaErrorInvalidDevice); // it wants two
        const bool holds = attribute == cudaDevP2PAttrAccessSupported ||
                           attribute == cudaDevP2PAttrNativeAtomicSupported ||
                           attribute == cudaDevP2PAttrCudaArrayAccessSupported;
        *value = holds ? 1 : 0;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceSynchronize() {
    return call_without_waiting([](Device& device) {
        for (const auto& capture : device.captures) capture->is_invalid = true;
        require(device.captures.empty(), cudaErrorStreamCaptureUnsupported);
        wait_for(device, device.memory.operations().all_of(device.number));
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceReset() {
    const cudaError_t error = query_call([](Device& device) { Runtime::instance().reset(device.number); });
    last_error(true);
    return error;
}

EMULATOR_ENTRY cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
    return call_without_waiting([&](Device& device) {
        default_limit(limit);
        if (limit == cudaLimitStackSize) value = stack_bytes(value);
        if (limit == cudaLimitMallocHeapSize) {
            value = heap_bytes(device, value);
            require(device.memory.global().set_heap_bytes(device.number,
                                                          value)); // not after a kernel may have used it
        }
        device.limits[limit] = value;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
    return call_without_waiting([&](Device& device) {
        require(value);
        const auto set = device.limits.find(limit);
        *value = set == device.limits.end() ? default_limit(limit) : set->second;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preference) {
    return call_without_waiting([&](Device& device) {
        require(preference >= cudaFuncCachePreferNone && preference <= cudaFuncCachePreferEqual);
        device.cache_preference = preference;
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) {
    return call_without_waiting([&](Device& device) {
        require(preference);
        *preference = device.cache_preference;
    });
}

/// Since Maxwell, shared memory always has four-byte banks.
EMULATOR_ENTRY cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return call_without_waiting([&](Device&) {
        require(config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte);
    });
}

EMULATOR_ENTRY cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return call_without_waiting([&](Device&) {
        require(config);
        *config = cudaSharedMemBankSizeFourByte;
    });
}

EMULATOR_ENTRY cudaError_t cudaCtxResetPersistingL2Cache() { return do_nothing(); }

EMULATOR_ENTRY cudaError_t cudaProfilerStart() { return do_nothing(); }

EMULATOR_ENTRY cudaError_t cudaProfilerStop() { return do_nothing(); }

EMULATOR_ENTRY cudaError_t cudaRuntimeGetVersion(int* version) {
    return query_call([&](Device&) {
        require(version);
        *version = cuda_version;
    });
}

EMULATOR_ENTRY cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

EMULATOR_ENTRY cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int format) {
    return {x, y, z, w, format};
}
