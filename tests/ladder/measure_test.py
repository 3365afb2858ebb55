"""scripts/measure, with fake programs and tools."""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tutorial import ROOT
from tutorial.lessons import read_lessons
from tutorial.measuring import read_by_scripts

KERNELS = ["reduce0", "reduce1"]
AHEAD_OF = ["softmax", "scan", "reduce", "exact", "transpose", "histogram", "host", "cards"]
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"

# Writes Nsight Compute's output: messages, names, units, one launch.
NCU = """#!/bin/sh
echo "$*" >>$LOG
while [ $# -gt 0 ]; do
    case $1 in --metrics) metrics=$2 ;; --log-file) file=$2 ;; --launch-count) launches=$2 ;; esac
    shift
done
{
    echo "==PROF== Connected to process 7"
    echo '"ID","Kernel Name","Block Size","Grid Size"'$(echo ,$metrics | sed 's/,\\([^,]*\\)/,"\\1"/g')
    echo '"","","",""'$(echo ,$metrics | sed 's/,[^,]*/,"sector"/g')
    echo '"0","reduce0(const int *, int *, unsigned long)","(256, 1, 1)","(16,384, 1, 1)"'$(
        echo ,$metrics | sed 's/,smsp[^,]*/,"n\\/a"/g; s/,l1tex[^,]*/,"2,097,152"/g; s/,gpu[^,]*/,"1,600"/g;
                              s/,sm__[^,]*/,"79.41"/g')
    case $launches in
    9) for time in 2,900 2,000 2,100 2,200 2,300 2,400 2,500 2,600; do
        echo '"0","setRowReadRow(int *)","(32, 16, 1)","(1, 1, 1)"'$(
            echo ,$metrics | sed 's/,smsp[^,]*/,"n\\/a"/g; s/,l1tex[^,]*/,"16"/g; s/,gpu[^,]*/,"'$time'"/g')
    done ;;
    esac
} >$file
"""

# A kernel's entry in a program's JSON, as its first arguments' printf format: name, block.
JSON = ('{"kernels": [{"name": "%s", "block": [%s, 1, 1], "grid": [64, 2, 1], "dynamic_shared_bytes": 1024, '
        '"bytes": 67239936, "time_us": {"median": 85.123456, "min": 84.5, "runs": 50}}]}')

LADDER = """#!/bin/sh
case "$*" in
*json*) printf 'JSON' reduce0 "$6" ;;
--list) printf 'reduce0\\nreduce1\\n' ;;
*--save*)
    echo "$*" >>$LOG
    case "$LARGE $*" in 3*2^30*) exit 3 ;; esac
    printf 'elements,name\\n%s,reduce0\\n%s,cub::Sum\\n' "$4" "$4" >"$6/ladder.csv"
    ;;
esac
""".replace("JSON", JSON)


EXPERIMENTS = """#!/bin/sh
printf 'lesson,experiment,kernel,function,time_us_median\\nlesson00,divergence,mask,reduce0,85.1\\n'
"""


# A race's program; the rows of a lesson's other kernels do not belong to the race.
AHEAD = """#!/bin/sh
case $0 in *transpose) rival=copy ;; *histogram) rival=read ;; *host) rival=link ;; *cards) rival=nccl ;;
*reduce) rival=cub::DeviceReduce::Min ;; *) rival=cub ;; esac
printf 'case,n,mode,ours_us,rival,rival_us,ratio,verified\\n'
printf 'first,256,cold,2,%s,4,2,true\\nfirst,256,warm,4,%s,4,1,true\\n' $rival $rival
printf 'second,1048576,cold,8,%s,4,0.5,true\\nsecond,1048576,cold,8,copy_restrict,4,0.25,true\\n' $rival
"""


LESSON = """#!/bin/sh
case "$*" in
*--kernel=sequential_reduction*json*) printf 'JSON' sequential_reduction 1 ;;
*json*) printf 'JSON' kernel 256 ;;
--list) printf 'sequential_reduction\\nkernel\\n' ;;
*--save*)
    echo "$*" >>$LOG
    for folder in "$@"; do :; done
    printf 'elements,name,program\\n%s,kernel,%s\\n' "$4" "$(basename $0)" >"$folder/$(basename $0).csv"
    ;;
esac
""".replace("JSON", JSON)


class Machine(unittest.TestCase):
    """A GPU machine with a kit."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"
        self.log.touch()
        self.tools = self.folder / "tools"
        self.kit = self.folder / "kit"
        self.status = {"LARGE": "0"}
        for name in ("ladder", "ladder_with_cub"):
            self.program(self.kit / "bin" / name, LADDER)
        timed = [name for lesson in read_lessons() for name in (lesson.name, lesson.timed_program)]
        for name in [*timed, "start", "wrong_lesson"]:
            self.program(self.kit / "bin" / name, LESSON)
        for name in ("limit_table", "limit_curves"):
            self.program(self.kit / "bin" / name, "#!/bin/sh\necho \"$*\" >>$LOG\nprintf 'n,what\\n256,%s\\n' $1\n")
        for name in AHEAD_OF:
            self.program(self.kit / f"bin/ahead_{name}", AHEAD)
        self.program(self.kit / "bin/experiments", EXPERIMENTS)
        self.program(self.kit / "bin/calibrate", "#!/bin/sh\nprintf 'constant,value,unit\\nlatency_add,4.5,cycles\\n'\n")
        for name in ("lessons_test", "harness_device_test"):
            self.program(self.kit / "bin" / name, "#!/bin/sh\necho \"[==========] 12 tests from 3 test suites ran.\"\n")
        self.program(self.tools / "nvidia-smi", "#!/bin/sh\necho 'NVIDIA H999 (80 GB), 580.1, 9.0'\n")
        self.program(self.tools / "ncu", NCU)
        self.program(self.tools / "compute-sanitizer",
                     "#!/bin/sh\necho \"$*\" >>$LOG\necho '========= ERROR SUMMARY: 0 errors'\n")
        (self.kit / "toolkit").write_text("CUDA 13.0.88\n")
        for file in read_by_scripts():
            copy = self.kit / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)

    @staticmethod
    def program(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def measure(self, *arguments):
        environment = dict(os.environ, PATH=f"{self.tools}:/usr/bin:/bin", LOG=str(self.log), CUDA_HOME="/nowhere",
                           **self.status)
        return subprocess.run([sys.executable, self.kit / "scripts/measure", *arguments], env=environment,
                              capture_output=True, text=True)

    def record(self, name):
        """The head and the rows of a CSV."""
        lines = (self.kit / "data/nvidia-h999-80-gb" / f"{name}.csv").read_text().splitlines()
        return ([line for line in lines if line.startswith("#")],
                list(csv.DictReader(line for line in lines if not line.startswith("#"))))

    def test_records_everything(self):
        done = self.measure()
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("verify", "sanitize", "ladder", "lessons", "ncu"):
            head, rows = self.record(name)
            self.assertEqual([line.split(":")[0] for line in head],
                             ["# date", "# device", "# driver", "# toolkit", "# command"])
            self.assertEqual(head[1], "# device: NVIDIA H999 (80 GB), compute capability 9.0")
            self.assertEqual(head[2:4], ["# driver: 580.1", "# toolkit: CUDA 13.0.88"])
            self.assertTrue(rows)

        for name, what in (("sum", "sum"), ("strategies", "strategies"), ("in_flight", "in_flight"), ("steps", "steps")):
            self.assertEqual(self.record(f"limit_{name}")[1], [{"n": "256", "what": what}])
        self.assertEqual(len(self.record("limit_sanitize")[1]), 3 * 4)
        self.assertEqual([(row["kernel"], row["time_us_median"]) for row in self.record("experiments")[1]], [("mask", "85.1")])
        self.assertEqual([(row["kernel"], row["block"], row["grid"], row[SECTORS]) for row in self.record("experiments_ncu")[1]],
                         [("mask", "256", "16384", "2097152")])
        self.assertEqual({row["arguments"] for row in self.record("experiments_sanitize")[1]}, {"once 100003"})
        practice = {lesson.name for lesson in read_lessons() if lesson.part == "practice"}
        self.assertEqual({row["program"] for row in self.record("practice_ncu")[1]}, practice)
        self.assertEqual(len(self.record("practice_sanitize")[1]), len(practice) * 4)
        timed_programs = {row["program"] for row in self.record("practice")[1]}
        self.assertLessEqual({"lesson24", "lesson26_with_cub"}, timed_programs)  # beside CUB where the lesson has it
        self.assertEqual({row["program"] for row in self.record("limit_ncu")[1]}, {"lesson28", "lesson29", "lesson30"})

        self.assertEqual([(row["program"], row["tests"]) for row in self.record("verify")[1]],
                         [("lessons_test", "12"), ("harness_device_test", "12")])
        sanitized = self.record("sanitize")[1]
        others = ("limit", "practice", "ahead", "beyond")
        self.assertEqual(len(sanitized), sum(lesson.part not in others for lesson in read_lessons()) * 4)
        self.assertEqual({row["arguments"] for row in sanitized if row["lesson"] in ("lesson14", "lesson16")},
                         {"--device gpu --n 2047 --verify", "--device gpu --verify"})
        self.assertEqual({row["tool"] for row in sanitized}, {"memcheck", "racecheck", "initcheck", "synccheck"})
        self.assertEqual({row["summary"] for row in sanitized}, {"ERROR SUMMARY: 0 errors"})
        self.assertEqual([row["elements"] for row in self.record("ladder")[1]],
                         ["2^25", "2^25", "2^28", "2^28", "2^30", "2^30"])
        self.assertIn("--n 2^28 --kernel=kernel --save", self.log.read_text())
        self.assertIn("--n 2^24 --save", self.log.read_text())
        counted = self.record("ncu")[1]
        self.assertEqual([(row["kernel"], row["arguments"]) for row in counted if row["program"] == "ladder"],
                         [(kernel, f"--n {n}") for n in ("4194304", "1000003") for kernel in KERNELS])
        others = [lesson for lesson in read_lessons() if lesson.part not in ("limit", "practice", "ahead", "beyond")]
        self.assertEqual({lesson.name for lesson in others if lesson.counted},
                         {row["program"] for row in counted} - {"ladder"})
        columns = ("block", "grid", SECTORS, "smsp__inst_executed.sum", "gpu__time_duration.sum")
        self.assertEqual([counted[0][name] for name in columns], ["256", "16384", "2097152", "", "1600"])
        # The first launch's counters, and the median of 1,600, 2,900 and 2,000 to 2,600 ns.
        tile = next(row for row in counted if row["program"] == "lesson16")
        self.assertEqual([tile[name] for name in columns], ["256", "16384", "2097152", "", "2300"])
        self.assertIn("--kernel-name regex:^reduce0$", self.log.read_text())
        self.assertIn("--verify --repeat 9 --width 24 --height 24 --kernel kernel", self.log.read_text())

    def test_records_what_a_clock_is_checked_with(self):
        done = self.measure("clock")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.record("clock_constants")[1], [{"constant": "latency_add", "value": "4.5", "unit": "cycles"}])

        times = self.record("clock_times")[1]
        lessons = [lesson for lesson in read_lessons() if lesson.manifest["measure"].get("clock", lesson.part != "ladder")]
        self.assertEqual({row["program"] for row in times}, {"ladder", *(lesson.name for lesson in lessons)})
        ladder = [row for row in times if row["program"] == "ladder"]
        self.assertEqual([(row["arguments"], row["block"]) for row in ladder],
                         [(f"--n {n} --block {block}", block) for n in ("2^25", "2^28")
                          for block in ("64", "128", "256", "512", "1024")])
        self.assertEqual([ladder[0][name] for name in ("kernel", "grid", "time_us_median", "time_us_min", "time_us_runs")],
                         ["reduce0", "128", "85.123", "84.5", "50"])
        self.assertEqual({row["arguments"] for row in times if row["program"] == "lesson24"},
                         {"--width 8192 --height 4096", "--width 16384 --height 16384"})
        self.assertEqual([(row["kernel"], row["arguments"]) for row in times if row["program"] == "lesson13"],
                         [("kernel", "--n 2^25"), ("kernel", "--n 2^28"), ("sequential_reduction", "--n 2^20")])

        counted = self.record("clock_ncu")[1]
        self.assertEqual({row["program"] for row in counted}, {row["program"] for row in times})
        self.assertEqual([row["arguments"] for row in counted if row["program"] == "ladder" and row["kernel"] == "reduce1"],
                         [f"--n 2^25 --block {block}" for block in (64, 128, 256, 512, 1024)])
        self.assertEqual([(row["kernel"], row["arguments"]) for row in counted if row["program"] == "lesson13"],
                         [("kernel", "--n 2^25"), ("sequential_reduction", "--n 2^20")])
        columns = ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "sm__issue_active.avg.pct_of_peak_sustained_elapsed")
        self.assertEqual([counted[0][name] for name in columns], ["2097152", "79.41"])

    def test_prints_one_table_of_what_is_ahead(self):
        done = self.measure("ahead")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["ratio"] for row in self.record("ahead_scan")[1]], ["2", "1", "0.5", "0.25"])
        head, *races = done.stdout.splitlines()[2:]
        self.assertEqual(head.split(), ["cases", "rival", "times", "as", "fast", "lowest", "at"])
        self.assertEqual(len(races), len(AHEAD_OF) - 2)  # There is no PyTorch for the softmax, and only one GPU.
        self.assertIn("ahead_cards is left out: it needs two GPUs", done.stderr)
        # The rows from a cold cache: sqrt(2 * 0.5) = 1
        self.assertRegex(races[-1], "^sum of host data +2 +the pinned link +1.00 +0.50 ")
        self.assertEqual(races[0].split(), ["scan", "2", "cub::DeviceScan", "1.00", "0.50", "second,", "n", "=", "1,048,576"])

    def test_records_no_rows_whose_cells_are_moved(self):
        self.program(self.kit / "bin/ahead_host", AHEAD.replace("second", "second, moved"))
        done = self.measure("ahead")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ahead: nothing recorded of ahead_host: 9 cells in second, moved,1048576,cold,8,link,4,0.5,true, not 8",
                      done.stderr)
        self.assertFalse(list(self.folder.rglob("ahead_host.csv")))

    def test_races_over_several_gpus(self):
        self.program(self.tools / "nvidia-smi", "#!/bin/sh\nyes 'NVIDIA H999 (80 GB), 580.1, 9.0' | head -2\n")
        done = self.measure("ahead")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[-1], "^all-reduce +2 +NCCL +1.00 +0.50 ")
        self.program(self.kit / "bin/ahead_cards", "#!/bin/sh\nprintf 'case,mode,rival,ratio\\nfirst,queued,peer copies,1\\n'\n")
        self.assertNotIn("NCCL", self.measure("ahead").stdout)  # There is none to race with.

    def test_takes_only_the_steps_that_are_named(self):
        self.assertEqual(self.measure("ladder").returncode, 0)
        self.assertEqual([path.name for path in (self.kit / "data").rglob("*.csv")], ["ladder.csv"])

    def test_without_a_gpu_says_so(self):
        self.program(self.tools / "nvidia-smi", "#!/bin/sh\necho 'No devices were found'; exit 6\n")
        done = self.measure()
        self.assertEqual(done.returncode, 3)
        self.assertIn("there is no GPU here", done.stderr)
        (self.tools / "nvidia-smi").unlink()
        self.assertEqual(self.measure().returncode, 3)
        self.assertFalse((self.kit / "data").exists())

    def test_names_a_missing_tool_and_goes_on(self):
        (self.tools / "ncu").unlink()
        (self.tools / "compute-sanitizer").unlink()
        done = self.measure()
        self.assertEqual(done.returncode, 1)
        self.assertIn("sanitize: skipped, there is no compute-sanitizer", done.stderr)
        self.assertIn("counters: skipped, there is no ncu", done.stderr)
        written = {path.name for path in (self.kit / "data").rglob("*.csv")}
        self.assertEqual({name for name in written if not name.startswith(("limit_", "ahead_"))},
                         {"verify.csv", "ladder.csv", "lessons.csv", "practice.csv", "experiments.csv", "clock_constants.csv",
                          "clock_times.csv"})
        self.assertEqual({path.name for path in (self.kit / "data").rglob("limit_*.csv")},
                         {f"limit_{name}.csv" for name in ("sum", "strategies", "in_flight", "steps")})

    def test_tells_of_a_failed_test_program(self):
        self.program(self.kit / "bin/lessons_test",
                     "#!/bin/sh\necho '[==========] 12 tests from 3 test suites ran.'; exit 1\n")
        done = self.measure("verify")
        self.assertEqual(done.returncode, 1)
        self.assertIn("lessons_test failed with status 1", done.stderr)

    def test_does_not_take_silence_for_success(self):
        self.program(self.kit / "bin/lessons_test", "#!/bin/sh\n")
        self.program(self.tools / "compute-sanitizer", "#!/bin/sh\n")
        self.program(self.tools / "ncu", "#!/bin/sh\n")
        for step in ("verify", "sanitize", "counters"):
            self.assertEqual(self.measure(step).returncode, 1, step)
        self.assertFalse(list((self.kit / "data").rglob("ncu.csv")))

    def test_counts_the_experiments_that_it_timed_and_no_others(self):
        self.program(self.kit / "bin/experiments", EXPERIMENTS.replace("reduce0", "reduce7"))
        done = self.measure("experiments")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 launches were counted, 1 kernels timed: are they the same?", done.stderr)
        self.assertEqual({path.name for path in (self.kit / "data").rglob("*.csv")},
                         {"experiments.csv", "experiments_sanitize.csv"})

    def test_tells_what_the_sanitizer_found(self):
        self.program(self.tools / "compute-sanitizer",
                     "#!/bin/sh\necho 'a race'; echo '========= RACECHECK SUMMARY: 1 hazard'; exit 99\n")
        done = self.measure("sanitize")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a race", done.stderr)
        self.assertIn("racecheck is not content with lesson00", done.stderr)
        self.assertEqual(self.record("sanitize")[1][0]["exit_status"], "99")

    def test_a_size_that_does_not_fit_is_told_and_the_others_recorded(self):
        self.status["LARGE"] = "3"
        done = self.measure("ladder")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing recorded for 2^30 ints", done.stderr)
        self.assertEqual(len(self.record("ladder")[1]), 4)

    def test_rejects_a_wrong_command_line(self):
        for arguments, message in ((["--fast"], "--fast"), (["rest"], "rest: there is no such step"),
                                   (["--build", str(self.tools)], "is neither a build tree nor a kit")):
            done = self.measure(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
        self.assertIn("Exit status:", self.measure("--help").stdout)


if __name__ == "__main__":
    unittest.main()
