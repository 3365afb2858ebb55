"""The runs of `make report`, and what it keeps of each."""

import datetime
import hashlib
import json
import shlex
import subprocess
import sys
from dataclasses import dataclass

from tutorial import write_whole
from tutorial.programs import Failure, Programs, output_of

# 2^10, 2^12, … ints, up to 1 GiB on a GPU, and on the emulator up to one or two seconds per run.
EXPONENTS = {"gpu": range(10, 29, 2), "emulator": range(10, 23, 2)}
PADDINGS = range(34)
# Of a run's record.
PARTS = {"name", "command", "device", "date", "machine", "fingerprint", "exit_status", "error", "result"}
LONGEST = 900  # seconds that a run may take


def say(message):
    print(f"report: {message}", file=sys.stderr, flush=True)


@dataclass
class Run:
    name: str  # of its file in OUT/runs
    group: str  # the row that it belongs to
    program: str
    device: str  # gpu or emulator
    arguments: tuple = ()

    def command(self):
        return [f"./{self.program}", "--device", self.device, *self.arguments, "--format", "json"]


def plan(kind, lessons):
    """What a machine runs whose device is a `kind`: the ladder, and what the lessons' manifests say."""
    def wanting(report):
        return [lesson.name for lesson in lessons if report in lesson.report]

    runs = [Run(lesson, lesson, lesson, kind) for lesson in wanting("once")]
    runs.append(Run("ladder", "ladder", "ladder", kind))
    for program in ("ladder", *wanting("size by size")):
        runs += [Run(f"{program}-2to{exponent}", f"{program}, size by size", program, kind, ("--n", f"2^{exponent}"))
                 for exponent in EXPONENTS[kind]]
    # No GPU reports its wavefronts without Nsight Compute.
    for program in wanting("padding by padding"):
        runs += [Run(f"{program}-padding{padding:02}", f"{program}, padding by padding", program, "emulator",
                     ("--padding", str(padding))) for padding in PADDINGS]
    if kind == "gpu":
        runs += [Run(f"{program}-emulated", f"{program}, emulated", program, "emulator")
                 for program in ("ladder", *wanting("emulated"))]
    return runs


class LessonPrograms(Programs):
    """The programs, and their output."""

    def __init__(self, folder, lessons):
        super().__init__(folder)
        if not any(self.path(name).exists() for name in (*(lesson.name for lesson in lessons), "ladder")):
            raise Failure(2, f"--build {folder}: there is no lesson in {folder / 'bin'} (`make report` builds them)")
        self.digests = {}

    def digest(self, path):
        if path not in self.digests:
            self.digests[path] = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
        return self.digests[path]

    def fingerprint(self, run, machine):
        """A hash of everything that a run's outcome depends on."""
        parts = [*run.command(), self.digest(self.path(run.program))]
        if run.device == "emulator":
            parts += [self.digest(path) for path in sorted((self.folder / "emulator").rglob("libcudart.so*"))]
        else:
            parts += [machine["name"], machine["driver"] or ""]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def call(self, program, arguments):
        """(exit status or None, what it printed as JSON or None, what was wrong)."""
        try:
            done = subprocess.run([self.path(program), *arguments], env=self.environment, capture_output=True,
                                  stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return None, None, f"stopped: it took more than {LONGEST} s"
        except OSError as error:
            return None, None, f"cannot be started: {error.strerror}"
        try:
            result = json.loads(done.stdout)
            verified = [kernel["verified"] for kernel in result["kernels"]]
        except (ValueError, KeyError, TypeError):
            result, verified = None, []
        if done.returncode == 0 and verified and all(verified):
            return 0, result, ""
        silence = "it told nothing more" if done.returncode else "its output has no verified kernel"
        return done.returncode, result, done.stderr.strip() or silence


def find_machine(programs, lessons):
    """The device as the lessons see it: from the first of them that works."""
    name = told = ""
    for name in [lesson.name for lesson in lessons if "once" in lesson.report and lesson.part != "tiles"]:
        _, result, told = programs.call(name, ["--n", "1", "--verify", "--format", "json"])
        if result:
            driver = output_of(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
            return {**result["device"], "driver": driver and driver.split("\n")[0].strip(), "toolkit": programs.toolkit()}
    raise Failure(1, f"no lesson works here. {name}: {told}")


def read_record(path):
    """A run's file, or None if it is not one."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return record if set(record) >= PARTS else None
    except (OSError, ValueError, TypeError):
        return None


def as_json(value):
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def carry_out(lessons, programs, folder, fresh, share=(1, 1)):
    """Makes the missing runs of a share (1 to N, N). Returns the machine, the runs and their records."""
    if fresh:
        for path in folder.glob("*.json"):
            path.unlink()
    machine = find_machine(programs, lessons)
    runs = plan(machine["kind"], lessons)
    kept = {run.name: read_record(folder / f"{run.name}.json") for run in runs}
    strangers = {record["machine"]["name"] for record in kept.values() if record} - {machine["name"]}
    if strangers:
        raise Failure(2, f"{folder} has runs of {', '.join(sorted(strangers))}, and this is {machine['name']}. "
                         "--render-only makes their page, --out names another folder, --fresh forgets them.")
    for path in set(folder.glob("*.json")) - {folder / f"{run.name}.json" for run in runs}:
        path.unlink(missing_ok=True)  # of an older plan
    wanted = {run.name: programs.fingerprint(run, machine) for run in runs}
    kept = {name: record for name, record in kept.items()
            if record and record["exit_status"] == 0 and not record["error"] and record["fingerprint"] == wanted[name]}
    say(f"{machine['name']}: {len(runs)} runs" + (f", {len(kept)} of them kept from before" if kept else ""))
    for number, run in enumerate(runs, 1):
        if run.name in kept or number % share[1] != share[0] % share[1]:
            continue
        say(f"[{number:3}/{len(runs)}] {shlex.join(run.command()[:-2])}")
        status, result, error = programs.call(run.program, run.command()[1:])
        if error:
            say(f"{run.name} failed: " + (f"exit status {status}: " if status is not None else "") + error)
        kept[run.name] = {
            "name": run.name, "command": shlex.join(run.command()), "device": run.device,
            "date": f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
            "machine": machine, "fingerprint": wanted[run.name],
            "exit_status": status, "error": error, "result": result}
        write_whole(folder / f"{run.name}.json", as_json(kept[run.name]))
    return machine, runs, kept


def read_runs(lessons, folder):
    """What carry_out() returns, from the files alone."""
    records = {}
    for path in sorted(folder.glob("*.json")):
        records[path.stem] = read_record(path)
        if records[path.stem] is None:
            raise Failure(2, f"{path} is not what a run leaves; remove it")
    if not records:
        raise Failure(2, f"--render-only: there are no runs in {folder}")
    machines = {json.dumps(record["machine"], sort_keys=True): record["machine"] for record in records.values()}
    names = sorted({machine["name"] for machine in machines.values()})
    if len(names) > 1:
        raise Failure(2, f"{folder} has runs of several devices: {', '.join(names)}")
    machine = max(records.values(), key=lambda record: record.get("date", ""))["machine"]
    return machine, plan(machine["kind"], lessons), records
