# The front door: every target is a line or two that call cmake, ctest or a script.
#
## make                     prints this list
## make start               builds a first CUDA program and puts ./start here; then run ./start
## make exercise-start      checks the three changes that its page, lessons/start/README.md, asks for
## make lesson03            builds that lesson and puts ./lesson03 here; then run ./lesson03
## make lessons             builds all lessons
## make exercise03          checks your lessons/lesson03_…/exercise.cuh, the exercise of that lesson
## make hint03              shows the next hint of that exercise
## make watch03             checks it each time you save
## make reset03             puts the original back, and keeps your text beside it
## make exercises           shows which exercises are solved, and which is next
## make openA               builds the program behind an open exercise: A, B, C; they belong to no lesson
## make grade SUBMISSIONS=dir
##                          grades a folder of them, each in a sandbox: build/grades; scripts/grade --help
## make new-lesson NAME=double_buffering
##                          makes the skeleton of a new lesson and its exercise
## make emulate             builds ./emulate, which runs and watches any CUDA program; ./emulate --help
## make install             installs it in PREFIX=/usr/local, with its manual page; DESTDIR goes before
## make ladder              all eleven kernels side by side: table, CSV, JSON and chart in build/ladder;
##                          ARGS="--n 2^28": with options of ./ladder
## make report              runs every lesson on this device: a page of tables and plots, build/report/index.html
## make measure             for a machine with a GPU: verifies, checks and measures everything into docs/data
## make measure-kit         packs build/measure-kit, which measures on a GPU machine that cannot build
## make docs                makes the docs site in build/docs/html: pages, figures, the API
## make test                builds and runs the tests that guard every result; PRESET=sanitize: with the sanitizers on
## make test-all            these, and what takes long: all wrong solutions, all pages in a browser, sanitizers
## make fuzz SECONDS=600    feeds the emulator broken fat binaries and PTX, so long for each target; needs clang
## make profile LESSON=03   Nsight Compute's counters on a GPU, the emulator's otherwise
## make bench-emulator      how many warp instructions a second the emulator executes
## make setup               installs what the build needs; the targets above call it themselves
## make lint                clang-format, shellcheck and ruff find nothing; TIDY=1: nor does clang-tidy
## make format              formats the sources with clang-format
## make clean               removes what was built; build/toolkit, what setup fetched, stays
## V=1                      with any of them: shows all that the build prints

PRESET  := default
build   := build/$(PRESET)
lessons := $(foreach folder,$(wildcard lessons/lesson[0-9][0-9]_*),$(firstword $(subst _, ,$(notdir $(folder)))))
# The open exercises, which belong to no lesson, have programs too.
opens   := $(foreach folder,$(wildcard lessons/open[A-Z]_*),$(firstword $(subst _, ,$(notdir $(folder)))))
numbers := $(lessons:lesson%=%) $(opens:open%=%)
exercise_targets := $(foreach what,exercise hint watch reset,$(numbers:%=$(what)%))

# CMake from there if the machine's own is too old.
export PATH := $(CURDIR)/build/toolkit/cmake/bin:$(PATH)

.NOTPARALLEL:
.PHONY: help start lessons $(lessons) $(opens) $(exercise_targets) exercise-start exercises grade new-lesson emulate install ladder report measure measure-kit docs test test-all fuzz profile bench-emulator setup lint format clean

help:
	@sed -n 's/^## //p' Makefile

start $(lessons) $(opens): $(build)/build.ninja
	@scripts/build $(build) $@
	@ln -sf $(build)/bin/$@ .

lessons: $(build)/build.ninja
	@scripts/build $(build) $(lessons)
	@ln -sf $(lessons:%=$(build)/bin/%) .

lesson%:
	$(error There is no $@$(if $(filter lesson0$*,$(lessons)),: did you mean lesson0$*?,.) There are: $(lessons))

open%:
	$(error There is no $@. There are: $(opens))

$(lessons:lesson%=exercise%): exercise%: lesson% emulate
$(opens:open%=exercise%): exercise%: open% emulate
$(numbers:%=exercise%): exercise%:
	@scripts/exercise check $* --build $(build) $(ARGS)

$(lessons:lesson%=watch%): watch%: lesson% emulate
$(opens:open%=watch%): watch%: open% emulate
$(numbers:%=watch%): watch%:
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

grade: $(build)/build.ninja
	@test -n "$(SUBMISSIONS)" || { echo "Which ones? make grade SUBMISSIONS=dir: a folder with one folder a student"; exit 2; }
	@scripts/setup grade
	@scripts/build $(build) emulate $(lessons) $(opens)
	@scripts/grade "$(SUBMISSIONS)" --build $(build) $(ARGS)

new-lesson:
	@scripts/new_lesson $(NAME)

emulate: $(build)/build.ninja
	@scripts/build $(build) emulate
	@ln -sf $(build)/bin/emulate .

PREFIX := /usr/local

install: $(build)/build.ninja
	@scripts/build $(build) emulate all_emulators emulate_man_page
	@cmake --install $(build) --prefix "$(PREFIX)"

ladder: $(build)/build.ninja
	@scripts/build $(build) ladder && ln -sf $(build)/bin/ladder .
	@./ladder --save build/ladder $(ARGS)
	@scripts/plot_ladder build/ladder

report: $(build)/build.ninja
	@scripts/setup report
	@scripts/build $(build) ladder $(lessons)
	@scripts/report --build $(build) $(ARGS)

measure: $(build)/build.ninja
	@scripts/measure --build $(build) $(ARGS)

measure-kit: $(build)/build.ninja
	@scripts/measure --build $(build) --pack build/measure-kit

docs: $(build)/build.ninja
	@scripts/setup docs
	@scripts/build $(build) emulate ladder $(lessons) $(opens)
	@scripts/docs --build $(build)
	@cp build/docs/parts/figures/*.svg docs/figures

test: $(build)/with_tests
	@scripts/build $(build) tests/all
	@ctest --preset $(PRESET) -j $$(nproc)

test-all: build/default/with_tests
	@scripts/setup browser
	@scripts/build build/default sanitized_tree
	@scripts/build build/default/sanitized all emulator
	@scripts/build build/default tests/all slow_tests sanitized_tests
	@ctest --test-dir build/default --output-on-failure --no-tests=error -j $$(($$(nproc) + 1)) # some tests wait

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
$(trees:%=%/build.ninja): build/%/build.ninja: CMakePresets.json | setup
	@echo "configuring build/$*"
	@cmake --preset $* -DBUILD_TESTING=$(if $(wildcard build/$*/with_tests),ON,OFF) >/dev/null

# The tests need more than a lesson does: they are configured when they are first asked for.
$(trees:%=%/with_tests): build/%/with_tests: | build/%/build.ninja
	@scripts/setup test docs
	@cmake --preset $* -DBUILD_TESTING=ON >/dev/null
	@touch $@

setup:
	@scripts/setup

lint: $(if $(TIDY),setup)
	@scripts/setup lint
	@$(if $(TIDY),scripts/setup test)
	@scripts/lint $(if $(TIDY),tidy)

format:
	@scripts/setup lint
	@scripts/lint format

clean:
	@rm -rf build/default build/emulator build/gpu build/sanitize build/fuzz build/ladder build/report build/measure-kit build/docs build/lint start lesson[0-9][0-9] open[A-Z] emulate ladder
