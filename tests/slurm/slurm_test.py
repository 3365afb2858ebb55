#!/usr/bin/python3
"""slurm_test.py BUILD: scripts/slurm/array grades and reports on a cluster of one machine.

Slurm's daemons run as this user in a temporary folder, with ports of their own, without munge, systemd or cgroups. They
end with this program, however it ends. The machine has two processors, so that two tasks run at a time.
"""

import csv
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/report"))
import report_test  # noqa: E402

BUILD = Path(sys.argv[1]).absolute()
ARRAY = ROOT / "scripts/slurm/array"
LESSON = ROOT / "lessons/lesson16_square_tile"
RIGHT = (LESSON / "kernels.cuh").read_text(encoding="utf-8")
UNSOLVED = (LESSON / "exercise.cuh").read_text(encoding="utf-8")
USER = pwd.getpwuid(os.getuid()).pw_name
PATIENCE = 300  # seconds for what takes a few, on however busy a machine
# A command that ends with this program, and what it has started.
MORTAL = ["setpriv", "--pdeathsig", "TERM", "timeout", str(PATIENCE)]

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def output_of(*command):
    return subprocess.run(["timeout", "20", *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="slurm_test_")
    unittest.addModuleCleanup(folder.cleanup)
    path = Path(folder.name)
    for name in ("state", "spool"):
        (path / name).mkdir()
    (path / "slurm.conf").write_text(CONFIGURATION.format(
        host=socket.gethostname().split(".")[0], ports=free_ports(2), user=USER, folder=path))
    os.environ["PATH"] += ":/usr/sbin"
    os.environ["SLURM_CONF"] = str(path / "slurm.conf")
    for daemon in (["slurmctld", "-D", "-i"], ["slurmd", "-D", "-N", "one"]):
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *daemon], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        unittest.addModuleCleanup(process.wait)
        unittest.addModuleCleanup(process.terminate)
    unittest.addModuleCleanup(end_jobs)
    signal.signal(signal.SIGTERM, lambda *_: (end_jobs(), os._exit(143)))
    begin = time.monotonic()
    while "idle" not in output_of("sinfo", "--noheader", "--format", "%T"):
        if time.monotonic() - begin > PATIENCE:
            raise AssertionError("\n".join(log.read_text() for log in path.glob("*.log")))
        time.sleep(0.1)


def end_jobs():
    output_of("scancel", "--signal", "KILL", "--full", "--user", USER)
    for _ in range(100):
        if not output_of("squeue", "--noheader").strip():
            break
        time.sleep(0.1)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="slurm_test_")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "out"

    def array(self, tasks, *command, status=0):
        done = subprocess.run([*MORTAL, ARRAY, str(tasks), *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        folder = re.search(r"slurm: \d+ tasks\. squeue --name (.+) shows them, and (build/slurm/\1) has their logs\n",
                           done.stdout)
        self.logs = []
        if folder:
            self.logs = [log.read_text() for log in sorted((ROOT / folder[2]).iterdir())]
            shutil.rmtree(ROOT / folder[2])
        self.assertEqual(done.returncode, status, "\n".join([done.stdout, *self.logs]))
        self.told = done.stdout.replace(folder[0], "") if folder else done.stdout


class Array(WithFolder):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.command = self.folder / "the command"
        # Fails in the second task if it has to, and waits if it has to.
        self.command.write_text(f"""#!/bin/bash
            cd '{self.folder}'
            (IFS='|' && echo "$*" >>log)
            if [[ -p gate ]]; then timeout {PATIENCE} cat gate; fi
            if [[ $* == *" 2/"* && -e broken ]]; then echo "the second one is broken" >&2; exit 1; fi
            if [[ $* == *--render-only ]]; then echo merged; exit 7; fi
            """)
        self.command.chmod(0o755)

    def test_each_task_has_its_share_and_the_results_are_merged(self):
        self.array(3, self.command, "it's $HOME, a *", status=7)
        lines = self.log.read_text().splitlines()
        self.assertEqual(sorted(lines[:3]), [f"it's $HOME, a *|--share|{share}/3" for share in (1, 2, 3)])
        self.assertEqual(lines[3:], ["it's $HOME, a *|--render-only"])
        self.assertIn("merged\n", self.told)
        self.assertNotIn("failed", self.told)

    def test_a_task_that_fails_is_told_and_the_others_are_merged(self):
        (self.folder / "broken").touch()
        self.array(3, self.command, "x", status=7)
        self.assertRegex(self.told, r"^slurm: tasks failed. The last lines of their logs:\n +1 the second one is broken\n"
                                    r"merged\n$")

    def test_the_same_work_is_not_done_twice_at_a_time(self):
        gate = self.folder / "gate"
        os.mkfifo(gate)
        first = subprocess.Popen([*MORTAL, ARRAY, "1", self.command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(first.stderr.close)
        self.addCleanup(first.wait)
        self.addCleanup(gate.unlink, missing_ok=True)  # so that the merge does not wait
        self.addCleanup(end_jobs)
        name = re.search("--name (.+) shows", first.stderr.readline())[1]  # and now it submits
        self.addCleanup(shutil.rmtree, ROOT / "build/slurm" / name, ignore_errors=True)
        while not (job := output_of("squeue", "--noheader", "--format", "%A").strip()):
            time.sleep(0.1)
        self.array(1, self.command, status=2)
        self.assertEqual(self.told, f"slurm: job {job} does the same already. Wait for its end, or end it: scancel {job}\n")
        gate.write_text("")  # once the task reads it
        gate.unlink()
        self.assertEqual(first.wait(PATIENCE), 7)

    def test_what_cannot_be_submitted_is_told(self):
        self.array(0, self.command, status=2)
        self.assertEqual(self.told, "slurm: SLURM is the number of tasks: SLURM=8\n")
        os.environ["SBATCH_PARTITION"] = "none"
        self.addCleanup(os.environ.pop, "SBATCH_PARTITION")
        self.array(1, self.command, status=2)
        self.assertIn("invalid partition", self.told)
        tools = self.folder / "tools"
        tools.mkdir()
        for tool in ("bash", "dirname"):
            (tools / tool).symlink_to(f"/usr/bin/{tool}")
        done = subprocess.run([ARRAY, "4", self.command], stderr=subprocess.PIPE, text=True, env={"PATH": str(tools)})
        self.assertEqual((done.returncode, done.stderr), (2, "slurm: there is no sbatch: run this on a machine of the cluster "
                                                             "that submits jobs, or without SLURM=4\n"))
        self.assertFalse(self.log.exists())


class Grade(WithFolder):
    def setUp(self):
        super().setUp()
        self.submissions = self.folder / "submissions"

    def submit(self, student, text):
        path = self.submissions / student / "exercise16.cuh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def grade(self, status=0):
        """The shares' lines, and the points."""
        # Without sandboxes: another test is about these.
        self.array(2, "scripts/grade", self.submissions, "--build", BUILD, "--out", self.out, "--unsafe", status=status)
        with (self.out / "grades.csv").open(encoding="utf-8", newline="") as file:
            points = {row["student"]: row["points"] for row in csv.DictReader(file)}
        return [re.search("share .*", log)[0] for log in self.logs], points

    def files(self):
        return {name: (self.out / name).read_bytes() for name in ("grades.csv", "grades.html", "moodle.csv", "canvas.csv")}

    def test_grades_once_and_again_only_what_has_changed(self):
        for student, text in (("anna", RIGHT), ("bert", UNSOLVED), ("carl", "#error no\n")):
            self.submit(student, text)
        shares, points = self.grade()
        self.assertEqual(points, {"anna": "100", "bert": "0", "carl": "0"})
        # Three checks in two shares.
        self.assertEqual(shares, ["share 1 of 2: 1 to grade, 0 kept from before", "share 2 of 2: 2 to grade, 0 kept from before"])
        first = self.files()

        self.assertEqual(self.grade()[0], ["share 1 of 2: 0 to grade, 1 kept from before",
                                           "share 2 of 2: 0 to grade, 2 kept from before"])
        self.assertEqual(self.files(), first, "two merges write the same")

        self.submit("carl", RIGHT)  # bert's verdict is damaged, as by a full disk
        (self.out / "verdicts/bert/exercise16.json").write_text("{")
        shares, points = self.grade()
        self.assertEqual(points, {"anna": "100", "bert": "0", "carl": "100"})
        self.assertEqual(shares, ["share 1 of 2: 0 to grade, 1 kept from before", "share 2 of 2: 2 to grade, 0 kept from before"])
        seed = re.compile(rb"Seed \d+")
        self.assertEqual(seed.findall(first["grades.html"]), seed.findall(self.files()["grades.html"]), "one seed for all")


class Report(WithFolder):
    """With programs that only pretend. Each writes a line when it runs."""

    def setUp(self):
        super().setUp()
        self.pretended = report_test.Pretended()
        self.pretended.setUp()
        self.addCleanup(self.pretended.doCleanups)
        self.log = self.pretended.build / "log"

    def report(self, status=0):
        """The names of the files of the runs that it made."""
        self.log.write_text("")
        self.array(2, "scripts/report", "--build", self.pretended.build, "--out", self.out, status=status)
        return self.log.read_text().splitlines()

    def test_runs_everything_once_and_again_only_what_has_failed(self):
        self.pretended.faults("lesson05-crash")
        made = self.report(status=1)
        self.assertEqual(len(made), len(set(made)), "nothing runs twice")
        self.assertEqual(len(made), len(list((self.out / "runs").glob("*.json"))))
        self.assertTrue(all(log.count("] ./") > len(made) // 3 for log in self.logs), "both tasks have worked")
        self.assertIn("are red on the page: lesson05", self.told)
        before = (self.out / "index.html").read_bytes()

        self.pretended.faults()
        self.assertEqual([line.split()[0] for line in self.report()], ["lesson05"])
        page = (self.out / "index.html").read_bytes()
        self.assertNotEqual(page, before)
        self.assertEqual(self.report(), [])
        self.assertEqual((self.out / "index.html").read_bytes(), page, "two merges write the same")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
