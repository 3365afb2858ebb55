// CUDA arrays as storage. An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as
// well.

#include "cuda_test.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace {

/// An array that lives as long as this.
class DeviceArray {
public:
    DeviceArray(cudaChannelFormatDesc format, cudaExtent extent, unsigned int flags = cudaArrayDefault) {
        EXPECT_CUDA(cudaMalloc3DArray(&array_, &format, extent, flags));
    }
    ~DeviceArray() { EXPECT_CUDA(cudaFreeArray(array_)); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    operator cudaArray_t() const { return array_; }

private:
    cudaArray_t array_ = nullptr;
};

const auto ints = cudaCreateChannelDesc<int>();
const auto floats = cudaCreateChannelDesc<float>();

std::vector<int> numbers(std::size_t count) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
}

/// All of an array of ints, `width` x `height`.
std::vector<int> contents(cudaArray_const_t array, std::size_t width, std::size_t height) {
    std::vector<int> values(width * height);
    EXPECT_CUDA(cudaMemcpy2DFromArray(values.data(), width * sizeof(int), array, 0, 0, width * sizeof(int),
                                      height, cudaMemcpyDeviceToHost));
    return values;
}

void fill_with(cudaArray_t array, const std::vector<int>& values, std::size_t width) {
    EXPECT_CUDA(cudaMemcpy2DToArray(array, 0, 0, values.data(), width * sizeof(int), width * sizeof(int),
                                    values.size() / width, cudaMemcpyHostToDevice));
}

cudaError_t allocation(cudaChannelFormatDesc format, cudaExtent extent,
                       unsigned int flags = cudaArrayDefault) {
    cudaArray_t array = nullptr;
    const cudaError_t error = cudaMalloc3DArray(&array, &format, extent, flags);
    if (error == cudaSuccess) {
        EXPECT_CUDA(cudaFreeArray(array));
    }
    return error;
}

} // namespace

TEST(Array, takes_rows_and_gives_them_back) {
    constexpr std::size_t width = 7, height = 3;
    const DeviceArray array(ints, make_cudaExtent(width, height, 0));
    const auto sent = numbers(width * height);
    fill_with(array, sent, width);
    EXPECT_EQ(contents(array, width, height), sent);
}

TEST(Array, counts_columns_in_bytes_and_lines_in_rows) {
    constexpr std::size_t width = 5, height = 4;
    const DeviceArray array(ints, make_cudaExtent(width, height, 0));
    auto expected = numbers(width * height);
    fill_with(array, expected, width);
    // 2 x 3 ints, from column 3 and row 1 on; their own rows are 4 ints apart.
    const std::vector<int> patch = {100, 101, 0, 0, 102, 103, 0, 0, 104, 105, 0, 0};
    EXPECT_CUDA(cudaMemcpy2DToArray(array, 3 * sizeof(int), 1, patch.data(), 4 * sizeof(int), 2 * sizeof(int),
                                    3, cudaMemcpyHostToDevice));
    for (std::size_t row = 0; row < 3; ++row)
        std::copy_n(&patch[4 * row], 2, &expected[(row + 1) * width + 3]);
    EXPECT_EQ(contents(array, width, height), expected);

    std::vector<int> part(2);
    EXPECT_CUDA(cudaMemcpy2DFromArray(part.data(), 2 * sizeof(int), array, 3 * sizeof(int), 2,
                                      2 * sizeof(int), 1, cudaMemcpyDefault));
    EXPECT_EQ(part, (std::vector<int>{102, 103}));
}

TEST(Array, takes_device_memory_and_other_arrays) {
    constexpr std::size_t width = 6, height = 4, row = width * sizeof(int);
    const DeviceArray first(ints, make_cudaExtent(width, height, 0)),
        second(ints, make_cudaExtent(width, height, 0));
    const auto sent = numbers(width * height);
    char* device = nullptr;
    std::size_t pitch = 0;
    ASSERT_CUDA(cudaMallocPitch(&device, &pitch, row, height));
    EXPECT_CUDA(cudaMemcpy2D(device, pitch, sent.data(), row, row, height, cudaMemcpyHostToDevice));
    EXPECT_CUDA(
        cudaMemcpy2DToArrayAsync(first, 0, 0, device, pitch, row, height, cudaMemcpyDeviceToDevice, nullptr));
    fill_with(second, std::vector<int>(width * height, -1), width);
    // All but the first column and the last row go to all but the last column and the first row.
    EXPECT_CUDA(cudaMemcpy2DArrayToArray(second, 0, 1, first, sizeof(int), 0, row - sizeof(int), height - 1));
    EXPECT_CUDA(cudaMemset2D(device, pitch, 0, row, height));
    EXPECT_CUDA(cudaMemcpy2DFromArrayAsync(device, pitch, second, 0, 0, row, height, cudaMemcpyDeviceToDevice,
                                           nullptr));
    std::vector<int> received(width * height), expected(width * height, -1);
    EXPECT_CUDA(cudaMemcpy2D(received.data(), row, device, pitch, row, height, cudaMemcpyDeviceToHost));
    for (std::size_t y = 1; y < height; ++y)
        for (std::size_t x = 0; x + 1 < width; ++x) expected[y * width + x] = sent[(y - 1) * width + x + 1];
    EXPECT_EQ(received, expected);
    EXPECT_CUDA(cudaFree(device));
}

TEST(Array, says_what_it_is) {
    const DeviceArray plane(cudaCreateChannelDesc<short2>(), make_cudaExtent(9, 5, 0)),
        line(floats, make_cudaExtent(9, 0, 0)), layers(ints, make_cudaExtent(9, 0, 3), cudaArrayLayered);
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned int flags = 99;
    EXPECT_CUDA(cudaArrayGetInfo(&format, &extent, &flags, plane));
    EXPECT_EQ(format.x, 16);
    EXPECT_EQ(format.y, 16);
    EXPECT_EQ(format.z, 0);
    EXPECT_EQ(format.w, 0);
    EXPECT_EQ(format.f, cudaChannelFormatKindSigned);
    EXPECT_EQ(extent.width, 9u);
    EXPECT_EQ(extent.height, 5u);
    EXPECT_EQ(extent.depth, 0u);
    EXPECT_EQ(flags, 0u);

    EXPECT_CUDA(cudaArrayGetInfo(nullptr, &extent, nullptr, line));
    EXPECT_EQ(extent.height, 0u);
    EXPECT_CUDA(cudaArrayGetInfo(nullptr, &extent, &flags, layers));
    EXPECT_EQ(extent.depth, 3u);
    EXPECT_EQ(flags, static_cast<unsigned int>(cudaArrayLayered));

    EXPECT_CUDA(cudaGetChannelDesc(&format, line));
    EXPECT_EQ(format.x, 32);
    EXPECT_EQ(format.f, cudaChannelFormatKindFloat);
    EXPECT_EQ(cudaGetChannelDesc(nullptr, line), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetChannelDesc(&format, nullptr), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaArrayGetInfo(&format, &extent, &flags, nullptr), cudaErrorInvalidResourceHandle);
}

TEST(Array, in_three_dimensions_is_copied_in_elements) {
    // 4 x 3 x 2 float2 from the host; then the last 2 x 2 x 1 of them to the start of another array.
    constexpr std::size_t width = 4, height = 3, depth = 2;
    const auto format = cudaCreateChannelDesc<float2>();
    const cudaExtent extent = make_cudaExtent(width, height, depth);
    const DeviceArray first(format, extent), second(format, make_cudaExtent(2, 2, 2));
    std::vector<float2> sent(width * height * depth);
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = {static_cast<float>(i), -static_cast<float>(i)};

    cudaMemcpy3DParms in{};
    in.srcPtr = make_cudaPitchedPtr(sent.data(), width * sizeof(float2), width, height);
    in.dstArray = first;
    in.extent = extent;
    in.kind = cudaMemcpyHostToDevice;
    EXPECT_CUDA(cudaMemcpy3D(&in));

    cudaMemcpy3DParms across{};
    across.srcArray = first;
    across.srcPos = make_cudaPos(2, 1, 1);
    across.dstArray = second;
    across.dstPos = make_cudaPos(0, 0, 1);
    across.extent = make_cudaExtent(2, 2, 1);
    across.kind = cudaMemcpyDeviceToDevice;
    EXPECT_CUDA(cudaMemcpy3D(&across));

    // In such a copy a pointer's position also counts elements, despite CUDA's reference.
    std::vector<float2> received(6, float2{7, 7});
    cudaMemcpy3DParms out{};
    out.srcArray = second;
    out.srcPos = make_cudaPos(0, 0, 1);
    out.dstPtr = make_cudaPitchedPtr(received.data(), 3 * sizeof(float2), 3, 2);
    out.dstPos = make_cudaPos(1, 0, 0);
    out.extent = make_cudaExtent(2, 2, 1);
    out.kind = cudaMemcpyDeviceToHost;
    EXPECT_CUDA(cudaMemcpy3DAsync(&out, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
    out.dstPos.x = 2; // there is no room for a second element in the row
    EXPECT_EQ(cudaMemcpy3D(&out), cudaErrorInvalidValue);
    for (std::size_t y = 0; y < 2; ++y) {
        EXPECT_EQ(received[3 * y].x, 7);
        for (std::size_t x = 0; x < 2; ++x) {
            const float2 expected = sent[(height + 1 + y) * width + 2 + x];
            EXPECT_EQ(received[3 * y + 1 + x].x, expected.x);
            EXPECT_EQ(received[3 * y + 1 + x].y, expected.y);
        }
    }
}

TEST(Array, is_on_the_device_whatever_the_direction_of_a_copy_in_three_dimensions_says) {
    const DeviceArray array(ints, make_cudaExtent(4, 2, 0));
    const auto sent = numbers(8);
    cudaMemcpy3DParms in{};
    in.srcPtr = make_cudaPitchedPtr(const_cast<int*>(sent.data()), 4 * sizeof(int), 4, 2);
    in.dstArray = array;
    in.extent = make_cudaExtent(4, 2, 1);
    in.kind = cudaMemcpyHostToHost;
    EXPECT_CUDA(cudaMemcpy3D(&in));
    EXPECT_EQ(contents(array, 4, 2), sent);
}

TEST(Array, of_layers_and_faces_is_slices) {
    for (const auto& [extent, flags] :
         {std::pair{make_cudaExtent(4, 0, 3), static_cast<unsigned int>(cudaArrayLayered)},
          {make_cudaExtent(4, 5, 3), static_cast<unsigned int>(cudaArrayLayered)},
          {make_cudaExtent(4, 4, 6), static_cast<unsigned int>(cudaArrayCubemap)},
          {make_cudaExtent(4, 4, 12), cudaArrayCubemap | cudaArrayLayered}}) {
        const DeviceArray array(ints, extent, flags);
        const std::size_t rows = std::max<std::size_t>(extent.height, 1);
        const auto sent = numbers(4 * rows * extent.depth);
        std::vector<int> received(sent.size());
        cudaMemcpy3DParms in{}, out{};
        in.srcPtr = make_cudaPitchedPtr(const_cast<int*>(sent.data()), 4 * sizeof(int), 4, rows);
        out.dstPtr = make_cudaPitchedPtr(received.data(), 4 * sizeof(int), 4, rows);
        in.dstArray = out.srcArray = array;
        in.extent = out.extent = make_cudaExtent(4, rows, extent.depth);
        in.kind = out.kind = cudaMemcpyDefault;
        EXPECT_CUDA(cudaMemcpy3D(&in));
        EXPECT_CUDA(cudaMemcpy3D(&out));
        EXPECT_EQ(received, sent);
    }
}

TEST(Array, has_elements_of_one_two_or_four_equal_channels) {
    const cudaExtent plane = make_cudaExtent(16, 16, 0);
    const auto desc = [](int x, int y, int z, int w, cudaChannelFormatKind kind) {
        return cudaCreateChannelDesc(x, y, z, w, kind);
    };
    EXPECT_CUDA(allocation(cudaCreateChannelDesc<uchar4>(), plane));
    EXPECT_CUDA(allocation(cudaCreateChannelDesc<float4>(), plane));
    EXPECT_CUDA(allocation(desc(16, 0, 0, 0, cudaChannelFormatKindFloat), plane)); // half
    for (const auto& wrong :
         {desc(0, 0, 0, 0, cudaChannelFormatKindSigned), desc(10, 0, 0, 0, cudaChannelFormatKindSigned),
          desc(32, 16, 0, 0, cudaChannelFormatKindUnsigned), desc(8, 8, 8, 0, cudaChannelFormatKindUnsigned),
          desc(0, 32, 0, 0, cudaChannelFormatKindSigned), desc(32, 0, 32, 0, cudaChannelFormatKindSigned),
          desc(8, 0, 0, 0, cudaChannelFormatKindFloat), desc(32, 0, 0, 0, cudaChannelFormatKindNone)})
        EXPECT_EQ(allocation(wrong, plane), cudaErrorInvalidChannelDescriptor)
            << wrong.x << ' ' << wrong.y << ' ' << wrong.z << ' ' << wrong.w << ' ' << wrong.f;
}

TEST(Array, has_an_extent_that_fits_its_flags) {
    cudaArray_t array = nullptr;
    EXPECT_EQ(cudaMallocArray(nullptr, &ints, 4, 4), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocArray(&array, nullptr, 4, 4), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocArray(&array, &ints, 0, 4), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocArray(&array, &ints, 0, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocArray(&array, &ints, 4, 4, cudaArrayCubemap), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMallocArray(&array, &ints, 4, 0, cudaArrayTextureGather), cudaErrorInvalidValue);
    EXPECT_EQ(allocation(ints, make_cudaExtent(4, 0, 4)), cudaErrorInvalidValue); // not layered
    EXPECT_EQ(allocation(ints, make_cudaExtent(4, 5, 6), cudaArrayCubemap), cudaErrorInvalidValue);
    EXPECT_EQ(allocation(ints, make_cudaExtent(4, 4, 12), cudaArrayCubemap), cudaErrorInvalidValue);
    EXPECT_EQ(allocation(ints, make_cudaExtent(4, 4, 4), cudaArrayTextureGather), cudaErrorInvalidValue);
    EXPECT_EQ(allocation(ints, make_cudaExtent(4, 4, 4), 0x1000), cudaErrorInvalidValue);
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(allocation(ints, make_cudaExtent(huge, huge, 0)), cudaErrorInvalidValue);

    cudaDeviceProp properties{};
    EXPECT_CUDA(cudaGetDeviceProperties(&properties, 0));
    const auto columns = static_cast<std::size_t>(properties.maxTexture2D[0]),
               lines = static_cast<std::size_t>(properties.maxTexture2D[1]);
    EXPECT_CUDA(allocation(ints, make_cudaExtent(columns, 2, 0)));
    EXPECT_EQ(allocation(ints, make_cudaExtent(columns + 1, 2, 0)), cudaErrorInvalidValue);
    EXPECT_EQ(allocation(ints, make_cudaExtent(2, lines + 1, 0)), cudaErrorInvalidValue);
}

TEST(Array, refuses_copies_that_leave_it) {
    constexpr std::size_t width = 8, height = 4, row = width * sizeof(int);
    const DeviceArray array(ints, make_cudaExtent(width, height, 0));
    const auto sent = numbers(width * height);
    fill_with(array, sent, width);
    std::vector<int> host(4 * width * height);
    const auto in = [&](std::size_t x, std::size_t y, std::size_t columns, std::size_t lines) {
        return cudaMemcpy2DToArray(array, x, y, host.data(), 2 * row, columns, lines, cudaMemcpyHostToDevice);
    };
    EXPECT_EQ(in(0, 0, row + sizeof(int), 1), cudaErrorInvalidValue);
    EXPECT_EQ(in(0, 0, row, height + 1), cudaErrorInvalidValue);
    EXPECT_EQ(in(sizeof(int), 0, row, 1), cudaErrorInvalidValue);
    EXPECT_EQ(in(0, 1, row, height), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy2DFromArray(host.data(), 2 * row, array, row, 0, sizeof(int), 1, cudaMemcpyDefault),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy2DArrayToArray(array, 0, 0, array, 0, 2, row, 3), cudaErrorInvalidValue);
    EXPECT_EQ(contents(array, width, height), sent); // nothing was written

    EXPECT_CUDA(in(1, 0, 3, 1)); // from within an element to its end
    EXPECT_EQ(contents(array, width, height).front(), sent.front() & 0xff);
    EXPECT_CUDA(cudaMemcpy2DToArray(array, 0, 0, sent.data(), row, row, 1, cudaMemcpyHostToDevice));

    EXPECT_CUDA(in(0, 0, row, 0));
    EXPECT_CUDA(in(0, 0, 0, height));
    EXPECT_EQ(contents(array, width, height), sent);
}

TEST(Array, refuses_what_else_is_wrong_with_a_copy) {
    constexpr std::size_t row = 8 * sizeof(int);
    const DeviceArray array(ints, make_cudaExtent(8, 4, 0)),
        doubled(cudaCreateChannelDesc<int2>(), make_cudaExtent(8, 4, 0));
    std::vector<int> host(64);
    EXPECT_EQ(cudaMemcpy2DToArray(nullptr, 0, 0, host.data(), row, row, 4, cudaMemcpyHostToDevice),
              cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, nullptr, row, row, 4, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, host.data(), row - 1, row, 4, cudaMemcpyHostToDevice),
              cudaErrorInvalidPitchValue);
    EXPECT_EQ(cudaMemcpy2DToArray(array, 0, 0, host.data(), row, row, 4, static_cast<cudaMemcpyKind>(-1)),
              cudaErrorInvalidMemcpyDirection);

    cudaMemcpy3DParms copy{};
    copy.srcArray = array;
    copy.dstArray = doubled;
    copy.extent = make_cudaExtent(2, 2, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); // elements of 4 and of 8 bytes
    copy.dstArray = nullptr;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); // nowhere
    copy.dstArray = array;
    copy.srcPtr = make_cudaPitchedPtr(host.data(), row, 8, 4);
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); // from two places
    copy.srcArray = nullptr;
    copy.kind = cudaMemcpyHostToDevice;
    copy.extent = make_cudaExtent(8, 5, 1);
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); // a row too many
    copy.extent = make_cudaExtent(8, 4, 1);
    copy.dstPos.x = 1;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); // a column too many
    copy.dstPos.x = 0;
    EXPECT_CUDA(cudaMemcpy3D(&copy));
}

TEST(Array, of_nothing_is_freed_without_effect) { EXPECT_CUDA(cudaFreeArray(nullptr)); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(Array, is_copied_from_row_to_row_by_the_old_calls) {
    constexpr std::size_t width = 4, height = 4, element = sizeof(int);
    const DeviceArray first(ints, make_cudaExtent(width, height, 0)),
        second(ints, make_cudaExtent(width, height, 0));
    const auto sent = numbers(width * height);
    // 6 ints from column 3 of row 0 on: one in row 0, four in row 1, one in row 2.
    fill_with(first, std::vector<int>(width * height, 0), width);
    EXPECT_CUDA(cudaMemcpyToArray(first, 3 * element, 0, sent.data(), 6 * element, cudaMemcpyHostToDevice));
    EXPECT_EQ(contents(first, width, height),
              (std::vector<int>{0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0}));
    std::vector<int> received(5);
    EXPECT_CUDA(
        cudaMemcpyFromArray(received.data(), first, 0, 1, received.size() * element, cudaMemcpyDeviceToHost));
    EXPECT_EQ(received, (std::vector<int>{2, 3, 4, 5, 6}));
    fill_with(second, std::vector<int>(width * height, 0), width);
    EXPECT_CUDA(cudaMemcpyArrayToArray(second, 0, 2, first, 3 * element, 0, 6 * element));
    EXPECT_EQ(contents(second, width, height),
              (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0}));
    EXPECT_EQ(cudaMemcpyToArray(first, element, 3, sent.data(), 4 * element, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpyFromArray(received.data(), first, 0, 4, element, cudaMemcpyDeviceToHost),
              cudaErrorInvalidValue);
}
#pragma GCC diagnostic pop

TEST(Array, is_copied_by_graphs) {
    constexpr std::size_t width = 4, height = 2, row = width * sizeof(int);
    const DeviceArray first(ints, make_cudaExtent(width, height, 0)),
        second(ints, make_cudaExtent(width, height, 0));
    std::vector<int> source(width * height), received(width * height);

    // Captured: from the host to the first array. By hand, after it: from the first to the second.
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamCreate(&stream));
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT_CUDA(cudaMemcpy2DToArrayAsync(first, 0, 0, source.data(), row, row, height, cudaMemcpyHostToDevice,
                                         stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphNode_t captured = nullptr, added = nullptr;
    std::size_t count = 1;
    EXPECT_CUDA(cudaGraphGetNodes(graph, &captured, &count));
    ASSERT_EQ(count, 1u);
    cudaMemcpy3DParms across{};
    across.srcArray = first;
    across.dstArray = second;
    across.extent = make_cudaExtent(width, height, 1);
    across.kind = cudaMemcpyDeviceToDevice;
    EXPECT_CUDA(cudaGraphAddMemcpyNode(&added, graph, &captured, 1, &across));
    across.extent.width = width + 1;
    EXPECT_NE(cudaGraphAddMemcpyNode(&added, graph, &captured, 1, &across), cudaSuccess);
    (void)cudaGetLastError();

    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 1; launch <= 2; ++launch) {
        std::fill(source.begin(), source.end(), launch);
        EXPECT_CUDA(cudaGraphLaunch(exec, stream));
        EXPECT_CUDA(cudaStreamSynchronize(stream));
        EXPECT_EQ(contents(second, width, height), source);
    }
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaGraphDestroy(graph));
    EXPECT_CUDA(cudaStreamDestroy(stream));
}
