// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well.

#include "cuda_test.hpp"

#include <string>

namespace {

int attribute(cudaDeviceAttr which) {
    int value = -1;
    EXPECT_CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

} // namespace

TEST(Device, is_there_and_current) {
    int count = 0, device = -1;
    EXPECT_CUDA(cudaGetDeviceCount(&count));
    EXPECT_GE(count, 1);
    EXPECT_CUDA(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
    EXPECT_CUDA(cudaSetDevice(0));
    EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
}

TEST(Device, has_properties_that_agree_with_its_attributes) {
    cudaDeviceProp properties{};
    ASSERT_CUDA(cudaGetDeviceProperties(&properties, 0));
    EXPECT_FALSE(std::string(properties.name).empty());
    EXPECT_GT(properties.totalGlobalMem, 0u);
    EXPECT_EQ(properties.major, attribute(cudaDevAttrComputeCapabilityMajor));
    EXPECT_EQ(properties.minor, attribute(cudaDevAttrComputeCapabilityMinor));
    EXPECT_EQ(properties.multiProcessorCount, attribute(cudaDevAttrMultiProcessorCount));
    EXPECT_EQ(properties.warpSize, 32);
    EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
    EXPECT_EQ(properties.maxThreadsDim[2], 64);
    EXPECT_EQ(properties.maxGridSize[0], 2147483647);
    EXPECT_EQ(properties.maxThreadsPerMultiProcessor, attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
    EXPECT_EQ(properties.maxBlocksPerMultiProcessor, attribute(cudaDevAttrMaxBlocksPerMultiprocessor));
    EXPECT_EQ(properties.sharedMemPerBlock, 48u * 1024);
    EXPECT_EQ(static_cast<int>(properties.sharedMemPerBlockOptin),
              attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    EXPECT_EQ(properties.regsPerBlock, 65536);
    EXPECT_EQ(properties.memoryBusWidth, attribute(cudaDevAttrGlobalMemoryBusWidth));
    EXPECT_EQ(properties.l2CacheSize, attribute(cudaDevAttrL2CacheSize));
    EXPECT_EQ(properties.totalConstMem, 65536u);
    EXPECT_EQ(properties.unifiedAddressing, 1);
}

TEST(Device, tells_its_clocks) {
    EXPECT_GT(attribute(cudaDevAttrClockRate), 0);
    EXPECT_GT(attribute(cudaDevAttrMemoryClockRate), 0);
}

TEST(Device, refuses_bad_questions) {
    int value = 0;
    cudaDeviceProp properties{};
    EXPECT_EQ(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1000), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetDeviceProperties(&properties, -1), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetDevice(nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
}

TEST(Device, keeps_limits) {
    std::size_t value = 0;
    EXPECT_CUDA(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT_EQ(value, 1024u);
    EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    EXPECT_CUDA(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    EXPECT_EQ(value, 16u << 20);
    EXPECT_EQ(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(100)), cudaErrorInvalidValue);
}

TEST(Device, rounds_limits_to_what_it_can_keep) {
    const auto kept = [](cudaLimit limit, std::size_t wanted) {
        std::size_t value = 0;
        EXPECT_CUDA(cudaDeviceSetLimit(limit, wanted));
        EXPECT_CUDA(cudaDeviceGetLimit(&value, limit));
        return value;
    };
    EXPECT_EQ(kept(cudaLimitStackSize, 1), 16u);
    EXPECT_EQ(kept(cudaLimitStackSize, 1025), 1040u);
    EXPECT_EQ(kept(cudaLimitStackSize, 500'000), 500'000u);
    EXPECT_EQ(kept(cudaLimitMallocHeapSize, 1), 4u << 20);
    EXPECT_EQ(kept(cudaLimitMallocHeapSize, (8 << 20) + 1), (8u << 20) + (64u << 10));
    EXPECT_LT(kept(cudaLimitMallocHeapSize, std::size_t{1} << 50), std::size_t{1} << 40);
}

TEST(Device, refuses_limits_that_it_cannot_keep) {
    EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, 524'288), cudaErrorInvalidValue); // a bit less at most
    // This limit does not exist from compute capability 9.0 on.
    EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 2), cudaErrorUnsupportedLimit);
    std::size_t value = 0;
    EXPECT_CUDA(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT_EQ(value, 1024u);
}

TEST(Device, is_empty_after_a_reset) {
    int* before = nullptr;
    ASSERT_CUDA(cudaMalloc(&before, 4));
    EXPECT_CUDA(cudaDeviceReset());
    EXPECT_EQ(cudaFree(before), cudaErrorInvalidValue);
}

TEST(Version, is_that_of_the_toolkit_or_newer) {
    int runtime = 0, driver = 0;
    EXPECT_CUDA(cudaRuntimeGetVersion(&runtime));
    EXPECT_CUDA(cudaDriverGetVersion(&driver));
    EXPECT_EQ(runtime, CUDART_VERSION);
    EXPECT_GE(driver, runtime);
}

TEST(Device, is_no_peer_of_its_own) {
    int can_access = -1, value = -1;
    EXPECT_CUDA(cudaDeviceCanAccessPeer(&can_access, 0, 0));
    EXPECT_EQ(can_access, 0);
    EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
    EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
    cudaGetLastError();
}

TEST(Device, copies_between_devices_within_itself) {
    int* values = nullptr;
    const int input[2] = {3, 4};
    int output[2] = {};
    ASSERT_CUDA(cudaMalloc(&values, 2 * sizeof input));
    EXPECT_CUDA(cudaMemcpy(values, input, sizeof input, cudaMemcpyHostToDevice));
    EXPECT_CUDA(cudaMemcpyPeer(values + 2, 0, values, 0, sizeof input));
    EXPECT_CUDA(cudaMemcpyPeerAsync(values, 0, values + 2, 0, sizeof input, nullptr));
    EXPECT_CUDA(cudaMemcpy(output, values + 2, sizeof output, cudaMemcpyDeviceToHost));
    EXPECT_EQ(output[1], 4);
    EXPECT_EQ(cudaMemcpyPeer(values + 2, 1000, values, 0, sizeof input), cudaErrorInvalidDevice);
    EXPECT_CUDA(cudaFree(values));
    cudaGetLastError();
}

namespace {

/// The driver's function of that name, as libcu++ gets it.
template <class Function> Function driver(const char* name, unsigned int version = 12080) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    EXPECT_CUDA(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found))
        << name;
    EXPECT_EQ(found, cudaDriverEntryPointSuccess) << name;
    return reinterpret_cast<Function>(function);
}

} // namespace

TEST(Driver, is_found_by_its_file) {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);
    const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
    ASSERT_NE(get, nullptr);
    int (*count_devices)(int*) = nullptr;
    int found = 5, count = 0;
    EXPECT_EQ(get("cuDeviceGetCount", reinterpret_cast<void**>(&count_devices), 12000, 0, &found), 0);
    EXPECT_EQ(found, 0);
    EXPECT_EQ(count_devices(&count), 0);
    EXPECT_GE(count, 1);
    void* none = nullptr;
    EXPECT_NE(get("cuNoSuchFunction", &none, 12000, 0, &found), 0);
    EXPECT_EQ(found, 1); // not found
    EXPECT_EQ(none, nullptr);
}

TEST(Driver, knows_the_device_and_its_context) {
    using Handle = void*;
    int device = -1, warp = 0;
    EXPECT_EQ(driver<int (*)(unsigned int)>("cuInit")(0), 0);
    EXPECT_EQ(driver<int (*)(int*, int)>("cuDeviceGet")(&device, 0), 0);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(driver<int (*)(int*, int)>("cuDeviceGet")(&device, 99), 101);
    EXPECT_EQ(driver<int (*)(int*, int, int)>("cuDeviceGetAttribute")(&warp, cudaDevAttrWarpSize, 0), 0);
    EXPECT_EQ(warp, 32);
    char name[256] = {}, start[4] = {};
    EXPECT_EQ(driver<int (*)(char*, int, int)>("cuDeviceGetName")(name, sizeof name, 0), 0);
    EXPECT_EQ(driver<int (*)(char*, int, int)>("cuDeviceGetName")(start, sizeof start, 0), 0);
    EXPECT_EQ(std::string(name).substr(0, 3), start);
    Handle primary = nullptr, current = nullptr;
    EXPECT_EQ(driver<int (*)(Handle*, int)>("cuDevicePrimaryCtxRetain")(&primary, 0), 0);
    EXPECT_EQ(driver<int (*)(Handle)>("cuCtxPushCurrent")(primary), 0);
    EXPECT_EQ(driver<int (*)(Handle*)>("cuCtxGetCurrent")(&current), 0);
    EXPECT_EQ(current, primary);
    EXPECT_EQ(driver<int (*)(Handle*)>("cuCtxPopCurrent")(&current), 0);
    EXPECT_EQ(driver<int (*)(int)>("cuDevicePrimaryCtxRelease")(0), 0);
    EXPECT_CUDA(cudaGetLastError()) << "the driver's errors are not the runtime's";
}

TEST(Driver, has_the_runtimes_memory) {
    int* memory = nullptr;
    ASSERT_EQ(driver<int (*)(int**, std::size_t)>("cuMemAlloc")(&memory, 40), 0);
    EXPECT_EQ(
        driver<int (*)(int*, unsigned int, std::size_t, void*)>("cuMemsetD32Async")(memory, 7, 10, nullptr),
        0);
    int values[10] = {}, ordinal = -1, type = 0;
    EXPECT_EQ(driver<int (*)(void*, const void*, std::size_t)>("cuMemcpyDtoH")(values, memory, sizeof values),
              0);
    EXPECT_EQ(values[9], 7);
    const auto attribute = driver<int (*)(void*, int, const void*)>("cuPointerGetAttribute");
    constexpr int memory_type = 2, device_ordinal = 9, on_device = 2;
    EXPECT_EQ(attribute(&type, memory_type, memory), 0);
    EXPECT_EQ(type, on_device);
    EXPECT_EQ(attribute(&ordinal, device_ordinal, memory), 0);
    EXPECT_EQ(ordinal, 0);
    EXPECT_EQ(attribute(&type, memory_type, values), 1) << "CUDA does not know this memory";
    EXPECT_EQ(driver<int (*)(int*)>("cuMemFree")(memory), 0);
    EXPECT_EQ(driver<int (*)(int*)>("cuMemFree")(memory), 1);
    EXPECT_CUDA(cudaGetLastError());
}

// Other versions have other arguments.
TEST(DriverOnEmulator, has_the_functions_of_the_version_that_is_asked_for) {
    void* context = nullptr;
    EXPECT_EQ(driver<int (*)(void**, unsigned int, int)>("cuCtxCreate", 11030)(&context, 0, 99), 101);
    using CreateWithAffinity = int (*)(void**, void*, int, unsigned int, int);
    EXPECT_EQ(driver<CreateWithAffinity>("cuCtxCreate", 11040)(&context, nullptr, 0, 0, 99), 101);
    EXPECT_EQ(
        driver<int (*)(void**, void*, unsigned int, int)>("cuCtxCreate", 12050)(&context, nullptr, 4, 0), 0);
    EXPECT_EQ(driver<int (*)(void*)>("cuCtxDestroy")(context), 0);
    EXPECT_NE(driver<void*>("cuGetProcAddress", 11030), driver<void*>("cuGetProcAddress", 12000));
    using Words = int**;
    const auto copy = driver<int (*)(Words, Words, std::size_t*, std::size_t, void*, std::size_t*,
                                     std::size_t, std::size_t*, void*)>("cuMemcpyBatchAsync", 12080);
    const auto copy_of_13 =
        driver<int (*)(Words, Words, std::size_t*, std::size_t, void*, std::size_t*, std::size_t, void*)>(
            "cuMemcpyBatchAsync", 13000);
    DeviceInts memory(4);
    int values[2] = {7, 8}, back[2] = {};
    int *to[] = {memory.data(), nullptr}, *from[] = {values, values + 1}, *out[] = {back};
    std::size_t bytes[] = {4, 4}, failed = 0;
    EXPECT_EQ(copy(to, from, bytes, 2, nullptr, nullptr, 0, &failed, nullptr), 1);
    EXPECT_EQ(failed, 1u);
    EXPECT_EQ(copy_of_13(out, to, bytes, 1, nullptr, nullptr, 0, nullptr), 0);
    EXPECT_EQ(back[0], 7);
    EXPECT_EQ(copy_of_13(nullptr, to, bytes, 1, nullptr, nullptr, 0, nullptr), 1);
    void* none = &none;
    cudaDriverEntryPointQueryResult found{};
    EXPECT_CUDA(
        cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", &none, 12000, cudaEnableDefault, &found));
    EXPECT_EQ(found, cudaDriverEntryPointVersionNotSufficent);
    EXPECT_EQ(none, nullptr);
}

TEST(DriverOnEmulator, tells_only_the_attributes_of_pointers_that_it_knows) {
    const auto attribute = driver<int (*)(void*, int, const void*)>("cuPointerGetAttribute");
    const auto attributes =
        driver<int (*)(unsigned int, const int*, void**, const void*)>("cuPointerGetAttributes");
    cudaMemPool_t pool = nullptr, of_memory = nullptr;
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location = {cudaMemLocationTypeDevice, 0};
    ASSERT_CUDA(cudaMemPoolCreate(&pool, &wanted));
    void* memory = nullptr;
    ASSERT_CUDA(cudaMallocFromPoolAsync(&memory, 64, pool, nullptr));
    constexpr int mempool_handle = 17, invalid_value = 1, not_supported = 801;
    EXPECT_EQ(attribute(&of_memory, mempool_handle, static_cast<char*>(memory) + 8), 0);
    EXPECT_EQ(of_memory, pool) << "not the current one";
    int value = 0;
    testing::internal::CaptureStderr();
    for (const int unknown : {-1, 0, 22}) EXPECT_EQ(attribute(&value, unknown, memory), invalid_value);
    EXPECT_EQ(attribute(&value, 5, memory), not_supported);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "emulator: cuPointerGetAttribute: attribute 5 is not supported by the emulator\n");
    void *to = &value, *no_place = nullptr;
    const int type = 2;
    EXPECT_EQ(attributes(1, nullptr, &to, memory), invalid_value);
    EXPECT_EQ(attributes(1, &type, nullptr, memory), invalid_value);
    EXPECT_EQ(attributes(1, &type, &no_place, memory), invalid_value);
    EXPECT_EQ(attributes(0, &type, &to, memory), invalid_value);
    EXPECT_EQ(attributes(1, &type, &to, memory), 0);
    EXPECT_CUDA(cudaFreeAsync(memory, nullptr));
    EXPECT_CUDA(cudaMemPoolDestroy(pool));
}
