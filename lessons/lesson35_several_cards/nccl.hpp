/// NVIDIA's library of collectives, if this machine has it: found at run time, never required.
#pragma once

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstddef>
#include <string>
#include <vector>

#include "harness/exit_status.hpp"

class Nccl {
public:
    /// A communicator for the devices from 0 to count - 1. \throws UnsupportedKernel
    explicit Nccl(int count) : communicators_(static_cast<std::size_t>(count)) {
        void* const library = dlopen("libnccl.so.2", RTLD_NOW);
        if (!library)
            throw harness::UnsupportedKernel("nccl is left out: there is no libnccl.so.2 in the loader's "
                                             "path; add its folder to LD_LIBRARY_PATH");
        find(library, "ncclCommInitAll", init_all_);
        find(library, "ncclCommDestroy", destroy_);
        find(library, "ncclGroupStart", group_start_);
        find(library, "ncclGroupEnd", group_end_);
        find(library, "ncclAllReduce", all_reduce_);
        find(library, "ncclGetErrorString", error_string_);
        find(library, "ncclGetVersion", get_version_);
        check(init_all_(communicators_.data(), count, nullptr), "ncclCommInitAll");
    }
    Nccl(const Nccl&) = delete;
    Nccl& operator=(const Nccl&) = delete;
    ~Nccl() {
        for (Communicator communicator : communicators_) destroy_(communicator);
    }

    /// 22809 is 2.28.9.
    int version() const {
        int version = 0;
        check(get_version_(&version), "ncclGetVersion");
        return version;
    }

    void group_start() const { check(group_start_(), "ncclGroupStart"); }
    void group_end() const { check(group_end_(), "ncclGroupEnd"); }

    /// One device's part. If one host thread queues all of them, it does so between group_start() and group_end().
    void all_reduce(int device, const int* input, int* output, std::size_t n, cudaStream_t stream) const {
        constexpr int int32 = 2, sum = 0; // of ncclDataType_t and ncclRedOp_t
        check(all_reduce_(input, output, n, int32, sum, communicators_[static_cast<std::size_t>(device)],
                          stream),
              "ncclAllReduce");
    }

private:
    // As nccl.h has them: a result is an enum, and 0 is success.
    using Communicator = void*;

    template <class Function> static void find(void* library, const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(library, name));
        if (!function)
            throw harness::UnsupportedKernel(std::string("nccl is left out: libnccl.so.2 has no ") + name);
    }

    void check(int result, const char* call) const {
        if (result != 0)
            throw harness::UnsupportedKernel(std::string("nccl is left out: ") + call + ": " +
                                             error_string_(result));
    }

    int (*init_all_)(Communicator* communicators, int count, const int* devices) = nullptr;
    int (*destroy_)(Communicator communicator) = nullptr;
    int (*group_start_)() = nullptr;
    int (*group_end_)() = nullptr;
    int (*all_reduce_)(const void* input, void* output, std::size_t n, int type, int operation,
                       Communicator communicator, cudaStream_t stream) = nullptr;
    const char* (*error_string_)(int result) = nullptr;
    int (*get_version_)(int* version) = nullptr;
    std::vector<Communicator> communicators_;
};
