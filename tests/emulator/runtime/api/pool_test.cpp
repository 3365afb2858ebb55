// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well. Memory pools.

#include "cuda_test.hpp"

#include <cstdint>

namespace {

std::uint64_t attribute_of(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    std::uint64_t value = ~0ull;
    EXPECT_CUDA(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

cudaMemPoolProps properties() {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = 0;
    return properties;
}

} // namespace

TEST(Pool, is_there_from_the_start) {
    int supported = 0;
    EXPECT_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    EXPECT_EQ(supported, 1);
    cudaMemPool_t pool = nullptr, current = nullptr;
    EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    EXPECT_CUDA(cudaDeviceGetMemPool(&current, 0));
    EXPECT_NE(pool, nullptr);
    EXPECT_EQ(current, pool);
    EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReleaseThreshold), 0u);
    EXPECT_EQ(cudaDeviceGetDefaultMemPool(&pool, device_count()), cudaErrorInvalidDevice);
    cudaGetLastError();
}

TEST(Pool, counts_what_is_used) {
    cudaMemPool_t pool = nullptr;
    const cudaMemPoolProps wanted = properties();
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &wanted));
    void *first = nullptr, *second = nullptr;
    EXPECT_CUDA(cudaMallocFromPoolAsync(&first, 1000, pool, nullptr));
    EXPECT_CUDA(cudaMallocFromPoolAsync(&second, 3000, pool, nullptr));
    EXPECT_GE(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 4000u);
    EXPECT_CUDA(cudaMemsetAsync(first, 1, 1000, nullptr));
    EXPECT_CUDA(cudaFreeAsync(first, nullptr));
    EXPECT_CUDA(cudaFreeAsync(second, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 0u);
    EXPECT_GE(attribute_of(pool, cudaMemPoolAttrUsedMemHigh), 4000u);
    std::uint64_t none = 0;
    EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &none));
    EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemHigh), 0u);
    EXPECT_CUDA(cudaMemPoolDestroy(pool));
}

// What the pool counts after that is undocumented: an H200 still counts memory freed like this, the emulator
// does not.
TEST(Pool, has_memory_that_cudaFree_takes_back) {
    cudaMemPool_t pool = nullptr;
    const cudaMemPoolProps wanted = properties();
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &wanted));
    void* memory = nullptr;
    EXPECT_CUDA(cudaMallocFromPoolAsync(&memory, 1000, pool, nullptr));
    EXPECT_CUDA(cudaFree(memory));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaMemPoolDestroy(pool));
}

TEST(Pool, of_the_device_can_be_exchanged) {
    cudaMemPool_t pool = nullptr, current = nullptr, usual = nullptr;
    const cudaMemPoolProps wanted = properties();
    ASSERT_CUDA(cudaDeviceGetDefaultMemPool(&usual, 0));
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &wanted));
    EXPECT_CUDA(cudaDeviceSetMemPool(0, pool));
    EXPECT_CUDA(cudaDeviceGetMemPool(&current, 0));
    EXPECT_EQ(current, pool);
    void* memory = nullptr;
    EXPECT_CUDA(cudaMallocAsync(&memory, 512, nullptr));
    EXPECT_GE(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 512u);
    EXPECT_CUDA(cudaFreeAsync(memory, nullptr));
    EXPECT_CUDA(cudaDeviceSetMemPool(0, usual));
    EXPECT_CUDA(cudaMemPoolDestroy(pool));
}

TEST(Pool, keeps_its_settings) {
    cudaMemPool_t pool = nullptr;
    const cudaMemPoolProps wanted = properties();
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &wanted));
    std::uint64_t threshold = UINT64_MAX;
    EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrReleaseThreshold), UINT64_MAX);
    int reuse[2] = {-1, 77};
    EXPECT_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, reuse));
    EXPECT_EQ(reuse[0], 1);
    EXPECT_EQ(reuse[1], 77) << "an int, not more";
    EXPECT_CUDA(cudaMemPoolTrimTo(pool, 0));
    EXPECT_CUDA(cudaMemPoolDestroy(pool));
}

// The device may access a pool of the host once it has been allowed to.
TEST(Pool, may_lie_on_the_host) {
    for (const cudaMemLocationType type : {cudaMemLocationTypeHost, cudaMemLocationTypeHostNuma}) {
        cudaMemPool_t pool = nullptr;
        cudaMemPoolProps wanted = properties();
        wanted.location = {type, 0};
        ASSERT_CUDA(cudaMemPoolCreate(&pool, &wanted));
        cudaMemAccessDesc device{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
        cudaMemAccessFlags flags{};
        EXPECT_CUDA(cudaMemPoolSetAccess(pool, &device, 1));
        EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pool, &device.location));
        EXPECT_EQ(flags, cudaMemAccessFlagsProtReadWrite);
        int *host = nullptr, *copy = nullptr;
        ASSERT_CUDA(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&host), 64, pool, nullptr));
        ASSERT_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&copy), 64, nullptr));
        EXPECT_CUDA(cudaDeviceSynchronize());
        cudaPointerAttributes about{};
        EXPECT_CUDA(cudaPointerGetAttributes(&about, host));
        EXPECT_EQ(about.type, cudaMemoryTypeHost);
        host[3] = 7;
        EXPECT_CUDA(cudaMemcpyAsync(copy, host, 64, cudaMemcpyHostToDevice, nullptr));
        EXPECT_CUDA(cudaMemcpyAsync(host + 4, copy + 3, 4, cudaMemcpyDeviceToHost, nullptr));
        EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_EQ(host[4], 7);
        EXPECT_CUDA(cudaFreeAsync(host, nullptr));
        EXPECT_CUDA(cudaFreeAsync(copy, nullptr));
        EXPECT_CUDA(cudaDeviceSynchronize());
        EXPECT_EQ(attribute_of(pool, cudaMemPoolAttrUsedMemCurrent), 0u);
        ASSERT_CUDA(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&host), 64, pool, nullptr));
        EXPECT_CUDA(cudaMemPoolDestroy(pool));
        EXPECT_CUDA(cudaMemcpyAsync(host, &wanted, 64, cudaMemcpyDefault, nullptr)) << "still there";
        EXPECT_CUDA(cudaFreeAsync(host, nullptr));
        EXPECT_CUDA(cudaDeviceSynchronize());
    }
}

#if CUDART_VERSION >= 13000
TEST(Pool, is_there_from_the_start_for_each_sort_of_memory) {
    const cudaMemLocation host{cudaMemLocationTypeHost, 0}, anywhere{cudaMemLocationTypeNone, 0};
    cudaMemPool_t pinned = nullptr, managed = nullptr;
    ASSERT_CUDA(
        cudaMemGetDefaultMemPool(&pinned, const_cast<cudaMemLocation*>(&host), cudaMemAllocationTypePinned));
    ASSERT_CUDA(cudaMemGetDefaultMemPool(&managed, const_cast<cudaMemLocation*>(&anywhere),
                                         cudaMemAllocationTypeManaged));
    EXPECT_NE(pinned, managed);
    int* both = nullptr;
    ASSERT_CUDA(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&both), 64, managed, nullptr));
    EXPECT_CUDA(cudaMemsetAsync(both, 1, 64, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(both[15], 0x01010101);
    EXPECT_CUDA(cudaFreeAsync(both, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
}
#endif

TEST(PoolOnEmulator, needs_a_location_to_tell_access) {
    cudaMemPool_t pool = nullptr;
    ASSERT_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    EXPECT_EQ(cudaMemPoolGetAccess(&flags, pool, nullptr), cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST(Pool, refuses_bad_questions) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMemPoolCreate(nullptr, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocAsync(nullptr, 64, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocAsync(&memory, std::size_t{1} << 50, nullptr), cudaErrorMemoryAllocation);
    cudaGetLastError();
}
