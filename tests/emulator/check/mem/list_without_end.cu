// Nobody looks for the end of the list: what is read behind it is left out, and leads nowhere else.
#include <cuda_runtime.h>

struct Node {
    int value;
    Node* next;
};

__global__ void find_in_list(const Node* node, int value, int* place) {
    int steps = 0;
    while (node->value != value) { // expect: mem, null pointer
        node = node->next;         // expect: mem, null pointer
        ++steps;
    }
    *place = steps;
}

int main() {
    Node* nodes = nullptr;
    int* place = nullptr;
    cudaMallocManaged(&nodes, 2 * sizeof(Node));
    cudaMalloc(&place, sizeof(int));
    nodes[0] = {1, &nodes[1]};
    nodes[1] = {2, nullptr};
    find_in_list<<<1, 1>>>(nodes, 3, place);
    return cudaDeviceSynchronize() == cudaSuccess;
}
