#!/usr/bin/env bash
# architectures_test.sh NVCC ARCHITECTURE: compiles the lessons whose kernels use what only some cards have, for cards of that compute
# capability: 75 is the oldest that CUDA 13 has. What a card lacks stands behind a guard, and the program leaves out that kernel
# (KernelRun::require_compute_capability). Of newer cards than the emulator's, only guards can leave out what they have.
set -euo pipefail
cd "$(dirname "$0")/../.."
compiled=0 failed=0
special='__CUDA_ARCH__'
[[ $2 -gt 90 ]] || special+='|__reduce_|\basm\b|cuda::|cooperative'
for folder in $(grep -lE "$special" lessons/*/*.cuh | xargs -n 1 dirname | sort -u); do
    "$1" -std=c++17 -D_CG_LIMIT_INCLUDED_DEPENDENCIES -I common -arch="compute_$2" -ptx "$folder/main.cu" -o /dev/null || failed=1
    compiled=$((compiled + 1))
done
echo "$compiled programs compiled for $2"
((compiled >= 5 && !failed))
