// Memory of another device.
#include "../programs.hpp"

namespace {

/// Ints on device 1, freed at the end of the scope; device 0 is current.
class PeersInts {
public:
    explicit PeersInts(int count) {
        cudaSetDevice(1);
        cudaMalloc(&first_, count * sizeof(int));
        cudaMemset(first_, 1, count * sizeof(int));
        cudaDeviceSynchronize();
        cudaSetDevice(0);
    }
    PeersInts(const PeersInts&) = delete;
    PeersInts& operator=(const PeersInts&) = delete;
    ~PeersInts() { failed_to_free |= cudaFree(first_) != cudaSuccess; }

    operator int*() const { return first_; }

private:
    int* first_ = nullptr;
};

} // namespace

// ---- peer_access_not_enabled --------------------------------------------------------------------
// Access is enabled the wrong way around: device 1 may access the memory of device 0.
// options: --devices 2
__global__ void add_peers(const int* theirs, int* own) {
    own[threadIdx.x] += theirs[threadIdx.x]; // expect: mem, no peer access
}

LAUNCHES(peer_access_not_enabled) {
    const PeersInts theirs(32);
    const Memory<int> own(32, 0);
    cudaSetDevice(1);
    cudaDeviceEnablePeerAccess(0, 0);
    cudaSetDevice(0);
    add_peers<<<1, 32>>>(theirs, own);
}

// ---- peer_access_enabled ------------------------------------------------------------------------
// Copies need none.
// options: --devices 2
__global__ void add_peers_rightly(const int* theirs, int* own) { own[threadIdx.x] += theirs[threadIdx.x]; }

LAUNCHES(peer_access_enabled) {
    const PeersInts theirs(32);
    const Memory<int> own(32, 0);
    cudaMemcpyPeer(own, 0, theirs, 1, 32 * sizeof(int));
    cudaMemcpy(theirs, own, 16 * sizeof(int), cudaMemcpyDefault);
    cudaDeviceEnablePeerAccess(1, 0);
    add_peers_rightly<<<1, 32>>>(theirs, own);
}
