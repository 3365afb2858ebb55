// Lesson 24's transposition beside the best copy of the same ints, and beside kernels that show where time is
// lost.
//
//     ahead_transpose [--runs R] [--largest EXPONENT]
//     ahead_transpose --once      each kernel once, for Nsight Compute and the checkers

#include <cstring>

#include "../../lessons/lesson24_transposition/course/experiment.cuh"
#include "../../lessons/lesson24_transposition/sectors.cuh"
#include "ahead.hpp"
#include "harness/device_buffer.hpp"
#include "harness/reduction.hpp"

namespace {

using harness::ceil_div, harness::DeviceBuffer;

__host__ __device__ int value_at(std::size_t i) {
    return static_cast<int>((i + 1) * 0x9E3779B97F4A7C15 >> 32);
}

__global__ void fill(int* matrix, std::size_t n) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
        matrix[i] = value_at(i);
}

/// What a kernel does with a matrix.
enum class Task { copy, copy_without_an_int, copy_without_a_sector, transpose };

__device__ int expected_at(std::size_t i, Task task, unsigned int width, unsigned int height) {
    const auto poison = static_cast<int>(0x01010101u * harness::poison_byte);
    if (task == Task::transpose) return value_at(i % height * width + i / height);
    if (task == Task::copy_without_an_int && i % width % 8 == 7) return poison;
    if (task == Task::copy_without_a_sector && i % width / 8 % 8 == 7) return poison;
    return value_at(i);
}

__global__ void count_wrong(const int* output, Task task, unsigned int width, unsigned int height,
                            int* wrong) {
    const std::size_t n = std::size_t{width} * height, threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
        if (output[i] != expected_at(i, task, width, height)) atomicAdd(wrong, 1);
}

/// The best copy that we know: one load of 16 bytes per thread.
__global__ void copy_vectors(const int* input, int* output, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n / 4) reinterpret_cast<int4*>(output)[i] = reinterpret_cast<const int4*>(input)[i];
    if (i < n % 4) output[n / 4 * 4 + i] = input[n / 4 * 4 + i];
}

struct Shape {
    unsigned int width, height;
    std::size_t size() const { return std::size_t{width} * height; }
    std::string name() const { return std::to_string(width) + " x " + std::to_string(height); }
};

class Races {
public:
    explicit Races(std::size_t most) : input_(most), output_(most) {
        fill<<<1024, 256>>>(input_.data(), most);
        harness::check_launch("fill");
    }

    ahead::Contender ours(Shape shape) {
        return contender("transposeSectors", transposeSectors, Task::transpose, shape,
                         sector_tiles(output_.data(), shape.width, shape.height), dim3(wide_tile, wide_rows));
    }

    ahead::Contender copy_of(Shape shape) {
        const auto blocks = static_cast<unsigned int>(ceil_div(shape.size() / 4 + 4, 256));
        return {"copy", [=] { copy_vectors<<<blocks, 256>>>(input_.data(), output_.data(), shape.size()); },
                [=] { output_.poison(); }, [=] { return is_right(Task::copy, shape); }};
    }

    /// Those of the lesson's page.
    std::vector<ahead::Contender> experiment(Shape shape) {
        const dim3 block(tile_size, block_rows),
            grid(static_cast<unsigned int>(ceil_div(shape.width, tile_size)),
                 static_cast<unsigned int>(ceil_div(shape.height, tile_size)));
        const auto tiled = [&](const char* name, auto kernel, Task task, dim3 tiles) {
            return contender(name, kernel, task, shape, tiles, block);
        };
        std::vector<ahead::Contender> all = {tiled("lesson's copy", copy, Task::copy, grid),
                                             tiled("copy_restrict", copy_restrict, Task::copy, grid),
                                             tiled("transposePadded", transposePadded, Task::transpose, grid),
                                             tiled("transposePadded_along_output",
                                                   transposePadded_along_output, Task::transpose,
                                                   dim3(grid.y, grid.x))};
        if (shape.width % tile_size == 0) {
            all.push_back(
                tiled("copy_seven_eighths<1>", copy_seven_eighths<1>, Task::copy_without_an_int, grid));
            all.push_back(
                tiled("copy_seven_eighths<8>", copy_seven_eighths<8>, Task::copy_without_a_sector, grid));
        }
        return all;
    }

private:
    using Kernel = void (*)(const int*, int*, unsigned int, unsigned int);

    ahead::Contender contender(const char* name, Kernel kernel, Task task, Shape shape, dim3 grid,
                               dim3 block) {
        return {name,
                [=] { kernel<<<grid, block>>>(input_.data(), output_.data(), shape.width, shape.height); },
                [=] { output_.poison(); }, [=] { return is_right(task, shape); }};
    }

    bool is_right(Task task, Shape shape) {
        wrong_.write(std::array{0});
        count_wrong<<<1024, 256>>>(output_.data(), task, shape.width, shape.height, wrong_.data());
        harness::check_launch("count_wrong");
        return wrong_.read().front() == 0;
    }

    DeviceBuffer<int> input_, output_, wrong_{1};
};

} // namespace

int main(int argc, char** argv) {
    int runs = 41, largest = 28;
    bool once = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--once") == 0) once = true;
        if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = std::atoi(argv[++i]);
        if (std::strcmp(argv[i], "--largest") == 0 && i + 1 < argc) largest = std::atoi(argv[++i]);
    }
    // All rows begin at lines of 128 bytes; those of the input within sectors; those of the output at
    // sectors, but not at lines; within sectors; all within sectors.
    std::vector<Shape> explained = {{8192, 8192},  {16384, 8192}, {16383, 8192},
                                    {16384, 8184}, {16384, 8191}, {16383, 8191}};
    std::vector<Shape> others = {{255, 257},   {1000, 1000},  {4096, 4096},
                                 {4097, 4095}, {1 << 20, 64}, {64, 1 << 20}};
    std::size_t most = 0;
    for (std::vector<Shape>* shapes : {&explained, &others}) {
        const auto is_too_large = [&](Shape shape) { return shape.size() > std::size_t{1} << largest; };
        shapes->erase(std::remove_if(shapes->begin(), shapes->end(), is_too_large), shapes->end());
        for (const Shape shape : *shapes) most = std::max(most, shape.size());
    }

    const harness::Device device = harness::choose_device(harness::DeviceChoice::automatic, argv);
    Races races(most);
    if (once) {
        explained.insert(explained.end(), others.begin(), others.end());
        for (const Shape shape : explained) {
            std::vector<ahead::Contender> all = races.experiment(shape);
            all.insert(all.begin(), {races.ours(shape), races.copy_of(shape)});
            for (const ahead::Contender& one : all) {
                std::printf("%s,%s\n", shape.name().c_str(), one.name.c_str());
                one.launch();
                harness::check_launch(one.name.c_str());
                harness::synchronize(one.name.c_str());
            }
        }
        return 0;
    }
    ahead::Table table(device, runs);
    for (const Shape shape : explained) {
        table.compare(shape.name(), shape.size(), races.ours(shape), races.copy_of(shape));
        for (const ahead::Contender& rival : races.experiment(shape))
            table.compare(shape.name(), shape.size(), races.ours(shape), rival);
    }
    for (const Shape shape : others)
        table.compare(shape.name(), shape.size(), races.ours(shape), races.copy_of(shape));
}
