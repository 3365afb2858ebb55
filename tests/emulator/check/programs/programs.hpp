/// What the programs of these folders share. Those of a folder are compiled as one file, with this main.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <map>
#include <string>

/// The programs, by name. Each returns its exit status.
inline std::map<std::string, int (*)()> programs;

/// PROGRAM(name) { … }: the host part of the program in the section `name`.
#define PROGRAM(name)                                                                                        \
    static int main_of_##name();                                                                             \
    static const bool is_added_##name = programs.emplace(#name, main_of_##name).second;                      \
    static int main_of_##name()

/// LAUNCHES(name) { … }: the same for a program that is right if its launches succeed.
#define LAUNCHES(name)                                                                                       \
    static void launch_##name();                                                                             \
    PROGRAM(name) {                                                                                          \
        launch_##name();                                                                                     \
        return cudaDeviceSynchronize() != cudaSuccess;                                                       \
    }                                                                                                        \
    static void launch_##name()

/// A Memory could not be freed.
inline bool failed_to_free = false;

/// Elements in the device's memory, freed at the end of the scope.
template <typename T> class Memory {
public:
    explicit Memory(std::size_t elements) { cudaMalloc(&first_, elements * sizeof(T)); }
    /// \param byte what cudaMemset stores in each byte
    Memory(std::size_t elements, int byte) : Memory(elements) {
        cudaMemset(first_, byte, elements * sizeof(T));
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { failed_to_free |= cudaFree(first_) != cudaSuccess; }

    operator T*() const { return first_; }

private:
    T* first_ = nullptr;
};

int main(int argc, char** argv) {
    const auto program = programs.find(argc > 1 ? argv[1] : "");
    if (program != programs.end()) return program->second() || failed_to_free;
    for (const auto& [name, function] : programs) std::puts(name.c_str());
    return 2;
}
