# The front door: every target is a line or two that call cmake, ctest or a script.
# `make` prints the lines that begin with ##, `make help-all` also those that begin with #:.
#
#: To learn
## make start               builds a first CUDA program, ./start; then run it
#: make sum                 builds a whole sum in one file without the harness, ./sum; lessons/start/sum.md explains it
#: make exercise-start      checks its exercise: the three changes of lessons/start/README.md
## make lesson03            builds lesson 03, ./lesson03; then run it
#: make lessons             builds all lessons
## make exercise03          checks the exercise of lesson 03, your lessons/lesson03_…/exercise.cuh
## make hint03              shows the next hint of that exercise
#: make watch03             checks it whenever you save the file
#: make reset03             restores the original, and keeps your text beside it
## make exercises           shows which exercises are solved, and which is next
#: make openA               builds the program of an open exercise, A, B or C, which belongs to no lesson
#:
#: To see more
## make emulate             builds ./emulate, which runs and watches any CUDA program; ./emulate --help
## make ladder              all eleven kernels side by side: table, CSV, JSON and chart in build/ladder
#:                          ARGS="--n 2^28" passes options to ./ladder
#: make profile LESSON=03   prints Nsight Compute's counters on a GPU, the emulator's otherwise
#: make report              runs every lesson on this device, and makes a page of tables and plots in build/report
## make docs                makes the docs site in build/docs/html: pages and figures
## make serve               serves these pages on this machine, with an editor for each lesson's code: compile, run, check
#:                          PORT=8000, LISTEN=ADDRESS. CLASS=1: for a class, as docs/workbench.md describes
#: make playground          builds what runs kernels in pages: build/playground, for `make docs` and `emulate --export`
#:
#: To test
## make test                builds and runs the tests of lessons, harness, exercises and pages
#:                          LESSON=27 runs those of lesson 27 alone
#: make test-emulator       builds and runs the emulator's own tests
#: make test-all            both, and the slow ones: all wrong solutions, pages in a browser, the emulator with sanitizers
#: make fuzz SECONDS=600    feeds the emulator broken fat binaries and PTX, 600 s per target; needs clang
#: make bench-emulator      measures the emulator's warp instructions per second
#: make test-container      runs the Dockerfile's steps in a bare Debian made by debootstrap; needs root's rights
#: make test-aarch64        runs the emulator's unit tests for aarch64, under qemu
#: make test-cuda12         tests the lessons and the emulator with CUDA 12, which it fetches into build/toolkit-12
#: make test-slurm          tests the job arrays of grade and report on a Slurm cluster of this one machine
#: PRESET=sanitize          with test or test-emulator: with the sanitizers on; CMakePresets.json has other presets
#:
#: To teach
#: make grade SUBMISSIONS=dir
#:                          grades a folder of submissions, each in a sandbox, into build/grades; scripts/grade --help.
#:                          EXERCISES="03 A" grades these, and builds no others
#: make teaching-kit        slides, prediction sheets, exams with keys and a course plan in build/teaching-kit;
#:                          LESSONS="03 09" makes these alone, SEED=7 the same exams again
#: make notebooks REPOSITORY=owner/name
#:                          makes notebooks in build/docs/notebooks; `make docs` then puts them and links to Colab on the site
#: make new-lesson NAME=double_buffering
#:                          makes the skeleton of a new lesson and its exercise
#: SLURM=8                  with grade and report: does the work in a Slurm job array of 8 tasks
#:
#: To measure on a GPU
#: make measure             verifies, checks and measures everything, and records it in docs/data
#: make bench               times softmax, scan, reductions, exact sums and copies beside the libraries; prints one table
#: make measure-kit         packs build/measure-kit, to measure on a GPU machine that cannot build
#: make calibrate           measures and describes the card, so that `emulate --time=CARD` can estimate times on it
#:
#: To use emulate elsewhere
#: make install             installs emulate and its manual page in PREFIX=/usr/local; DESTDIR is put before it
#: make deb                 packs emulate into a Debian package, build/packages/emulate_….deb
#: make wheel               packs it into a Python wheel, build/packages/cuda_emulate-….whl
#:
#: To work on the tutorial
#: make container           opens a shell in a container that has all that the tutorial needs, with docker or podman
#: make setup               installs what the build needs; the targets above call it themselves
#: make lint                runs clang-format, shellcheck and ruff; TIDY=1: clang-tidy too
#: make format              formats the sources with clang-format
#: make clean               removes what was built, and keeps build/toolkit and build/toolkit-12, which were fetched
#: V=1                      with any target: shows all output of the build
## make help-all            prints all targets

PRESET  := default
build   := build/$(PRESET)
lessons := $(foreach folder,$(wildcard lessons/lesson[0-9][0-9]_*),$(firstword $(subst _, ,$(notdir $(folder)))))
# The open exercises, which belong to no lesson, have programs too.
opens   := $(foreach folder,$(wildcard lessons/open[A-Z]_*),$(firstword $(subst _, ,$(notdir $(folder)))))
# Exercises whose task needs a program of its own.
hosts   := $(foreach file,$(wildcard lessons/lesson[0-9][0-9]_*/course/exercise.cu),$(patsubst lesson%,%,$(firstword $(subst _, ,$(notdir $(patsubst %/course/,%,$(dir $(file))))))))
numbers := $(lessons:lesson%=%) $(opens:open%=%)
exercise_targets := $(foreach what,exercise hint watch reset,$(numbers:%=$(what)%))

# CMake from there if the machine's own is too old.
export PATH := $(CURDIR)/build/toolkit/cmake/bin:$(PATH)

# The build trees that a copied or moved checkout brought along, in which the sources of the old one would be built.
made_in := sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p'
foreign := $(shell for cache in $(wildcard build/*/CMakeCache.txt); do \
    [ "$$($(made_in) $$cache)" -ef "$${cache%/*}" ] || echo "$${cache%/*}"; done)

on_slurm = $(if $(SLURM),scripts/slurm/array $(SLURM))

.NOTPARALLEL:
.PHONY: help help-all start sum lessons $(lessons) $(opens) $(hosts:%=host%) $(exercise_targets) exercise-start exercises grade teaching-kit new-lesson emulate install deb wheel ladder report bench measure measure-kit calibrate playground docs serve notebooks test test-emulator test-all fuzz profile bench-emulator setup lint format clean container test-container test-aarch64 test-cuda12 test-slurm

help:
	@sed -n 's/^## //p' Makefile || true # `make | head` ends the reader first

help-all:
	@sed -n -E 's/^#[#:] ?//p' Makefile || true

# Without a GPU a lesson asks emulate for the time on a card.
$(lessons): emulate

start sum $(lessons) $(opens): $(build)/build.ninja
	@scripts/build $(build) $@
	@ln -sf $(build)/bin/$@ .

lessons: $(build)/build.ninja
	@scripts/build $(build) $(lessons)
	@ln -sf $(lessons:%=$(build)/bin/%) .

lesson%:
	$(error There is no $@$(if $(filter lesson0$*,$(lessons)),: did you mean lesson0$*?,.) There are: $(lessons))

open%:
	$(error There is no $@. There are: $(opens))

$(hosts:%=host%): host%: $(build)/build.ninja
	@scripts/build $(build) exercise$*
	@ln -sf $(build)/bin/exercise$* .

$(hosts:%=exercise%): exercise%: host%
$(hosts:%=watch%): watch%: host%

$(lessons:lesson%=exercise%): exercise%: lesson%
$(opens:open%=exercise%): exercise%: open% emulate
$(numbers:%=exercise%): exercise%:
	@scripts/setup manifests
	@scripts/exercise check $* --build $(build) $(ARGS)

$(lessons:lesson%=watch%): watch%: lesson%
$(opens:open%=watch%): watch%: open% emulate
$(numbers:%=watch%): watch%:
	@scripts/setup manifests
	@scripts/exercise watch $* --build $(build)

$(numbers:%=hint%): hint%:
	@scripts/exercise hint $*

$(numbers:%=reset%): reset%:
	@scripts/exercise reset $*

exercise% hint% watch% reset%:
	$(error There is no $@. Write the exercise's number with two digits, or its letter: $(numbers))

exercise-start: emulate
	@scripts/exercise_start --build $(build)

exercises:
	@scripts/exercise board

grade: graded := $(if $(EXERCISES),$(EXERCISES),$(numbers))
grade: $(build)/build.ninja
	$(if $(filter-out $(numbers),$(graded)),$(error There is no exercise $(firstword $(filter-out $(numbers),$(graded))). Write them with two digits, or as letters: EXERCISES="03 A"))
	@test -n "$(SUBMISSIONS)" || { echo "Which ones? make grade SUBMISSIONS=dir: a folder with one folder per student"; exit 2; }
	@scripts/setup grade
	@scripts/build $(build) emulate $(filter $(foreach what,lesson open exercise,$(graded:%=$(what)%)),$(lessons) $(opens) $(hosts:%=exercise%))
	@$(on_slurm) scripts/grade "$(SUBMISSIONS)" --build $(build) --exercises "$(EXERCISES)" $(ARGS)

teaching-kit: taught := $(if $(LESSONS),$(LESSONS:%=lesson%),$(lessons))
teaching-kit: $(build)/build.ninja
	$(if $(filter-out $(lessons),$(taught)),$(error There is no $(firstword $(filter-out $(lessons),$(taught))). Write numbers with two digits: LESSONS="03 09"))
	@scripts/setup teaching-kit
	@scripts/build $(build) $(taught)
	@scripts/teaching_kit --build $(build) --lessons "$(LESSONS)" --seed "$(SEED)" $(ARGS)

new-lesson:
	@scripts/setup manifests
	@scripts/new_lesson $(NAME)

emulate: $(build)/build.ninja
	@scripts/build $(build) emulate
	@ln -sf $(build)/bin/emulate .

PREFIX := /usr/local

install: $(build)/build.ninja
	@scripts/build $(build) emulate all_emulators emulate_man_page
	$(if $(wildcard build/playground),@$(MAKE) --no-print-directory playground)
	@cmake --install $(build) --prefix "$(PREFIX)"

deb wheel: $(build)/build.ninja
	@scripts/setup $(filter deb,$@)
	@scripts/build $(build) emulate all_emulators emulate_man_page
	$(if $(wildcard build/playground),@$(MAKE) --no-print-directory playground)
	@scripts/$@ $(build) build/packages

ladder: $(build)/build.ninja
	@scripts/build $(build) ladder && ln -sf $(build)/bin/ladder .
	@./ladder --save build/ladder $(ARGS)
	@scripts/plot_ladder build/ladder

report: $(build)/build.ninja
	@scripts/setup report
	@scripts/build $(build) ladder $(lessons)
	@$(on_slurm) scripts/report --build $(build) $(ARGS)

measure: $(build)/build.ninja
	@scripts/measure --build $(build) $(ARGS)

bench: $(build)/build.ninja
	@scripts/measure --build $(build) --out build/bench ahead

measure-kit: $(build)/build.ninja
	@scripts/measure --build $(build) --pack build/measure-kit

calibrate: $(build)/build.ninja
	@scripts/calibrate --build $(build)

playground: $(build)/build.ninja build/wasm/build.ninja
	@scripts/build $(build) lesson_ptx emulate ladder
	@scripts/build build/wasm playground
	@scripts/playground --build $(build)

build/wasm/build.ninja: | setup
	@scripts/setup playground
	@echo "configuring build/wasm"
	@said=$$(emcmake cmake -S common/emulator/playground -B build/wasm -G Ninja 2>&1) || { echo "$$said"; exit 1; }

docs: $(build)/build.ninja
	@scripts/setup docs
	@scripts/build $(build) emulate ladder $(lessons) $(opens)
	$(if $(PLAYGROUND)$(wildcard build/playground),@$(MAKE) --no-print-directory playground)
	@scripts/docs --build $(build)
	@cp build/docs/parts/figures/*.svg docs/figures

serve: $(build)/build.ninja
	@scripts/setup serve
	@scripts/build $(build) emulate
	$(if $(wildcard build/docs/html/playground/panel.js),,@echo "serve: making the pages, once, which takes some minutes" >&2; \
	    $(MAKE) --no-print-directory docs PLAYGROUND=1)
	@scripts/serve --build $(build) $(PORT:%=--port %) $(LISTEN:%=--listen %) $(if $(CLASS),--class) $(ARGS)

notebooks:
	@scripts/setup manifests
	@scripts/notebooks "$(REPOSITORY)"

# What belongs to one lesson is built as far as it is a target of its own.
test: $(LESSON:%=lesson%) $(build)/with_tests
	@scripts/build $(build) $(if $(LESSON),emulate ptx_of tests/lessons/all $(filter exercise$(LESSON),$(hosts:%=exercise%)),tests/all)
	@ctest --preset $(PRESET) -L tutorial $(LESSON:%=-R lesson%) -j $$(nproc)

emulator_tests := tests/emulator/all tests/fuzz/all tests/programs/all

test-emulator: $(build)/with_tests
	@scripts/build $(build) $(emulator_tests)
	@ctest --preset $(PRESET) -L component -j $$(nproc)

test-all: build/default/with_tests
	@scripts/build build/default sanitized_tree
	@scripts/setup test-all & scripts/build build/default/sanitized all emulator; status=$$?; wait; exit $$status
	@! grep -qs EMCC-NOTFOUND build/default/CMakeCache.txt || cmake --preset default >/dev/null # emscripten may be new
	@scripts/build build/default tests/all $(emulator_tests) slow_tests sanitized_tests
	@ctest --test-dir build/default --output-on-failure --no-tests=error -j $$(($$(nproc) + 2)) # some tests wait

SECONDS := 600

fuzz: | setup
	@scripts/setup fuzz
	@cmake --preset fuzz >/dev/null
	@scripts/build build/fuzz fuzz_fat_binary fuzz_ptx fuzz_kernel
	@scripts/fuzz build/fuzz $(SECONDS)

profile: $(LESSON:%=lesson%)
	@scripts/profile $(LESSON)

bench-emulator: $(build)/with_tests
	@scripts/build $(build) bench_emulator
	@$(build)/bin/bench_emulator

# Ninja calls CMake again by itself when a CMakeLists.txt changes.
trees := $(sort $(build) build/default)
.PHONY: $(foreign:%=%/build.ninja) $(foreign:%=%/with_tests)
$(trees:%=%/build.ninja): build/%/build.ninja: CMakePresets.json | setup
	@scripts/setup time || echo "setup: Going on without nvdisasm: no times are estimated." >&2
	@echo "configuring build/$*"
	@cmake --preset $* -DBUILD_TESTING=$(if $(filter-out $(foreign:%=%/with_tests),$(wildcard build/$*/with_tests)),ON,OFF) >/dev/null

# The tests need more than a lesson does: they are configured when they are first asked for.
$(trees:%=%/with_tests): build/%/with_tests: | build/%/build.ninja
	@scripts/setup test docs
	@cmake --preset $* -DBUILD_TESTING=ON >/dev/null
	@touch $@

container:
	@scripts/container

test-container:
	@scripts/setup container
	@rm -rf build/bare
	@tests/container/replay build/bare

test-aarch64: build/default/with_tests
	@scripts/setup aarch64
	@scripts/build build/default emulator_corpus
	@tests/aarch64/run build/aarch64 build/default

test-cuda12: | setup
	@scripts/setup cuda12 test
	@tests/cuda12/run build/cuda12 build/toolkit-12

test-slurm: $(build)/build.ninja
	@scripts/setup slurm report
	@tests/slurm/run $(build)

setup:
	@for tree in $(foreign); do \
	    echo "$$tree was made in $$($(made_in) $$tree/CMakeCache.txt): configuring it afresh"; rm -r $$tree; done
	@scripts/setup

lint: $(if $(TIDY),setup)
	@scripts/setup lint
	@$(if $(TIDY),scripts/setup test)
	@scripts/lint $(if $(TIDY),tidy)

format:
	@scripts/setup lint
	@scripts/lint format

clean:
	@rm -rf build/default build/emulator build/gpu build/sanitize build/fuzz build/aarch64 build/cuda12 build/bare build/container build/packages build/ladder build/report build/measure-kit build/playground build/wasm build/teaching-kit build/docs build/lint start sum lesson[0-9][0-9] exercise[0-9][0-9] open[A-Z] emulate ladder
