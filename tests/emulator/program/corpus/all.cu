// One file: nvcc takes longer to begin than for all of them.
#include "integers.cu"
#include "floats.cu"
#include "halves.cu"
#include "warps.cu"
#include "async.cu"
