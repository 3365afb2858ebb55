// A CUDA program for `emulate` to run: does what its first argument says.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

/// For --ptx: outside the namespace below, in which names depend on where this file lies.
__device__ int offset = 1;
__global__ void replaced(int* out) { *out = 7 + offset; }
__global__ void replaced_too(int* out) { *out *= 2; }

namespace {

__global__ void fill(int* out, int value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }

template <int factor> __global__ void scale(int* out) {
    out[(blockIdx.y * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] *= factor;
}

__global__ void store_through(int* pointer) { *pointer = 1; }

__global__ void wait_for(const volatile int* flag) {
    while (*flag == 0) {
    }
}

__global__ void set(volatile int* flag) { *flag = 1; }

__global__ void set_and_wait(volatile int* flag) {
    *flag = 1;
    while (*flag == 1) {
    }
}

__global__ void add_to_peer(int* theirs, int* own) {
    own[threadIdx.x] = theirs[threadIdx.x];
    theirs[threadIdx.x] += 40;
    if (threadIdx.x == 0) atomicAdd_system(theirs, 2);
}

/// A barrier is missing before the last warp adds up. In the default order all others have gone before it.
__global__ void sum_of_warps(int* out) {
    __shared__ volatile int of_warp[32];
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = static_cast<int>(threadIdx.x / 32);
    if (threadIdx.x == blockDim.x - 32) {
        int sum = 0;
        for (unsigned int warp = 0; warp < blockDim.x / 32; ++warp) sum += of_warp[warp];
        *out = sum;
    }
}

constexpr int n = 128;
int* data() {
    static int* const pointer = [] {
        int* p = nullptr;
        cudaMalloc(&p, n * sizeof(int));
        return p;
    }();
    return pointer;
}

int first_value() {
    int value = 0;
    cudaMemcpy(&value, data(), sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

int tell_error() {
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
    return error == cudaSuccess ? 0 : 3;
}

/// Calls what the emulator does not support, in one way or another, and ignores all errors.
void call_unsupported(const std::string& what) {
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaArray_t array = nullptr;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {data(), ints, n * sizeof(int)};
    if (what == "texture") {
        const cudaTextureDesc description{};
        cudaTextureObject_t texture = 0;
        cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    }
    if (what == "surface") {
        cudaSurfaceObject_t surface = 0;
        cudaCreateSurfaceObject(&surface, &resource);
    }
    if (what == "levels") {
        cudaMipmappedArray_t levels = nullptr;
        cudaMallocMipmappedArray(&levels, &ints, cudaExtent{8, 8, 0}, 3);
    }
    if (what == "sparse") cudaMallocArray(&array, &ints, 8, 8, cudaArraySparse);
    if (what == "cube of planes") cudaMalloc3DArray(&array, &ints, cudaExtent{8, 8, 6}, cudaArraySparse);
    if (what == "graph") {
        cudaUserObject_t object = nullptr;
        cudaUserObjectCreate(
            &object, nullptr, [](void*) {}, 1, cudaUserObjectNoDestructorSync);
        cudaUserObjectCreate(
            &object, nullptr, [](void*) {}, 1, cudaUserObjectNoDestructorSync);
    }
    if (what == "capture") {
        cudaGraph_t graph = nullptr;
        cudaGraphCreate(&graph, 0);
        cudaGraphReleaseUserObject(graph, nullptr, 1);
    }
    if (what == "pool") {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
        cudaMemPool_t pool = nullptr;
        cudaMemPoolCreate(&pool, &properties);
    }
    if (what == "kernel attribute")
        cudaFuncSetAttribute(reinterpret_cast<const void*>(&replaced), cudaFuncAttributeRequiredClusterWidth,
                             2);
    if (what == "launch attribute") {
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeProgrammaticEvent;
        cudaLaunchConfig_t config{};
        config.gridDim = config.blockDim = dim3(1);
        config.attrs = &attribute;
        config.numAttrs = 1;
        cudaLaunchKernelEx(&config, replaced, data());
    }
    if (what == "kernel") replaced<<<1, 1>>>(data());
    if (what == "advice") cudaGraphDebugDotPrint(nullptr, "/dev/null", 0);
}

int copy_input() {
    char bytes[4096];
    std::size_t count = 0;
    while ((count = std::fread(bytes, 1, sizeof bytes, stdin)) > 0) std::fwrite(bytes, 1, count, stdout);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const char* const argument = argc > 2 ? argv[2] : "0";
    if (what == "no kernel") {
        int count = 0;
        cudaGetDeviceCount(&count);
        return count == 1 ? std::atoi(argument) : 1;
    }
    if (what == "two kernels") {
        fill<<<2, 64>>>(data(), 7);
        scale<6><<<dim3(1, 2), dim3(32, 2), 256>>>(data());
        std::printf("%d\n", first_value());
        std::fprintf(stderr, "on stderr\n");
        return std::atoi(argument);
    }
    if (what == "devices") {
        int count = 0;
        cudaGetDeviceCount(&count);
        std::printf("%d\n", count);
        return 0;
    }
    if (what == "peers") { // device 1 adds to the memory of device 0, and gets a copy of it
        int *first = nullptr, *second = nullptr;
        cudaMalloc(&first, n * sizeof(int));
        cudaMemset(first, 0, n * sizeof(int));
        cudaDeviceSynchronize();
        cudaSetDevice(1);
        cudaMalloc(&second, n * sizeof(int));
        cudaMemcpyPeer(second, 1, first, 0, n * sizeof(int));
        cudaDeviceEnablePeerAccess(0, 0);
        add_to_peer<<<1, n>>>(first, second);
        cudaMemcpyPeer(second, 1, first, 0, n * sizeof(int));
        int value = 0;
        cudaMemcpy(&value, second, sizeof value, cudaMemcpyDeviceToHost);
        int* pinned = nullptr;
        cudaMallocHost(&pinned, n * sizeof(int));
        scale<2><<<1, n>>>(pinned);
        std::printf("%d\n", value);
        return tell_error();
    }
    if (what == "reset") {
        fill<<<1, 32>>>(data(), 7);
        return cudaDeviceReset();
    }
    if (what == "missing event" || what == "event") { // between a copy and a kernel, in two streams
        cudaStream_t streams[2];
        cudaEvent_t copied = nullptr;
        int *pinned = nullptr, sum = 0;
        for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaEventCreate(&copied);
        cudaMallocHost(&pinned, n * sizeof(int));
        for (int k = 0; k < n; ++k) pinned[k] = k;
        cudaMemset(data(), 0, n * sizeof(int));
        cudaDeviceSynchronize();
        cudaMemcpyAsync(data(), pinned, n * sizeof(int), cudaMemcpyHostToDevice, streams[0]);
        cudaEventRecord(copied, streams[0]);
        if (what == "event") cudaStreamWaitEvent(streams[1], copied, 0);
        scale<2><<<1, n, 0, streams[1]>>>(data());
        cudaStreamSynchronize(streams[1]);
        cudaStreamSynchronize(streams[0]);
        cudaMemcpy(pinned, data(), n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int k = 0; k < n; ++k) sum += pinned[k];
        std::printf("%d\n", sum);
        return 0;
    }
    if (what == "polled") { // the host waits for a store, without a call
        volatile int* flag = nullptr;
        cudaMallocHost(const_cast<int**>(&flag), sizeof(int));
        *flag = 0;
        set<<<1, 1>>>(flag);
        while (*flag == 0) {
        }
        std::printf("%d\n", *flag);
        return 0;
    }
    if (what == "driver") { // as libcu++ does
        void* const library = dlopen("libcuda.so.1", RTLD_NOW);
        const auto count_devices =
            library ? reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDeviceGetCount")) : nullptr;
        int count = 0;
        return count_devices && count_devices(&count) == 0 && count == 1 ? 0 : 1;
    }
    if (what == "replaced") {
        const int more = 3;
        if (argument == std::string("variable")) cudaMemcpyToSymbol(offset, &more, sizeof more);
        replaced<<<1, 1>>>(data());
        if (argument == std::string("too")) replaced_too<<<1, 1>>>(data());
        std::printf("%d\n", first_value());
        return tell_error();
    }
    if (what == "the same") {
        for (int i = 0; i < 5; ++i) fill<<<1, 32>>>(data(), 7);
        return 0;
    }
    if (what == "together") { // blocks in clusters, and a cooperative launch of the same
        int *out = data(), value = 1;
        void* arguments[] = {&out, &value};
        cudaLaunchAttribute pairs{};
        pairs.id = cudaLaunchAttributeClusterDimension;
        pairs.val.clusterDim = {2, 1, 1};
        cudaLaunchConfig_t configuration{};
        configuration.gridDim = 2;
        configuration.blockDim = 32;
        configuration.attrs = &pairs;
        configuration.numAttrs = 1;
        cudaLaunchKernelExC(&configuration, reinterpret_cast<const void*>(fill), arguments);
        cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(fill), dim3(2), dim3(32), arguments, 0,
                                    nullptr);
        return cudaDeviceSynchronize();
    }
    if (what == "unsupported") {
        call_unsupported(argument);
        const cudaError_t error = cudaDeviceSynchronize();
        std::printf("%s\n", cudaGetErrorName(error));
        fill<<<1, 32>>>(data(), 7);
        return 0;
    }
    if (what == "input") {
        fill<<<1, 32>>>(data(), 7);
        return copy_input();
    }
    if (what == "signal") {
        fill<<<1, 32>>>(data(), 7);
        raise(std::atoi(argument));
        return 0;
    }
    if (what == "wait") { // for a signal; prints when it is ready for one
        fill<<<1, 32>>>(data(), 7);
        std::signal(SIGUSR1, [](int) { _exit(42); });
        std::fprintf(stderr, "ready\n");
        for (;;) pause();
    }
    if (what == "at exit") { // where the variables of main's thread have ended
        std::atexit([] {
            fill<<<1, 32>>>(data(), 7);
            std::printf("%d\n", first_value());
        });
        fill<<<1, 32>>>(data(), 1);
        return 0;
    }
    if (what == "endless") {
        fill<<<1, 32>>>(data(), 0);
        wait_for<<<1, 32>>>(data());
        return 0;
    }
    if (what == "left waiting") { // for what nobody stores
        int* pinned = nullptr;
        cudaStream_t other = nullptr;
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        if (argument == std::string("pinned")) cudaMallocHost(&pinned, sizeof(int));
        cudaMemset(data(), 0, n * sizeof(int));
        wait_for<<<1, 32>>>(data());
        fill<<<1, 32, 0, other>>>(data() + 32, 7);
        return 0;
    }
    if (what == "crash in a kernel") {
        volatile int* flag = nullptr;
        cudaMallocHost(const_cast<int**>(&flag), sizeof *flag);
        *flag = 0;
        std::thread([flag] {
            while (*flag == 0) std::this_thread::yield();
            raise(SIGSEGV);
        }).detach();
        set_and_wait<<<1, 1>>>(flag);
        for (;;) pause();
    }
    if (what == "illegal store") {
        store_through<<<1, 1>>>(nullptr);
        raise(std::atoi(argument)); // 0: none
        return tell_error();
    }
    if (what == "huge block") {
        fill<<<1, 2048>>>(data(), 7);
        std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
        return 4;
    }
    if (what == "too much shared memory") {
        fill<<<1, 32>>>(data(), 7);
        fill<<<1, 32, 1 << 20>>>(data(), 8);
        return 0; // as a program that looks at no errors
    }
    if (what == "fork") {
        if (const pid_t child = fork(); child != 0) {
            waitpid(child, nullptr, 0);
            scale<6><<<1, 32>>>(data());
        } else {
            fill<<<1, 32>>>(data(), 7);
        }
        return 0;
    }
    if (what == "fork later") {
        fill<<<1, 32>>>(data(), 7);
        const pid_t child = fork();
        if (child == 0) scale<6><<<1, 32>>>(data());
        if (child != 0) waitpid(child, nullptr, 0);
        return 0;
    }
    if (what == "exec") {
        fill<<<1, 32>>>(data(), 7);
        execl("/proc/self/exe", "subject", "two kernels", "5", nullptr);
    }
    if (what == "close all files") {
        for (int descriptor = 3; descriptor < 256; ++descriptor) close(descriptor);
        fill<<<1, 32>>>(data(), 7);
        return 0;
    }
    if (what == "missing barrier") {
        sum_of_warps<<<1, 128>>>(data());
        std::printf("sum\n%d\n", first_value());
        return first_value() == 6 ? 0 : 1;
    }
    if (what == "line end") { // not in the usual order
        fill<<<1, 32>>>(data(), 7);
        const bool usual = !std::strstr(std::getenv("EMULATOR_REQUEST"), "schedule");
        if (argument == std::string("status")) return usual ? 0 : 3;
        std::printf(usual ? "7" : "7\n");
        return 0;
    }
    if (what == "random") { // prints something else each time
        fill<<<1, 32>>>(data(), 7);
        std::printf("%d\n", getpid());
        return 0;
    }
    std::fprintf(stderr, "subject: unknown: %s\n", what.c_str());
    return 99;
}
