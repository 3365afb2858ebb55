#!/usr/bin/env bash
# install_test.sh BUILD PROGRAM: installs the emulator from the build folder into a folder of its own, and runs the program
# with it in another one. What is in the way of the manual page's reader is an error too.
set -euo pipefail

build=$(realpath "$1") program=$2
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

DESTDIR=$stage/root cmake --install "$build" --prefix /opt/emulator >"$stage/log"
installed=$stage/root/opt/emulator

mkdir "$stage/elsewhere"
cp "$program" "$stage/elsewhere/program"
cd "$stage/elsewhere"
PATH=$installed/bin:$PATH emulate --check all ./program "two kernels"
env -u LD_LIBRARY_PATH "$installed/bin/emulate" --counters --format json --output counters.json ./program "two kernels"
grep -q '"launches"' counters.json
if [[ -e $build/emulator/observing/export.html ]]; then # it is installed where it was made
    "$installed/bin/emulate" --export page.html ./program "two kernels"
    grep -q '"launches":' page.html
fi
"$installed/bin/emulate" ./program driver
[[ -z $(find "$installed" -name 'libcuda*' -not -path '*/lib/emulate/*') ]] || { echo "a library of CUDA where others look"; exit 1; }

page=$installed/share/man/man1/emulate.1
warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$page" 2>&1 >"$stage/page")
[[ -z $warnings ]] || { echo "$warnings"; exit 1; }
for option in $("$installed/bin/emulate" --help | grep -oE '^ +--[a-z-]+'); do
    grep -q -- "$option" "$stage/page" || { echo "the manual page says nothing of $option"; exit 1; }
done
for heading in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'WHAT IT CAN RUN' 'WHAT IS SUPPORTED'; do
    grep -qx "$heading" "$stage/page" || { echo "the manual page has no section $heading"; exit 1; }
done
