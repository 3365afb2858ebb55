#!/usr/bin/env python3
"""grade_test.py BUILD: scripts/grade gives the points that are due, whatever is in the submissions.

Most submissions are of exercise 16, whose check is the fastest. Skipped where bwrap can make no sandboxes.
"""

import csv
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from tutorial.grading import Ended, Running, of_processes  # noqa: E402

BUILD = Path(sys.argv[1]).absolute()
LESSON = ROOT / "lessons/lesson16_square_tile"
RIGHT = (LESSON / "course/solution.cuh").read_text(encoding="utf-8")
UNSOLVED = (LESSON / "exercise.cuh").read_text(encoding="utf-8")
SECRET = "a secret of somebody else"
RUNS = 9  # of a right exercise 16: 8 cases, and one to see where the result comes from


def grade(*words, environment=None):
    return subprocess.run([sys.executable, str(ROOT / "scripts/grade"), *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**os.environ, **(environment or {})})


def with_body(body, before=""):
    """The right solution, whose kernel also does something else."""
    head, kernel, rest = RIGHT.partition("__global__ void setRowReadCol(int* out) {\n")
    return f"{before}{head}{kernel}{body}\n{rest}"


class Page(HTMLParser):
    def __init__(self, source):
        super().__init__()
        self.tags, self.attributes = set(), set()
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attributes)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="grade_test_")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.submissions, self.out = self.folder / "submissions", self.folder / "out"
        self.submissions.mkdir()

    def submit(self, student, text, name="exercise16.cuh"):
        (self.submissions / student).mkdir(exist_ok=True)
        path = self.submissions / student / name
        path.write_text(text, encoding="utf-8")
        return path

    def build_that(self, does):
        """A build whose emulate first runs a shell command: its turn is $turn, from 1."""
        build, turns = self.folder / "build", self.folder / "turns"
        (build / "bin").mkdir(parents=True)
        for name in ("CMakeCache.txt", "emulator", "bin/lesson16"):
            (build / name).symlink_to(BUILD / name)
        (build / "bin/emulate").write_text(f'#!/bin/sh\necho >> {turns}\nturn=$(wc -l < {turns})\n{does}\n'
                                           f'exec {BUILD}/bin/emulate "$@"\n')
        (build / "bin/emulate").chmod(0o755)
        return build

    def lines(self, name):
        return (self.out / name).read_text(encoding="utf-8").splitlines()

    def grades(self, *words, status=0):
        self.told = grade(self.submissions, "--build", BUILD, "--out", self.out, *words)
        self.assertEqual(self.told.returncode, status, self.told.stdout)
        with (self.out / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {(row["student"], row["exercise"]): row for row in csv.DictReader(file)}


class WithSandbox(WithFolder):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "nobody").mkdir()
            tried = grade(folder, "--build", BUILD, "--out", Path(folder) / "out")
        if tried.returncode == 2 and "bwrap" in tried.stdout:
            raise unittest.SkipTest(tried.stdout)
        assert tried.returncode == 0, tried.stdout


class Points(WithSandbox):
    def test_points_are_for_right_clean_and_traffic(self):
        self.submit("solved", RIGHT)
        self.submit("unsolved", UNSOLVED)
        self.submit("broken", RIGHT.replace("threadIdx.y", "threadIdx.y y"))
        self.submit("old", "// nothing\n", "lesson16.cuh")  # the other of the two names counts
        self.submit("old", RIGHT)
        self.submit("late", "", "notes.txt")
        self.submit("costly", RIGHT.replace("tile[col * width + row] = idx;\n    __syncthreads(); // Every",
                                            "tile[col * width + row] = idx;\n    tile[col * width + row] = idx + "
                                            "(clock() == 0);\n    __syncthreads(); // Every"))
        self.submit("knows", with_body("    const unsigned int mine = threadIdx.y * blockDim.x + threadIdx.x;\n"
                                       "    __shared__ volatile int tile[1024];\n    tile[mine] = mine;\n"
                                       "    __syncthreads();\n    const int seen = tile[mine];\n    out[mine] = "
                                       "threadIdx.x * blockDim.x + threadIdx.y + 0 * seen;\n    return;\n}\n"
                                       "__global__ void no_tile(int* out) {"))
        of = self.grades("--seed", "5")
        self.assertEqual({student: row["points"] for (student, _), row in of.items()},
                         {"broken": "0", "costly": "70", "knows": "70", "late": "0", "old": "100", "solved": "100",
                          "unsolved": "0"})
        # Moodle: an identifier, and a column per grade item. Canvas: its importer wants 'Student' and 'ID' first, then the
        # login and 'Section', and takes the row 'Points Possible' for no student.
        points = {student: row["points"] for (student, _), row in of.items()}
        self.assertEqual(self.lines("moodle.csv"), ["student,Exercise 16", *(f"{each},{points[each]}" for each in points)])
        self.assertEqual(self.lines("canvas.csv"), [
            "Student,ID,SIS Login ID,Section,Exercise 16", "Points Possible,,,,100",
            *(f"{each},,{each},,{points[each]}" for each in points)])
        self.assertIn("the result does not come from the tile", of["knows", "16"]["message"])
        costly = of["costly", "16"]
        self.assertEqual([costly[name] for name in ("right", "clean", "traffic", "failed")],
                         ["50", "20", "0", "traffic"])
        self.assertIn("shared store wavefronts of setRowReadCol: yours 2,048, goal 1,024", costly["message"])
        self.assertIn(f"{self.out}/ptx/costly/exercise16.ptx --lines --launch 0 ./lesson16 ", costly["again"])
        self.assertIn("exercise16.cuh(", of["broken", "16"]["message"])
        self.assertEqual(of["late", "16"]["message"], "not submitted")
        self.assertIn("costly, exercise 16: 70 points; traffic: no: shared store wavefronts of ", self.told.stdout)
        self.assertIn("not looked at: late/notes.txt", self.told.stdout)
        self.assertIn("not looked at: old/lesson16.cuh", self.told.stdout)

        for program in ("emulate", "lesson16"):
            (self.folder / program).symlink_to(BUILD / "bin" / program)
        unsolved = of["unsolved", "16"]
        again = subprocess.run(shlex.split(unsolved["again"]), cwd=self.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
        self.assertIn("wrong", unsolved["message"])
        self.assertIn(unsolved["message"].splitlines()[1], again.stdout, "the command repeats the case")

    def test_a_score_is_told(self):
        folder = ROOT / "lessons/openA_fewest_counters"
        self.submit("anna", (folder / "kernels.cuh").read_text(encoding="utf-8"), "exerciseA.cuh")
        self.submit("bert", (folder / "exercise.cuh").read_text(encoding="utf-8"), "exerciseA.cuh")
        of = self.grades()
        self.assertEqual((of["anna", "A"]["points"], of["bert", "A"]["points"]), ("100", "70"))
        score = int(of["anna", "A"]["score"])
        self.assertTrue(163_840 < score < 262_144, score)  # to load and to add alone; the goal
        self.assertIn(f"score: {score:,}", (self.out / "grades.html").read_text(encoding="utf-8"))
        self.assertEqual(of["bert", "A"]["score"], "", "the goal is missed")

    def test_who_submits_what_cannot_be_graded_costs_only_himself(self):
        secret = self.submit("anna", f"{SECRET}\n", "notes.txt")
        self.submit("anna", RIGHT)
        other = self.submissions / "anna/exercise16.cuh"
        trace = self.folder / "trace"
        loop = with_body("    volatile int* never = out;\n    while (*never != -5) {\n    }")
        self.submit("loops", loop)
        self.submit("crashes nvcc", RIGHT + f"inline void deep() {{{'{' * 400_000}{'}' * 400_000}}}\n")
        self.submit("fills memory", with_body("    big[idx_of_big()] = 1;", "__device__ char big[1ULL << 36];\n"
                                              "__device__ unsigned idx_of_big() { return threadIdx.x; }\n"))
        self.submit("forges", UNSOLVED.replace(
            "#pragma once", "#pragma once\n#include <cstdio>").replace(
            "__global__ void setRowReadCol(int* out) {\n", "__global__ void setRowReadCol(int* out) {\n"
            '    printf("{\\"steps\\": [], \\"exit_status\\": 0}\\nsetRowReadCol: verified\\n");\n'))
        self.submit("writes", RIGHT + f"""
            #include <cstdio>
            #include <cstdlib>
            struct Writer {{
                Writer() {{ fclose(fopen("{trace}", "w")); system("touch {trace}"); exit(0); }}
            }};
            static Writer writer;
            #define main not_main
            """)
        self.submit("reads passwd", '#include "/etc/passwd"\n' + RIGHT)
        self.submit("reads anna", f'#include "{other}"\n')
        self.submit("looks around", RIGHT + "".join(f'#if __has_include("{path}")\n#error {path}\n#endif\n' for path in (
            secret, other, "../anna/notes.txt", "../../anna/notes.txt", "/etc/passwd", "/etc/hostname",
            Path.home() / ".bashrc", ROOT / "README.md", LESSON / "kernels.cuh",
            "/course/lessons/lesson16_square_tile/kernels.cuh", "/course/lessons/lesson16_square_tile/exercise.cuh",
            *(f"{folder}/{path.parent.name}/kernels.cuh" for folder in ("/course/lessons", "..") for path in ROOT.glob(
                "lessons/*/kernels.cuh") if path.parent != LESSON),
            *(f"/course/{path.relative_to(ROOT)}" for path in ROOT.glob("lessons/*/course/solution.cuh")),
            "/build/bin/lesson17", "/course/tests")))
        self.submit("reads for ever", '#include "/dev/urandom"\n' + RIGHT)
        self.submit("talks", with_body('    for (int i = 0; i < 100000; i++) printf("%0999d", i);',
                                       "#include <cstdio>\n"))
        self.submit("warns", RIGHT + '#pragma message "much"\n' * 10_000)
        self.submit("breaks PTX", with_body('    asm volatile("}} .visible .entry other() {{");'))
        self.submit("bomb", RIGHT + "template <int n, int m> struct Bomb { Bomb<n - 1, 2 * m> a; Bomb<n - 1, 2 * m + 1> "
                                    "b; };\ntemplate <int m> struct Bomb<0, m> { int x; };\nBomb<26, 0> bomb;\n")
        self.submit("<img src=x onerror=alert(1)>", "#error </pre><script>alert(1)</script>\n")
        self.submit("bert\ngrade: carl, exercise 16: 100 points", "#error no\n")
        self.submit("=1+1", "\x1b[2J\n" + '#error "\x1b[2J"\n')
        for student in ("links", "pipes", "is huge", "nests"):
            (self.submissions / student).mkdir()
        (self.submissions / "links/exercise16.cuh").symlink_to(other)
        os.mkfifo(self.submissions / "pipes/exercise16.cuh")
        (self.submissions / "is huge/exercise16.cuh").write_bytes(b"/" * (2**20 + 1))
        (self.submissions / "nests/exercise16.cuh").mkdir()
        (self.submissions / "a linked folder").symlink_to(self.submissions / "anna")

        of = self.grades("--seconds", "240", "--case-seconds", "1", "--memory", "512")
        honest = ("anna", "looks around", "warns", "writes")
        self.assertEqual({student: row["points"] for (student, _), row in of.items() if row["points"] != "0"},
                         dict.fromkeys(honest, "100"), f"host code does not run; other files are not there\n{self.told.stdout}")
        message = {student: row["message"] for (student, _), row in of.items()}
        self.assertIn("did not end within 1 s of the processor", message["loops"])
        self.assertIn("wrong", message["forges"])
        for student in ("reads anna", "reads passwd"):
            self.assertIn("No such file", message[student])
        self.assertIn("is a link", message["links"])
        self.assertIn("not a plain file", message["pipes"])
        self.assertIn("not a plain file", message["nests"])
        self.assertIn("1,048,577 bytes", message["is huge"])
        self.assertLessEqual(max(map(len, message.values())), 2000)
        for student in message:
            self.assertNotEqual(message[student] == "", student not in honest, student)
        self.assertFalse(trace.exists())
        self.assertIn("not looked at: a linked folder", self.told.stdout)
        self.assertNotIn("\ngrade: carl", self.told.stdout, "a name begins no line of its own")

        page = (self.out / "grades.html").read_text(encoding="utf-8")
        table = (self.out / "grades.csv").read_text(encoding="utf-8")
        for text in (page, table, self.told.stdout):
            self.assertNotIn("\x1b", text)
            self.assertNotIn(SECRET, text)
            self.assertNotIn("root:", text)
        self.assertIn("'=1+1", table)
        self.assertLessEqual(Page(page).tags & {"script", "img", "a", "link"}, set())
        self.assertLessEqual(Page(page).attributes, {"lang", "charset", "name", "content", "class"})


    def test_the_cases_together_are_bounded(self):
        self.submit("slow", with_body("    volatile int* mine = out + threadIdx.y * blockDim.x + threadIdx.x;\n"
                                      "    for (int i = 0; i < 400'000; ++i) {\n        *mine = i;\n    }"))
        of = self.grades("--seconds", "3")
        self.assertIn("took more than 3 s of the processor", of["slow", "16"]["message"])
        self.assertEqual(of["slow", "16"]["failed"], "right", "it has compiled")


    def test_what_cannot_be_graded_has_no_points_not_even_none(self):
        """A build whose emulate disappears after the lesson's own solution is checked."""
        self.submit("anna", RIGHT)
        build = self.build_that(f"[ $turn -le {RUNS} ] || exit 127")
        roster = self.folder / "roster.csv"
        roster.write_text("\ufeffid,name,folder\n 4711 ,\"Smith, Anna\",anna\n0815,Bert,bert\n", encoding="utf-8")
        of = self.grades("--unsafe", "--jobs", "1", "--build", build, "--roster", roster, status=1)
        self.assertEqual(self.lines("moodle.csv"), ["student,Exercise 16", "4711,-"])
        self.assertEqual(self.lines("canvas.csv")[2:], ["anna,,4711,,"])
        row = of["anna", "16"]
        self.assertEqual([row[name] for name in ("points", "right", "clean", "traffic", "failed")],
                         ["", "", "", "", "graded"])
        self.assertIn("emulate could not be started", row["message"])
        self.assertIn("anna, exercise 16: could not be graded: emulate could not be started", self.told.stdout)
        self.assertIn('<td class="points">?</td>', (self.out / "grades.html").read_text(encoding="utf-8"))


def processes_about(text):
    """The command lines of the processes with it in theirs, except this one's."""
    return [words for pid, words in of_processes("cmdline") if pid != os.getpid() and str(text).encode() in words]


class Ending(WithFolder):
    def test_a_process_whose_parent_has_ended_is_ended_too(self):
        file = self.folder / "followed"
        file.touch()
        script = '(tail -f "$0" &); echo begun; exec tail -f "$0"'
        command = ["sh", "-c", script, str(file)]  # the first tail's parent, the shell of the brackets, has ended
        running = Running()
        with self.assertRaises(Ended), running.process(command, dict(os.environ), stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            running.end()
            self.assertEqual(processes_about(file), [])
            process.stdout.close()
            self.assertEqual(process.wait(), -signal.SIGKILL)

    def test_a_signal_ends_them_while_the_main_thread_waits(self):
        """One that another thread takes: nothing interrupts the main thread."""
        script = """if True:
            import os, signal, threading
            from tutorial.grading import Ended, Running

            def end_while_it_is_waited_for():
                while f" {process.pid:#x} " not in open(f"/proc/self/task/{os.getpid()}/syscall").read():
                    pass
                signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

            running = Running()
            running.end_on_signals()
            try:
                with running.process(["sleep", "60"], {}) as process:
                    threading.Thread(target=end_while_it_is_waited_for).start()
                    print(process.wait())
            except Ended:
                print("ended by", running.signal)
            """
        told = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")})
        self.assertEqual(told.stdout, "-9\nended by 15\n")


class Kept(WithSandbox):
    """Finished grades are kept, whatever happens next."""

    def begin(self, *words):
        """(Its process, the folder for its temporary files.) `words`: begin the command, in place of those for Python."""
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        command = [sys.executable, ROOT / "scripts/grade", self.submissions, "--build", BUILD, "--out", self.out, *words]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "TMPDIR": str(temporary)})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, temporary

    def test_a_signal_ends_all_and_keeps_what_is_graded(self):
        self.submit("anna", RIGHT)
        self.submit("bert", with_body("    volatile int* never = out;\n    while (*never != -5) {\n    }"))
        for number, words in ((signal.SIGTERM, []), (signal.SIGINT, ["--unsafe"])):
            with self.subTest(number):
                self.out.mkdir(exist_ok=True)
                (self.out / "canvas.csv").write_text("points of yesterday, not to be imported today")
                process, temporary = self.begin("--jobs", "1", *words)
                for line in process.stderr:  # which comes once the grade is written
                    if "anna, exercise 16: 100 points" in line:
                        break
                with (self.out / "grades.csv").open(encoding="utf-8", newline="") as file:
                    self.assertEqual([row["student"] for row in csv.DictReader(file)], ["anna"])
                self.assertIn("Not finished: 1 grades are missing", (self.out / "grades.html").read_text(encoding="utf-8"))
                process.send_signal(number)
                self.assertIn(f"broken off by {number.name}: 1 of 2 are graded, in {self.out}\n", process.stderr.read())
                self.assertEqual(process.wait(), 128 + number)
                self.assertEqual(list(temporary.iterdir()), [])
                self.assertEqual(processes_about(self.folder), [])
                self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["grades.csv", "grades.html"])

    def test_a_signal_before_the_first_grade_leaves_the_old_ones(self):
        self.submit("anna", RIGHT)
        self.out.mkdir()
        (self.out / "grades.csv").write_text("those of yesterday")
        process, temporary = self.begin("--jobs", "1")
        self.assertIn("--seed", process.stderr.readline(), "once the folder is tried")
        process.terminate()
        process.stderr.read()
        self.assertIn(process.wait(), (143, -signal.SIGTERM))
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual((self.out / "grades.csv").read_text(), "those of yesterday")

    def test_a_full_disk_is_told_before_anybody_is_graded(self):
        size = ["bwrap", "--dev-bind", "/", "/", "--size", str(2**19), "--tmpfs", "/mnt"]
        if subprocess.run([*size, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("bwrap has no --size")
        self.submit("anna", RIGHT)
        told = subprocess.run([*size, sys.executable, ROOT / "scripts/grade", self.submissions, "--build", BUILD, "--out",
                               "/mnt/out", "--unsafe"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(told.returncode, 2, told.stdout)
        self.assertRegex(told.stdout, r"^grade: without sandboxes: .*\ngrade: --out /mnt/out: the grades cannot be written "
                                      r"there: No space left on device. Name a folder that .*, with 1 MiB free\n$")

    def test_a_disk_that_fills_up_keeps_what_there_is(self):
        self.submit("anna", RIGHT)
        self.submit("bert", RIGHT)
        gate = self.folder / "gate"  # where bert's first run waits
        os.mkfifo(gate)
        build = self.build_that(f"[ $turn -ne {2 * RUNS + 1} ] || cat {gate}")
        process, _ = self.begin("--jobs", "1", "--unsafe", "--build", build)
        for line in process.stderr:
            if "anna, exercise 16: 100 points" in line:
                break
        before = (self.out / "grades.csv").read_text(encoding="utf-8")
        (self.out / ".grades.csv.part").mkdir()  # so that no other one can be made
        gate.write_text("")
        self.assertRegex(process.stderr.read(), r"^grade: --out \S+: the grades cannot be written any more: Is a directory. "
                                                r"Those of 1 submissions are there. Make room, and grade again\n$")
        self.assertEqual(process.wait(), 2)
        self.assertEqual((self.out / "grades.csv").read_text(encoding="utf-8"), before)

    def test_the_random_numbers_are_drawn_and_told(self):
        self.submit("anna", RIGHT)
        seeds = []
        for _ in range(2):
            self.grades("--unsafe")
            seeds += re.findall(r"grade: the random numbers of this time: --seed (\d+)\n", self.told.stdout)
            self.assertIn(f"Seed {seeds[-1]}:", (self.out / "grades.html").read_text(encoding="utf-8"))
        self.assertEqual(len(set(seeds)), 2)
        self.grades("--unsafe", "--seed", "5")
        self.assertNotIn("random numbers", self.told.stdout)


class Shares(WithFolder):
    """What the tasks of a cluster do, one after the other. tests/slurm has them in a cluster."""

    def share(self, *words, status=0):
        told = grade(self.submissions, "--build", BUILD, "--out", self.out, "--unsafe", *words)
        self.assertEqual(told.returncode, status, told.stdout)
        return told.stdout

    def test_shares_are_graded_once_and_merged(self):
        self.submit("anna", RIGHT)
        self.submit("bert", "#error no\n")
        self.assertIn("share 1 of 2: 1 to grade, 0 kept from before\n", self.share("--share", "1/2"))
        told = self.share("--render-only", status=1)
        self.assertIn("grade: bert, exercise 16: no verdict. The same command again grades what is missing\n", told)
        self.assertIn("; 1 grades are missing\n", told)
        self.assertIn("Not finished: 1 grades are missing", (self.out / "grades.html").read_text(encoding="utf-8"))
        self.assertFalse((self.out / "moodle.csv").exists())

        self.assertIn("share 2 of 2: 1 to grade, 0 kept from before\n", self.share("--share", "2/2"))
        self.share("--render-only")
        self.assertEqual(self.lines("moodle.csv"), ["student,Exercise 16", "anna,100", "bert,0"])
        before = {path: path.read_bytes() for path in self.out.iterdir() if path.is_file()}
        self.assertIn("share 1 of 2: 0 to grade, 1 kept from before\n", self.share("--share", "1/2"))
        self.share("--render-only")
        self.assertEqual({path: path.read_bytes() for path in self.out.iterdir() if path.is_file()}, before)

        # A verdict of something else is none.
        for words in (["--points", "5,2,3"], ["--seed", "5"], ["--case-seconds", "21"]):
            self.assertIn("; 2 grades are missing\n", self.share("--render-only", *words, status=1))
        (self.out / "verdicts/anna/exercise16.json").write_text("{")  # as a full disk leaves it
        self.submit("bert", UNSOLVED)
        self.assertIn("; 2 grades are missing\n", self.share("--render-only", status=1))

    def test_what_could_not_be_graded_has_no_verdict(self):
        self.submit("anna", RIGHT)
        build = self.build_that(f"[ $turn -le {RUNS} ] || exit 127")
        self.share("--share", "1/1", "--jobs", "1", "--build", build, status=1)
        self.assertEqual([path.name for path in (self.out / "verdicts/anna").iterdir()], [])

    def test_a_share_has_to_be_one(self):
        self.submit("anna", RIGHT)
        for share in ("0/2", "3/2", "1", "one/2"):
            self.assertIn(f"'{share}' is not a share, such as 1/8, …, 8/8", self.share("--share", share, status=2))
        self.assertIn("--share grades, and --render-only does not", self.share("--share", "1/2", "--render-only", status=2))

    def test_where_no_verdict_can_be_kept_it_is_told(self):
        self.submit("anna", "#error no\n")
        told = "the verdicts cannot be kept there: File exists. Name a folder that you may write to, and make room\n"
        (self.out / "verdicts").mkdir(parents=True)
        (self.out / "verdicts/anna").touch()
        self.assertIn(f"grade: --out {self.out}: {told}", self.share("--share", "1/1", status=2))
        (self.out / "file").touch()
        self.assertIn(told, self.share("--share", "1/1", "--out", self.out / "file", status=2).replace(
            "Not a directory", "File exists"))


class CommandLine(WithFolder):
    def test_where_no_grades_can_be_written_nobody_is_graded(self):
        self.submit("anna", RIGHT)
        file = self.folder / "file"
        file.touch()
        (self.out / "grades.html").mkdir(parents=True)
        for out, why in ((file, "File exists"), (file / "out", "Not a directory"), ("/dev/full", "File exists"),
                         ("/proc/grades", "No such file or directory"), (self.out, "grades.html is a folder")):
            told = grade(self.submissions, "--build", BUILD, "--out", out, "--unsafe")
            self.assertEqual(told.returncode, 2, told.stdout)
            self.assertEqual(told.stdout.splitlines()[1:], [
                f"grade: --out {out}: the grades cannot be written there: {why}. Name a folder that you may write to, with "
                "1 MiB free"])

    def test_without_a_sandbox_nothing_is_graded(self):
        self.submit("anna", RIGHT)
        tools = self.folder / "tools"
        tools.mkdir()
        told = grade(self.submissions, "--build", BUILD, "--out", self.out, environment={"PATH": str(tools)})
        self.assertEqual(told.returncode, 2)
        self.assertIn("there is no bwrap", told.stdout)
        (tools / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace'\nexit 1\n")
        (tools / "bwrap").chmod(0o755)
        told = grade(self.submissions, "--build", BUILD, "--out", self.out, environment={"PATH": str(tools)})
        self.assertEqual(told.returncode, 2)
        self.assertIn("    bwrap: No permissions to create new namespace\n", told.stdout)
        self.assertIn("--unsafe", told.stdout)
        self.assertFalse(self.out.exists())

    def test_unsafe_does_without(self):
        self.submit("anna", RIGHT)
        of = self.grades("--unsafe", "--points", "5,2,3")
        self.assertEqual(of["anna", "16"]["points"], "10")
        self.assertIn("without sandboxes", self.told.stdout)

    def test_where_the_solution_does_not_pass_nobody_is_graded(self):
        self.submit("anna", RIGHT)
        told = grade(self.submissions, "--build", BUILD, "--out", self.out, "--unsafe", "--memory", "64")
        self.assertEqual(told.returncode, 2, told.stdout)
        self.assertIn("the lesson's own solution of exercise 16 does not pass here", told.stdout)

    def test_what_is_wrong_with_a_roster_is_told_before_anybody_is_graded(self):
        self.submit("anna", RIGHT)
        self.submit("bert", RIGHT)
        roster = self.folder / "roster.csv"
        line = "A line is a folder, a comma, and the id of this student alone"
        for content, why in (
                ("name,id\nanna,1\n", ": the first line is 'name,id'. It has to name the columns folder and id: 'folder,id'"),
                ("", ": the first line is ''. It has to name the columns folder and id: 'folder,id'"),
                ("folder,id\nanna,1\nanna,2\n", f", line 3: 'anna' has a line already. {line}"),
                ("folder,id\nanna\n", f", line 2: 'anna' has no id. {line}"),
                ("folder,id\nanna,1\nbert,1\n", f", line 3: another folder has the id '1' already. {line}"),
                ("folder,id\nanna,1\n", " has no line for bert. Add one for each: the folder, a comma, and the id on the "
                                        "course platform"),
                ("folder,id\nann\xe9,1\n", " cannot be read: 'utf-8' codec can't decode byte 0xe9 in position 13: invalid "
                                           "continuation byte. It has to be a CSV file in UTF-8")):
            roster.write_text(content, encoding="latin-1")
            told = grade(self.submissions, "--build", BUILD, "--out", self.out, "--roster", roster)
            self.assertEqual((told.returncode, told.stdout), (2, f"grade: --roster {roster}{why}\n"))
        self.assertIn("cannot be read: ", grade(self.submissions, "--build", BUILD, "--roster", self.folder).stdout)
        self.assertFalse(self.out.exists())

    def test_wrong_command_lines_are_told(self):
        for words, message in (([], "which folder?"), ([self.folder / "none"], "there is no folder"),
                               ([self.submissions], "has no folder of a student in it"),
                               ([self.submissions, "--points", "1,2"], "'1,2' is not three numbers"),
                               ([self.submissions, "--student", "anna"], "there is no folder")):
            told = grade(*words)
            self.assertEqual(told.returncode, 2, told.stdout)
            self.assertIn(message, told.stdout)
        self.submit("anna", RIGHT)
        self.assertIn("there is no exercise 99", grade(self.submissions, "--exercises", "99").stdout)
        self.assertIn("make emulate builds it", grade(self.submissions, "--build", self.folder).stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
