#!/usr/bin/env bash
# component_test.sh TREE NVCC CUDA_VERSION CXX: installs the emulator from TREE, where it was built alone, builds a CUDA project
# of two files against what is installed, and runs it.
set -euo pipefail

tree=$1 nvcc=$2 cuda_version=$3 cxx=$4
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

quietly() { "$@" >"$stage/log" 2>&1 || { cat "$stage/log"; echo "failed: $*"; exit 1; }; }

quietly cmake --install "$tree" --prefix "$stage/installed"
cd "$stage/installed"
for file in bin/emulate "lib/emulate/libcudart.so.${cuda_version%%.*}" lib/emulate/libcuda.so.1 include/cuda_emulator.h share/man/man1/emulate.1 \
    lib/cmake/cuda_emulator/cuda_emulatorConfig.cmake; do
    [[ -s $file ]] || { echo "$file is not installed"; exit 1; }
done
# What is installed needs nothing of the tree.
if { readelf --dynamic bin/* lib/emulate/*.so* && cat lib/cmake/*/* share/man/man1/*; } | grep -F "$tree"; then exit 1; fi
cd - >/dev/null

cp -r "$(dirname "$0")/project" "$stage/project"
quietly cmake -S "$stage/project" -B "$stage/project/build" -G Ninja -DCMAKE_PREFIX_PATH="$stage/installed" \
    -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CXX_COMPILER="$cxx"
quietly cmake --build "$stage/project/build"
cd "$stage/project/build"

quietly ctest --output-on-failure -R '^(right|without_a_race)$'
grep -q '100% tests passed, 0 tests failed out of 2' "$stage/log" || { cat "$stage/log"; exit 1; }
# 4 blocks, each with one atomic on the same sector; 0 + 1 + … + 999 = 999 x 1000 / 2
"$stage/installed/bin/emulate" ./sum 1000 | grep -x '499500, with 4 sectors of atomics'
# A test with CHECK fails where the checker finds something.
if ctest --output-on-failure -R '^racing$' >"$stage/log" 2>&1 || ! grep -q 'main.cu:17' "$stage/log"; then
    cat "$stage/log"
    echo "the race was not found"
    exit 1
fi
