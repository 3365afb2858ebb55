"""The submissions, the sandboxes in which they are checked, and their grades."""

import contextlib
import csv
import errno
import functools
import hashlib
import io
import json
import os
import queue
import random
import re
import secrets
import select
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tutorial import ROOT, write_whole
from tutorial import exercises as checker

ASPECTS = ("right", "clean", "traffic")
LARGEST_TEXT = 2**20  # bytes; a solution has a few thousand
MOST_ANSWERED = 2**23  # bytes to read of a check's answer
MOST_MESSAGE = 2000  # characters
SIZE_OF_TMP = 2**30


class CannotGrade(Exception):
    """Grading is impossible: something is missing, or the command line is wrong."""


class BrokenOff(Exception):
    """A signal has ended the grading: its number, and the progress so far."""


@dataclass
class Grade:
    student: str
    exercise: str
    points: dict = field(default_factory=dict)  # of each of ASPECTS
    failed: str = ""  # the step that did
    message: str = ""
    again: str = ""  # a command that repeats the failing case
    score: str = ""  # of a solved exercise with a score, such as A: the count to minimize
    trouble: bool = False  # it could not be graded
    submitted: bool = True

    @property
    def total(self):
        return sum(self.points.values())


def printable(text):
    """For pages and terminals: without control characters, and without bytes that are no text."""
    text = os.fsencode(text).decode("utf-8", "replace") if isinstance(text, str) else str(text)
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


def say(message):
    line = printable(message).replace("\n", "\ufffd")  # a student's name must not begin a line
    print(f"grade: {line}", file=sys.stderr, flush=True)


# ---- the submissions ----

@dataclass
class Submissions:
    students: list  # names of folders
    texts: dict  # (student, number) -> path
    unknown: list  # what else lies there, as paths below the folder

    def numbers(self):
        return sorted({number for _, number in self.texts})


def collect(folder, only):
    if not folder.is_dir():
        raise CannotGrade(f"there is no folder {folder}")
    found, numbers = Submissions([], {}, []), checker.all_numbers()
    for student in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if student.name.startswith(".") or (only and student.name not in only):
            continue
        if not student.is_dir(follow_symlinks=False):
            found.unknown.append(student.name)
            continue
        found.students.append(student.name)
        for file in sorted(os.scandir(student.path), key=lambda entry: entry.name):  # exercise03 before lesson03
            match = re.fullmatch(r"(?:exercise|lesson)(\d\d|[A-Z])\.cuh", file.name)
            key = (student.name, match and match.group(1))
            if match and match.group(1) in numbers and key not in found.texts:
                found.texts[key] = Path(file.path)
            elif not file.name.startswith("."):
                found.unknown.append(f"{student.name}/{file.name}")
    if missing := set(only) - set(found.students):
        raise CannotGrade(f"there is no folder {folder / missing.pop()}")
    if not found.students:
        raise CannotGrade(f"{folder} has no folder of a student in it")
    return found


def read_text(path):
    """(The bytes, ""), or (None, the error). Follows no link, and waits for no pipe."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return None, "is a link, which is not followed" if os.path.islink(path) else f"cannot be read: {error.strerror}"
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            return None, "is not a plain file"
        if about.st_size > LARGEST_TEXT:
            return None, f"has {about.st_size:,} bytes; {LARGEST_TEXT:,} are the most"
        return os.read(file, LARGEST_TEXT), ""
    finally:
        os.close(file)


# ---- the sandbox ----

class Sandbox:
    """How a check is started: what comes before `python3 grade_inside.py`, and what it finds where."""

    root, build, work, submission = Path("/course"), Path("/build"), Path("/tmp/work"), Path("/submission")

    # With a user namespace if possible. Root may go without where only these are forbidden.
    NAMESPACES = (["--unshare-all"], ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"])

    def __init__(self, build):
        self.on_host = build
        self.bwrap = shutil.which("bwrap")
        if not self.bwrap:
            raise CannotGrade("there is no bwrap, of which the sandboxes are made; scripts/setup grade installs it. "
                              "Without sandboxes: --unsafe, for submissions that you have read")
        with_size = "--size" in subprocess.run([self.bwrap, "--help"], stdout=subprocess.PIPE, text=True).stdout
        self.tmp = [*(["--size", str(SIZE_OF_TMP)] if with_size else []), "--tmpfs", "/tmp"]
        said = []
        for namespaces in self.NAMESPACES[:2 if os.geteuid() == 0 else 1]:
            self.namespaces = namespaces
            tried = self.try_it(self.base())
            if tried.returncode == 0:
                return
            said.append(tried.stdout.strip() or f"exit status {tried.returncode}")
        raise CannotGrade(
            "bwrap cannot make a sandbox here, and without one nothing is graded. It says:\n"
            + "\n".join(f"    {text}" for text in dict.fromkeys(said)) +
            "\nIn a container this takes namespaces (docker run --security-opt seccomp=unconfined, podman run "
            "--security-opt seccomp=unconfined), or grade outside of it.\nOn Ubuntu 24.04: sysctl -w "
            "kernel.apparmor_restrict_unprivileged_userns=0.\nWithout sandboxes: --unsafe, for submissions that you "
            "have read")

    def try_it(self, before):
        return subprocess.run([*before, python(), "-c", ""], stdin=subprocess.DEVNULL, env=self.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    @functools.cached_property
    def can_be_somebody(self):
        return os.geteuid() == 0 and self.try_it([*self.base(as_root=True), *somebody()]).returncode == 0

    def base(self, as_root=False):
        command = [self.bwrap, *(self.NAMESPACES[1] if as_root else self.namespaces), "--die-with-parent", "--new-session",
                   "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr"]
        if as_root:
            command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
            if os.path.islink(name):
                command += ["--symlink", os.readlink(name), name]
            elif os.path.isdir(name):
                command += ["--ro-bind", name, name]
        command += [*(["--perms", "1777"] if as_root else []), *self.tmp, "--chdir", "/tmp", "--proc", "/proc"]
        for name in ("/etc/ld.so.cache", "/etc/alternatives", *elsewhere(python(), sys.base_prefix),
                     *elsewhere(checker.nvcc_of(self.on_host))):
            command += seen_at(name, "--ro-bind-try", name)
        for name in ("/dev/null", "/dev/urandom"):
            command += seen_at(name, "--dev-bind", name)
        return command

    def command(self, exercise, text):
        """A submission sees only the course files that it may include: no solution of its own lesson, and nothing of
        others that its program does not include."""
        seen = ["scripts/grade_inside.py", exercise.main, exercise.lesson.path, exercise.page, *checker.headers(exercise)]
        return self.command_that_sees(seen, ["bin/emulate", f"bin/{exercise.program}", "emulator"], text)

    def command_that_sees(self, files, built, text, runs_host_code=False):
        """The course's `files`, and what is `built` of these."""
        to_somebody = somebody() if runs_host_code and self.can_be_somebody else []
        command = self.base(as_root=bool(to_somebody))
        pairs = [(ROOT / name, self.root / Path(name).relative_to(ROOT if Path(name).is_absolute() else ""))
                 for name in ("common", "scripts/tutorial", *files)]
        pairs += [(self.on_host / name, self.build / name) for name in (*built, "CMakeCache.txt")]
        for source, seen in (map(os.path.normpath, pair) for pair in (*pairs, (text.parent, self.submission))):
            command += seen_at(seen, "--ro-bind", source)
        return [*command, "--remount-ro", "/", *to_somebody]  # of what is seen only /tmp can be written

    def environment(self):
        return {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}


def somebody():
    """What makes of root a user whom nothing else belongs to: the system limits processes for each user, and root's not at
    all."""
    user = 2**30 + secrets.randbelow(2**30)
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]


def seen_at(path, how, source):
    """bwrap's words for that. It would close the folders above to others than root."""
    return ["--dir", os.path.dirname(path), how, source, path]


def python():
    return os.path.realpath(sys.executable)


def elsewhere(program, prefix=None):
    """The folders of a program outside /usr, under its own and its real path."""
    prefixes = [prefix] if prefix else [str(Path(path).parent.parent) for path in (program, os.path.realpath(program))]
    return [] if program.startswith("/usr/") and os.path.realpath(program).startswith("/usr/") else prefixes


class NoSandbox:
    """--unsafe: only the limits on time and memory remain."""

    def __init__(self, build, folder):
        self.root, self.build, self.work, self.folder = ROOT, build, folder / "work", folder

    def command(self, exercise, text):
        return self.command_that_sees([], [], text)

    def command_that_sees(self, files, built, text, runs_host_code=False):
        self.submission = text.parent
        return []

    def environment(self):
        return {**Sandbox.environment(self), "HOME": os.environ.get("HOME", "/"), "TMPDIR": str(self.folder)}


# ---- checks that run, and their end ----

MARK = "GRADED_CHECK"  # a variable in the environment of each process of a check


class Running:
    """The running checks. A signal ends all of them, and no new one starts."""

    def __init__(self):
        self.ended, self.signal, self.processes, self.lock = False, None, {}, threading.RLock()

    def end_on_signals(self):
        """In a thread of its own: Python's handlers run in the main thread, which does not notice a signal that
        comes just before it begins to wait."""
        self.wakes, number = socket.socketpair()
        self.wakes.setblocking(False)
        signal.set_wakeup_fd(self.wakes.fileno())
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, lambda *_: None)
        threading.Thread(target=lambda: self.end(number.recv(1)[0]), daemon=True).start()

    def end(self, number=None):
        self.ended, self.signal = True, number
        with self.lock:
            for process, mark in self.processes.items():
                kill(process, mark)

    @contextlib.contextmanager
    def process(self, command, environment, **how):
        """Starts it; it has ended at the end of the block."""
        mark = uuid.uuid4().hex
        with self.lock:
            if self.ended:
                raise Ended
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                       env={**environment, MARK: mark}, **how)
            self.processes[process] = mark
        try:
            yield process
        finally:
            with self.lock:
                kill(process, mark)
                process.wait()
                del self.processes[process]
        if self.ended:
            raise Ended


class Ended(Exception):
    """This program ended the check: that is no verdict."""


def kill(process, mark):
    """Ends it and every process that it started, even in other sessions, and waits for their end. All of them have
    `mark` in their environment: so one is found whose parent ended as it began."""
    if process.poll() is not None:
        return
    ended = set()
    while living := {process.pid, *descendants(process.pid), *marked(mark)} - ended:
        ended |= living
        with contextlib.ExitStack() as stack:
            for pid in living:
                with contextlib.suppress(ProcessLookupError):
                    of_it = os.pidfd_open(pid)
                    stack.callback(os.close, of_it)
                    stack.callback(select.select, [of_it], [], [])
                    signal.pidfd_send_signal(of_it, signal.SIGKILL)


def descendants(pid):
    """The processes that this one has started, and their descendants."""
    children = {}
    for each, stat_line in of_processes("stat"):
        parent = stat_line.rpartition(b") ")[2].split()[1]
        children.setdefault(int(parent), []).append(each)
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found[1:]


def marked(mark):
    return [pid for pid, variables in of_processes("environ") if f"{MARK}={mark}".encode() in variables.split(b"\0")]


def of_processes(name):
    """The file /proc/PID/`name` of each process that may be read: (PID, bytes). A process may end at any moment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            content = Path(f"/proc/{pid}/{name}").read_bytes()
            if content:
                yield int(pid), content


# ---- grading ----

def ask(running, sandbox, exercise, text, options, processor, each_kernel=False, tell=lambda step: None):
    """What grade_inside.py answers about the file `text`, as a dict. `tell` gets each step as soon as it is known."""
    task = {"number": exercise.number, "seed": options.seed, "case_seconds": options.case_seconds, "each_kernel": each_kernel}
    failed = "compiles"

    def told(step):
        nonlocal failed
        failed = "right" if step["passed"] else failed
        tell(step)

    answer = run_inside(running, sandbox, sandbox.command(exercise, text), "grade_inside.py", text, options, processor, task,
                        checker.PATIENCE * options.seconds, told)
    if "late" in answer:
        return {"trouble": f"the machine is too busy: the check had not ended after {answer['late']} s"}
    return {"failed": failed, **answer}


def run_inside(running, sandbox, before, script, text, options, processor, task, patience, tell=lambda step: None,
               most=MOST_ANSWERED, most_processes=None):
    """What a script answers in the sandbox that `before` makes: its last line, as a dict. Lines with a step go to `tell`.
    {"late": patience} if it has not ended after so many seconds."""
    task = {**task, "text": str(sandbox.submission / text.name), "build": str(sandbox.build), "work": str(sandbox.work),
            "seconds": options.seconds, "memory": options.memory, "processor": processor}
    command = [*before, python(), "-Es", str(sandbox.root / "scripts" / script), json.dumps(task)]
    answer = {}
    with tempfile.TemporaryFile() as told:
        try:
            with running.process(command, sandbox.environment(), stdout=subprocess.PIPE, stderr=told) as process, process.stdout:
                for line in lines_of(process, patience, most, most_processes):
                    with contextlib.suppress(ValueError):
                        answer = json.loads(line)
                        if "step" in answer:
                            tell(answer)
                process.wait(patience)
        except subprocess.TimeoutExpired:
            return {"late": patience}
        except TooMuch as what:
            return {"stopped": f"was stopped: {what}"}
        told.seek(0)
        said = told.read(MOST_MESSAGE).decode("utf-8", "replace").strip()
    if answer and "step" not in answer:
        return answer
    if process.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU) or "MemoryError" in said:
        return {"stopped": "was stopped for the time or the memory that it took"}
    if process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):  # no limit ends a check with this signal
        return {"trouble": "the check was ended from outside: is the machine out of memory?"}
    return {"trouble": f"the check ended with status {process.returncode}: {said.splitlines()[-1] if said else ''}"}


class TooMuch(Exception):
    """A limit that no single process of a sandbox meets."""


def lines_of(process, patience, most, most_processes):
    """The lines of its stdout, as they come: at most so many bytes. Counts its processes from time to time, if there is a
    limit: root's own have none."""
    deadline, rest, count = time.monotonic() + patience, bytearray(), 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise subprocess.TimeoutExpired(process.args, patience)
        if most_processes and len(descendants(process.pid)) > most_processes:
            raise TooMuch(f"more than {most_processes} processes")
        if not select.select([process.stdout], [], [], min(left, 0.2) if most_processes else left)[0]:
            continue
        chunk = os.read(process.stdout.fileno(), 2**16)
        count += len(chunk)
        if count > most:
            raise TooMuch(f"more than {most // 2**20} MiB of output")
        rest += chunk
        if b"\n" in chunk:
            *lines, rest = rest.split(b"\n")
            yield from lines
        if not chunk:
            return


def grade(running, sandbox_of, student, number, path, options, processor):
    result = Grade(student, number, dict.fromkeys(ASPECTS, 0))
    if path is None:
        result.failed, result.message, result.submitted = "submitted", "not submitted", False
        return result
    content, wrong = read_text(path)
    if wrong:
        result.failed, result.message = "submitted", f"{path.name} {wrong}"
        return result
    exercise = checker.Exercise(number)
    with tempfile.TemporaryDirectory(prefix="grade_") as folder:
        text = Path(folder) / "submission" / path.name
        text.parent.mkdir()
        text.write_bytes(content)
        text.parent.chmod(0o755)
        answer = ask(running, sandbox_of(Path(folder)), exercise, text, options, processor)
    if "steps" not in answer:
        result.trouble = "trouble" in answer
        result.failed = "graded" if result.trouble else answer["failed"]
        result.message = answer.get("trouble") or answer.get("stopped")
        return result
    result.score = "" if answer["score"] is None else str(answer["score"])
    for step in answer["steps"]:
        if step["passed"] and step["step"] in ASPECTS:
            result.points[step["step"]] = options.points[step["step"]]
        elif not step["passed"]:
            result.failed = step["step"]
            result.message = "\n".join(step["what"])[:MOST_MESSAGE]
    result.again = again_with(options.out / "ptx" / student / f"exercise{number}.ptx", answer)
    return result


def again_with(kept, answer):
    """The command that repeats a failing case, for a shell in the root, with the PTX, which it keeps in that file; or ''."""
    if not answer["ptx"] or not answer["again"]:
        return ""
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(answer["ptx"], encoding="utf-8")
    kept = kept.relative_to(ROOT) if kept.is_relative_to(ROOT) else kept
    words = shlex.split(answer["again"])
    return shlex.join([words[0], words[1], str(kept), *words[3:]])


def grade_all(sandbox_of, submissions, keys, options, write):
    """The grades of the keys (student, number), in their order. After each one, calls `write` with it, the grades so far
    and the number still missing. A signal ends it."""
    processors = sorted(os.sched_getaffinity(0))
    free = queue.SimpleQueue()
    for index in range(options.jobs):
        free.put(processors[(index + options.share[0]) % len(processors)])  # other tasks may run on this machine
    running = Running()
    running.end_on_signals()

    def on_a_processor(student, number, path):
        processor = free.get()
        try:
            return grade(running, sandbox_of, student, number, path, options, processor)
        except (OSError, ValueError, checker.ExerciseError) as error:
            if running.ended:
                raise Ended from error
            return Grade(student, number, dict.fromkeys(ASPECTS, 0), "graded", str(error), trouble=True)
        finally:
            free.put(processor)

    def solution(number):
        return on_a_processor("the lesson's solution", number, checker.Exercise(number).solution)

    numbers = sorted({number for _, number in keys})
    grades = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            # If the right solution fails here, everybody would lose the points.
            for result in pool.map(solution, numbers):
                if result.total != sum(options.points.values()):
                    raise CannotGrade(f"the lesson's own solution of exercise {result.exercise} does not pass here, so "
                                      f"nobody is graded. {result.failed}: {result.message}")
            of = {pool.submit(on_a_processor, *key, submissions.texts.get(key)): key for key in keys}
            for future in as_completed(of):
                with contextlib.suppress(Ended):
                    result = grades[of[future]] = future.result()
                    write(result, [grades[key] for key in keys if key in grades], len(keys) - len(grades))
                    say(f"{result.student}, exercise {result.exercise}: " + (
                        f"could not be graded: {in_short(result)}" if result.trouble else
                        f"{result.total} points" + (f"; {result.failed}: {in_short(result)}" if result.failed else "")))
        except Ended:
            pass
        except CannotGrade:
            running.end()
            raise
    if running.ended and len(grades) < len(keys):
        raise BrokenOff(running.signal, f"broken off by {signal.Signals(running.signal).name}: {len(grades)} of "
                        f"{len(keys)} are graded")
    return [grades[key] for key in keys]


def in_short(result):
    """The first line of a message, and the second if the first only has the location, as in 'no, with --n 1:'."""
    first, _, rest = result.message.partition("\n")
    return f"{first} {rest.partition(chr(10))[0]}" if first.endswith(":") else first


def harmless(cell):
    """Spreadsheets treat text that begins like a formula as one. A dash alone is none."""
    return f"'{cell}" if isinstance(cell, str) and cell != "-" and cell[:1] in tuple("=+-@\t\r") else cell


def as_csv(rows):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([harmless(printable(cell)) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return file.getvalue()


def csv_of(grades):
    rows = [["student", "exercise", "points", *ASPECTS, "score", "failed", "message", "again"]]
    for entry in grades:
        points = [entry.total, *(entry.points[name] for name in ASPECTS)]
        if entry.trouble:  # which is no verdict
            points = [""] * len(points)
        rows.append([entry.student, entry.exercise, *points, entry.score, entry.failed, entry.message, entry.again])
    return as_csv(rows)


# ---- verdicts that are kept, for the tasks of a cluster ----

class Verdicts:
    """A file for each grade in OUT/verdicts. One that depends on something else by now counts as missing."""

    def __init__(self, submissions, options):
        self.submissions, self.options, self.folder = submissions, options, options.out / "verdicts"
        self.fingerprints = {}  # before the grading: a submission may change meanwhile
        self.folder.mkdir(parents=True, exist_ok=True)
        if options.seed is None:
            options.seed = self.common_seed()

    def common_seed(self):
        """The seed that the first task has drawn."""
        path = self.folder / ".seed"  # no student's folder
        with tempfile.NamedTemporaryFile("w", dir=self.folder) as mine, contextlib.suppress(FileExistsError):
            mine.write(f"{random.SystemRandom().randrange(1, 2**31)}\n")
            mine.flush()
            os.link(mine.name, path)
        return int(path.read_text())

    def path(self, student, number):
        return self.folder / student / f"exercise{number}.json"

    def fingerprint(self, student, number):
        """A hash of everything that the grade depends on."""
        options, exercise, path = self.options, checker.Exercise(number), self.submissions.texts.get((student, number))
        files = [*(ROOT / "scripts" / name for name in ("grade_inside.py", "tutorial/exercises.py")),
                 exercise.main, exercise.page, exercise.lesson.path, *checker.headers(exercise),
                 *(options.build / "bin" / name for name in ("emulate", exercise.program)),
                 *sorted((options.build / "emulator").rglob("libcudart.so*"))]
        parts = [path and path.name, *(path and map(str, read_text(path)) or ()), options.seed, options.points, options.seconds,
                 options.case_seconds, options.memory, *map(digest, files)]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def get(self, student, number):
        """The grade, or None."""
        wanted = self.fingerprints[student, number] = self.fingerprint(student, number)
        try:
            kept = json.loads(self.path(student, number).read_text(encoding="utf-8"))
            return Grade(**kept["grade"]) if kept["fingerprint"] == wanted else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, result):
        """What could not be graded has no verdict."""
        path = self.path(result.student, result.exercise)
        path.parent.mkdir(exist_ok=True)
        if not result.trouble:
            write_whole(path, json.dumps({"fingerprint": self.fingerprints[result.student, result.exercise],
                                          "grade": asdict(result)}))


@functools.cache
def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- the folder for the grades ----

ROOM = 2**20  # bytes that have to be free in it: the grades of a hundred students take half of it


def prepare(folder):
    """Makes the folder, and tests whether the grades can be written there. Raises CannotGrade."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("grades.csv", "grades.html"):
            if (folder / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, f"{name} is a folder")
        write_whole(folder / "room", " " * ROOM)
        (folder / "room").unlink()
        shutil.rmtree(folder / "ptx", ignore_errors=True)
    except OSError as error:
        raise CannotGrade(f"--out {folder}: the grades cannot be written there: {error.strerror}. Name a folder that you "
                          f"may write to, with {ROOM // 2**20} MiB free") from None
