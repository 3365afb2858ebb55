#!/usr/bin/env bash
# package_test.sh deb|wheel BUILD PROGRAM: makes the package, installs it where nothing else is than what it depends on, and runs the
# CUDA program with it. Exit status 77: this machine cannot make such a place.
set -euo pipefail

kind=$1 build=$2 program=$3
here=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v bwrap >/dev/null || ! bwrap --ro-bind / / true 2>/dev/null; then echo "SKIPPED: bwrap makes no sandbox"; exit 77; fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/packed"
cp "$program" "$stage/packed/program"

package=$("$here/scripts/$kind" "$build" "$stage/packed")
echo "$package has $(stat --format %s "$package") bytes"
inside() {
    bwrap --bind "$stage/root" / --proc /proc --dev /dev --tmpfs /tmp --bind "$stage/packed" /packed --chdir /packed --unshare-all \
        --clearenv --setenv PATH /packed/installed/bin:/usr/bin:/bin "$@"
}
if [[ $kind == deb ]]; then
    "$here/tests/bare_root" "$stage/root" "$(dpkg --print-architecture)" "$package"
else
    "$here/tests/bare_root" "$stage/root" "$(dpkg --print-architecture)" python3-venv libstdc++6
    inside /usr/bin/python3 -m venv installed
    inside installed/bin/pip install --quiet --no-index "${package##*/}"
fi

inside emulate --counters ./program "two kernels" >"$stage/out" 2>"$stage/report" || { cat "$stage/out" "$stage/report"; exit 1; }
grep -qx 42 "$stage/out" # 7 x 6
inside emulate ./program driver || { echo "no driver"; exit 1; }
grep -q '^launch 1: .*scale' "$stage/report"
if [[ -e $build/emulator/observing/export.html ]]; then # it is packed where it was made
    inside emulate --export page.html ./program "two kernels" >"$stage/out" 2>"$stage/report" || { cat "$stage/report"; exit 1; }
    grep -q '^page.html: 2 launches, ' "$stage/report"
    grep -q '"kernel":"[^"]*scale' "$stage/packed/page.html"
fi
