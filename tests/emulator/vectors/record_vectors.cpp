// Runs the forms of tests/emulator/execute/vectors.hpp on this machine's GPU, and prints a line for each:
// form, number of results, digest. `record_vectors > tests/emulator/execute/vectors_<card>.txt` is what the
// tests compare with. `record_vectors FORM` prints operands and results of one form instead, to look at.

#include "../execute/vectors.hpp"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

using namespace emulator::vectors;
using std::uint32_t, std::uint64_t;

namespace {

void check(cudaError_t status, const std::string& what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "record_vectors: %s: %s\n", what.c_str(), cudaGetErrorString(status));
    std::exit(3);
}

std::vector<uint64_t> results_of(const Form& form, const std::vector<Operands>& operands) {
    const std::string text = module_text(form);
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          form.instruction);
    check(cudaLibraryGetKernel(&kernel, library, "k"), form.instruction);
    void *in = nullptr, *out = nullptr;
    std::vector<uint64_t> results(operands.size());
    check(cudaMalloc(&in, operands.size() * sizeof(Operands)), "cudaMalloc");
    check(cudaMalloc(&out, results.size() * sizeof(uint64_t)), "cudaMalloc");
    check(cudaMemcpy(in, operands.data(), operands.size() * sizeof(Operands), cudaMemcpyHostToDevice),
          "copy");
    void* arguments[] = {&in, &out};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                           dim3(static_cast<uint32_t>(operands.size() / threads_per_block)),
                           dim3(threads_per_block), arguments, 0, nullptr),
          form.instruction);
    check(cudaMemcpy(results.data(), out, results.size() * sizeof(uint64_t), cudaMemcpyDeviceToHost),
          form.instruction);
    check(cudaFree(in), "cudaFree");
    check(cudaFree(out), "cudaFree");
    check(cudaLibraryUnload(library), form.instruction);
    return results;
}

void print_one(const Form& form) {
    const auto operands = operands_of(form);
    const auto results = results_of(form, operands);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Operands& o = operands[i];
        const uint64_t expected = comparable(form, form.expected(o));
        std::printf("%016lx %016lx %016lx -> %016lx%s\n", o.a, o.b, o.c, results[i],
                    comparable(form, results[i]) == expected ? "" : "  differs from the reference");
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        for (const Form& form : forms())
            if (form.instruction == argv[1]) return print_one(form), 0;
        std::fprintf(stderr, "record_vectors: there is no form '%s'\n", argv[1]);
        return 2;
    }
    cudaDeviceProp device{};
    int driver = 0;
    check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    std::printf("# %s, driver for CUDA %d.%d, tests/emulator/vectors/record_vectors\n", device.name,
                driver / 1000, driver % 1000 / 10);
    for (const Form& form : forms()) {
        const auto results = results_of(form, operands_of(form));
        std::printf("%s %zu %016lx\n", form.instruction.c_str(), results.size(),
                    digest(form, results.data(), results.size()));
    }
}
