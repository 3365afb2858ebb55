// One file: nvcc takes longer to begin than for all of them.
#include "async.cu"
#include "floats.cu"
#include "halves.cu"
#include "integers.cu"
#include "warps.cu"
