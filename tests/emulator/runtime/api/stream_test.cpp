// An ordinary CUDA program: it knows nothing of the emulator, and runs on a GPU as well.

#include "cuda_test.hpp"

TEST(Stream, can_be_made_used_and_destroyed) {
    cudaStream_t stream;
    ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    unsigned int flags = 0;
    EXPECT_CUDA(cudaStreamGetFlags(stream, &flags));
    EXPECT_EQ(flags, static_cast<unsigned int>(cudaStreamNonBlocking));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_CUDA(cudaStreamQuery(stream));
    EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(Stream, has_three_that_are_always_there) {
    for (const cudaStream_t stream : {cudaStream_t{}, cudaStreamLegacy, cudaStreamPerThread})
        EXPECT_CUDA(cudaStreamSynchronize(stream));
}

TEST(Stream, keeps_its_priority_within_the_range) {
    int least = 0, greatest = 0, priority = 0;
    ASSERT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT_LT(greatest, least);
    cudaStream_t stream;
    ASSERT_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest - 10));
    EXPECT_CUDA(cudaStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, greatest);
    EXPECT_CUDA(cudaStreamDestroy(stream));
}

TEST(Stream, is_not_capturing) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    EXPECT_CUDA(cudaStreamIsCapturing(nullptr, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
}

TEST(Stream, runs_functions_of_the_host) {
    int calls = 0;
    EXPECT_CUDA(cudaLaunchHostFunc(
        nullptr, [](void* data) { ++*static_cast<int*>(data); }, &calls));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(cudaLaunchHostFunc(nullptr, nullptr, &calls), cudaErrorInvalidValue);
}

TEST(Stream, refuses_bad_flags_and_null) {
    cudaStream_t stream;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 0x80), cudaErrorInvalidValue);
    EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
}

TEST(Event, measures_the_time_between) {
    cudaEvent_t start, stop;
    ASSERT_CUDA(cudaEventCreate(&start));
    ASSERT_CUDA(cudaEventCreate(&stop));
    EXPECT_CUDA(cudaEventRecord(start));
    EXPECT_CUDA(cudaEventRecord(stop));
    EXPECT_CUDA(cudaEventSynchronize(stop));
    EXPECT_CUDA(cudaEventQuery(stop));
    float milliseconds = -1;
    EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT_GE(milliseconds, 0);
    EXPECT_CUDA(cudaStreamWaitEvent(nullptr, stop, 0));
    EXPECT_CUDA(cudaEventDestroy(start));
    EXPECT_CUDA(cudaEventDestroy(stop));
}

TEST(Event, has_no_time_unless_recorded_and_timed) {
    cudaEvent_t never, untimed, timed;
    ASSERT_CUDA(cudaEventCreate(&never));
    ASSERT_CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    ASSERT_CUDA(cudaEventCreate(&timed));
    EXPECT_CUDA(cudaEventRecord(untimed));
    EXPECT_CUDA(cudaEventRecord(timed));
    EXPECT_CUDA(cudaDeviceSynchronize());
    float milliseconds = 0;
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, never, timed), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventElapsedTime(&milliseconds, untimed, timed), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaEventElapsedTime(nullptr, timed, timed), cudaErrorInvalidValue);
    EXPECT_CUDA(cudaEventQuery(never)); // nothing to wait for
    for (const cudaEvent_t event : {never, untimed, timed}) EXPECT_CUDA(cudaEventDestroy(event));
}

TEST(Event, refuses_bad_flags_and_null) {
    cudaEvent_t event;
    EXPECT_EQ(cudaEventCreateWithFlags(&event, 0x80), cudaErrorInvalidValue);
    EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventInterprocess),
              cudaErrorInvalidValue); // timing must be off
    EXPECT_EQ(cudaEventCreate(nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaEventRecord(nullptr), cudaErrorInvalidResourceHandle);
}
