// What -use_fast_math changes.
#include "floats.cu"
#include "halves.cu"
