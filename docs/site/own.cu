#include <cstdio>

// Change this, or paste a program of your own: any .cu file with a main().
__global__ void square(int* values) {
    values[threadIdx.x] *= values[threadIdx.x];
}

int main() {
    int values[32];
    for (int i = 0; i < 32; ++i) values[i] = i;

    int* device_values;
    cudaMalloc(&device_values, sizeof(values));
    cudaMemcpy(device_values, values, sizeof(values), cudaMemcpyHostToDevice);
    square<<<1, 32>>>(device_values);
    cudaMemcpy(values, device_values, sizeof(values), cudaMemcpyDeviceToHost);
    cudaFree(device_values);
    std::printf("31 * 31 = %d\n", values[31]);
}
