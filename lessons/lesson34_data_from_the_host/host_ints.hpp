/// Random ints in host memory of each kind, and their sum.
#pragma once

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/check.hpp"
#include "harness/exit_status.hpp"
#include "harness/numbers.hpp"
#include "harness/random_input.hpp"

enum class HostMemory {
    pageable, ///< as malloc returns it
    pinned,   ///< the system never moves its pages, so the card can read them by itself
    file      ///< the pages of a file, by mmap
};

class HostInts {
public:
    /// \throws DeviceError if the machine has too little memory, or no room for the file
    HostInts(HostMemory kind, std::size_t n, std::uint64_t seed) : kind_(kind), bytes_(n * sizeof(int)) {
        if (n > SIZE_MAX / sizeof(int)) throw harness::DeviceError("--n: no machine has as much memory");
        allocate();
        for (std::size_t i = 0; i < n; ++i) data_[i] = harness::random_int(seed, i);
        sum_ = harness::reference_sum(data_, n);
    }
    HostInts(const HostInts&) = delete;
    HostInts& operator=(const HostInts&) = delete;
    ~HostInts() {
        if (kind_ == HostMemory::pinned)
            cudaFreeHost(data_);
        else
            munmap(data_, bytes_);
    }

    const int* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    int sum() const { return sum_; }

private:
    void allocate() {
        if (kind_ == HostMemory::file) return map_file();
        if (kind_ == HostMemory::pageable) return map(-1, MAP_PRIVATE | MAP_ANONYMOUS);
        const cudaError_t error = cudaMallocHost(&data_, bytes_);
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError(); // clears the error, or the next check would report it again
            throw harness::DeviceError("too little host memory to pin " + harness::format_bytes(bytes_) +
                                       " (cudaErrorMemoryAllocation); write a smaller --n");
        }
        HARNESS_CHECK(error);
    }

    /// A file in $TMPDIR or /tmp that has no name any more: it ends with the mapping.
    void map_file() {
        const char* const folder = std::getenv("TMPDIR");
        const std::string place = folder && *folder ? folder : "/tmp";
        std::string name = place + "/lesson34_XXXXXX";
        const int file = mkstemp(name.data());
        if (file < 0)
            throw harness::DeviceError(place + ": no file can be made there: " + std::strerror(errno));
        unlink(name.c_str());
        const int error =
            posix_fallocate(file, 0, static_cast<off_t>(bytes_)); // Or a full disk ends the program.
        if (error != 0) {
            close(file);
            throw harness::DeviceError(place + ": no file of " + harness::format_bytes(bytes_) +
                                       " can be made there: " + std::strerror(error) +
                                       "; write a smaller --n, or name another folder in TMPDIR");
        }
        map(file, MAP_SHARED);
        close(file);
    }

    void map(int file, int flags) {
        void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, file, 0);
        if (memory == MAP_FAILED) {
            if (file >= 0) close(file);
            throw harness::DeviceError("too little host memory for " + harness::format_bytes(bytes_) +
                                       "; write a smaller --n");
        }
        data_ = static_cast<int*>(memory);
    }

    HostMemory kind_;
    std::size_t bytes_;
    int* data_ = nullptr;
    int sum_ = 0;
};
