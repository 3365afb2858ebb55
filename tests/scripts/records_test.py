"""Records of measurements, and the programs that make them. Run with PYTHONPATH=scripts."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

from tutorial import ROOT
from tutorial.counters import CONFLICTS, INSTRUCTIONS
from tutorial.programs import Programs
from tutorial.recorded_tables import SHARED_PASSES
from tutorial.records import read_record


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()


class Records(WithFolder):
    def test_have_facts_and_rows(self):
        record = self.folder / "record.csv"
        record.write_text('# device: a card, 9.0\n# command: ./a: b\nkernel,time\nreduce0,1.5\n"a,b",2\n')
        facts, rows = read_record(record)
        self.assertEqual(facts, {"device": "a card, 9.0", "command": "./a: b"})
        self.assertEqual(rows, [{"kernel": "reduce0", "time": "1.5"}, {"kernel": "a,b", "time": "2"}])

    def test_of_the_tree_say_what_they_are_of(self):
        for path in ROOT.glob("docs/data/nvidia-*/*.csv"):
            facts, rows = read_record(path)
            self.assertLessEqual({"date", "device", "command"}, set(facts), path)
            self.assertTrue(rows, path)

    def test_experiments_change_one_thing(self):
        """In machine code, as Nsight Compute counted it."""
        for path in ROOT.glob("docs/data/nvidia-*/experiments_ncu.csv"):
            counted, timed = (read_record(path.with_name(name))[1] for name in (path.name, "experiments.csv"))
            keys = ("lesson", "experiment", "kernel", "block")
            self.assertEqual([[row[key] for key in keys] for row in counted], [[row[key] for key in keys] for row in timed])
            found = read_record(path.with_name("experiments_sanitize.csv"))[1]
            self.assertEqual([row["exit_status"] for row in found], ["0"] * 4)

            def per_block(kernel, metric=INSTRUCTIONS, counted=counted):
                row = next(row for row in counted if row["kernel"] == kernel and row["block"] == "256")
                return float(row[metric]) / float(row["grid"])

            for one, other in (("remainder_lanes_differ", "remainder_lanes_agree"), ("mask_lanes_differ", "mask_lanes_agree"),
                               ("either_order_reduce1", "either_order_reduce2")):
                self.assertEqual(per_block(one), per_block(other), one)
            # Lessons 01 and 02: 105 and 0 conflicts. A card reports a few more.
            self.assertAlmostEqual(sum(per_block("either_order_reduce1", name) for name in CONFLICTS), 105, delta=5)
            self.assertAlmostEqual(sum(per_block("either_order_reduce2", name) for name in CONFLICTS), 0, delta=5)
            # Six barriers for each of eight warps.
            self.assertEqual(per_block("barriers_and_idle_accesses") - per_block("idle_accesses"), 6 * 8)
            # Two loads and a store for each of seven warps in six steps.
            passes = [per_block(kernel, SHARED_PASSES) for kernel in ("barriers_and_idle_accesses", "barriers")]
            self.assertAlmostEqual(passes[0] - passes[1], 6 * 7 * 3, delta=5)

    def test_estimates_stand_beside_what_was_measured(self):
        for path in ROOT.glob("docs/data/nvidia-*/clock.csv"):
            calibrated = []
            times = {tuple(row[key] for key in ("program", "arguments", "kernel", "block", "grid")): row["time_us_median"]
                     for row in read_record(path.parent / "clock_times.csv")[1]}
            for row in read_record(path)[1]:
                recorded = times.pop(tuple(row[key] for key in ("program", "arguments", "kernel", "block", "grid")))
                self.assertEqual(row["recorded_us"], recorded, row)
                if row["estimated_us"]:
                    error = 100 * (float(row["estimated_us"]) / float(recorded) - 1)
                    self.assertAlmostEqual(float(row["error_percent"]), error, delta=0.051)
                    calibrated += [row["kernel"]] if row["use"] == "calibrated" else []
            of_the_h200 = path.parent.name == "nvidia-h200"
            self.assertEqual(calibrated, ["reduce0", "reduce2", "reduce6"] if of_the_h200 else [])


class InATree(WithFolder):
    def test_programs_are_found_beside_their_libraries(self):
        programs = Programs(self.folder)
        self.assertEqual(programs.path("lesson03"), self.folder / "bin/lesson03")
        self.assertEqual(programs.environment.get("LD_LIBRARY_PATH"), os.environ.get("LD_LIBRARY_PATH"))
        (self.folder / "lib").mkdir()
        self.assertEqual(Programs(self.folder).environment["LD_LIBRARY_PATH"].split(":")[0], str(self.folder / "lib"))

    def test_the_toolkit_is_that_of_the_kit_or_of_the_build(self):
        self.assertIsNone(Programs(self.folder).toolkit())
        cmake = self.folder / "CMakeFiles/3.25.1"
        cmake.mkdir(parents=True)
        (cmake / "CMakeCUDACompiler.cmake").write_text('set(CMAKE_CUDA_COMPILER_VERSION "13.0.88")\n')
        self.assertEqual(Programs(self.folder).toolkit(), "CUDA 13.0.88")
        (self.folder / "toolkit").write_text("CUDA 12.9\n")
        self.assertEqual(Programs(self.folder).toolkit(), "CUDA 12.9")


def script(name):
    """A script of this folder, as a module."""
    loader = SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Estimates(unittest.TestCase):
    """`emulate --time` of lessons 10 to 30: of each kernel the first row of the record. Takes 15 s."""

    FOLDER = ROOT / "docs/data/nvidia-h200"
    # The lanes that divide the slow way are the card's own.
    INSTRUCTIONS_OFF = {"histogram_global": 0.1, "histogram_shared": 0.1, "histogram_private": 0.1, "softmax_three_passes": 0.1,
                        "softmax_online": 0.5}
    # Which of their barriers share a pass depends on the order of warps.
    PASSES_OFF = {"segmented_blocked": 1.19, "segmented_strided": 1.95}
    # Which instruction a card counts twice there is not known: docs/clock.md.
    MORE_PER_BLOCK = {"reduce_any": 1, "last_block": 1}

    def setUp(self):
        build = os.environ.get("ESTIMATES_BUILD")
        if not build:
            self.skipTest("without a build tree")
        self.facts, rows = read_record(self.FOLDER / "clock.csv")
        toolkit = Programs(Path(build)).toolkit()
        if self.facts.get("toolkit", toolkit) != toolkit:
            self.skipTest(f"the record is of the machine code of {self.facts['toolkit']}, and here is {toolkit}")
        if not (shutil.which("nvdisasm") or (ROOT / "build/disassembler/bin/nvdisasm").exists()
                or (ROOT / "build/toolkit/cuda/bin/nvdisasm").exists()):
            self.skipTest("there is no nvdisasm: scripts/setup time")
        self.estimate = script("estimate")
        first = {}
        for row in rows:
            if row["program"].startswith("lesson"):
                first.setdefault((row["program"], row["kernel"]), row)
        found = {}
        for program, arguments in {(row["program"], row["arguments"]) for row in first.values()}:
            found[program, arguments] = self.estimate.launches(Path(build), "h200", program, arguments)
        self.rows = [(row, self.estimate.launch_of(row, found[row["program"], row["arguments"]])) for row in first.values()]

    def test_are_those_of_the_record(self):
        self.assertGreaterEqual(len(self.rows), 60)
        self.compared = 0
        for row, launch in self.rows:
            with self.subTest(f"{row['program']} {row['arguments']}: {row['kernel']}"):
                again = self.estimate.row_of("h200", row | {"time_us_median": row["recorded_us"]}, launch, {})
                for name in ("first_wait", "highest_floor", "use", "kernels"):
                    self.assertEqual(again.get(name, ""), row[name], name)
                for name in ("estimated_us", *(name for name in row if name.startswith("floor_"))):
                    expected = float(row[name] or 0)
                    # Floors have 6 digits, so that a page rounds them as a program does.
                    tolerance = 1e-5 if name.startswith("floor_") else 1e-3
                    self.assertAlmostEqual(float(again.get(name) or 0), expected, delta=tolerance * expected, msg=name)
                self.hold_together(launch)
                self.count_as_a_card(row, launch)
        self.assertGreaterEqual(self.compared, 50)

    def hold_together(self, launch):
        if "no_estimate" not in launch:
            self.assertGreaterEqual(launch["time_us_estimated"], max(launch["floors_us"].values()))
            self.assertAlmostEqual(sum(launch["waits"].values()), 1)

    def of_card(self, record, key):
        return next((row for row in read_record(self.FOLDER / record)[1] if key.items() <= row.items()), None)

    def count_as_a_card(self, row, launch):
        """Instructions and passes, less conflicts, beside Nsight Compute's."""
        key = {name: row[name] for name in ("program", "arguments", "kernel", "block", "grid")}
        counted = self.of_card("clock_ncu.csv", key)
        if not counted or "no_estimate" in launch:
            return
        more = self.MORE_PER_BLOCK.get(row["kernel"], 0) * int(row["grid"])
        instructions = int(counted["smsp__inst_executed.sum"])
        self.assertAlmostEqual(launch["instructions_sm_90"], instructions - more,
                               delta=self.INSTRUCTIONS_OFF.get(row["kernel"], 0) / 100 * instructions)
        counted = self.of_card("clock_conflicts.csv", key)
        if not counted:
            return
        passes = (int(counted["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"])
                  - int(counted["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"]))
        alone = row["grid"] == "1"  # then nothing depends on other blocks
        self.compared += 1
        self.assertAlmostEqual(launch["data_pipe_passes_estimated"] - launch["data_pipe_conflicts_estimated"], passes,
                               delta=0 if alone else self.PASSES_OFF.get(row["kernel"], 1) / 100 * passes)


class Cards(WithFolder):
    """The descriptions that `emulate --time` reads."""

    CARDS = ROOT / "common/emulator/timing/cards"

    def test_are_what_their_records_say(self):
        calibrate = script("calibrate")
        for path in self.CARDS.glob("*.json"):
            written = json.loads(path.read_text(encoding="utf-8"))
            made = json.loads(calibrate.describe(calibrate.Record((ROOT / written["record"].split(",")[0]).parent)))
            for key in ("errors_of", "errors"):  # scripts/estimate writes them
                written.pop(key, None), made.pop(key, None)
            for card in (written, made) if path.name == "h200.json" else ():  # its ranges and sources are worded by hand
                for constant in card["constants"].values():
                    constant.update(min=0, max=0, source="")
            self.assertEqual(written, made, f"scripts/calibrate writes another {path.name}")

    def calibrate(self, nvidia_smi):
        shutil.copytree(ROOT / "scripts/tutorial", self.folder / "scripts/tutorial", ignore=shutil.ignore_patterns("__pycache__"))
        for path in ("scripts/calibrate", "common/counters.json",
                     "common/emulator/timing/cards/h200.json"):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.folder / path)
        lines = (ROOT / "docs/data/nvidia-h100-80gb-hbm3/clock_constants.csv").read_text(encoding="utf-8").splitlines()
        output = "\n".join([*(line for line in lines if line[0] != "#"), "multiprocessors,114,,114,114,made up"])
        for name, program in (("nvidia-smi", nvidia_smi), ("build/bin/calibrate", f"cat <<'END'\n{output}\nEND")):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(f"#!/bin/sh\n{program}\n")
            (self.folder / name).chmod(0o755)
        (self.folder / "build/toolkit").write_text("CUDA 13.0.88\n")
        return subprocess.run([sys.executable, self.folder / "scripts/calibrate", "--build", self.folder / "build"],
                              env=dict(os.environ, PATH=f"{self.folder}:/usr/bin:/bin"), capture_output=True, text=True)

    def test_of_a_new_card_are_made_on_it(self):
        done = self.calibrate("echo 'NVIDIA H999 PCIe, 580.1, 9.0'")
        self.assertEqual(done.returncode, 0, done.stderr)
        facts, rows = read_record(self.folder / "docs/data/nvidia-h999-pcie/clock_constants.csv")
        self.assertEqual(facts["device"], "NVIDIA H999 PCIe, compute capability 9.0")
        made = json.loads((self.folder / "common/emulator/timing/cards/h999.json").read_text(encoding="utf-8"))
        h100 = json.loads((self.CARDS / "h100.json").read_text(encoding="utf-8"))
        self.assertEqual((made["card"], made["name"]), ("h999", "NVIDIA H999 PCIe"))
        # 2 x 114 x 1.98 / 1.476 - 62: what fewer multiprocessors change.
        for name, value in (("multiprocessors", 114), ("block_gap", 244)):
            self.assertEqual(made["constants"].pop(name)["value"], value)
            del h100["constants"][name]
        self.assertEqual(made["constants"], h100["constants"])

    def test_of_a_card_with_a_similar_name_stay(self):
        done = self.calibrate("echo 'NVIDIA H200 NVL, 580.1, 9.0'")
        self.assertEqual(done.returncode, 0, done.stderr)
        cards = self.folder / "common/emulator/timing/cards"
        self.assertEqual((cards / "h200.json").read_bytes(), (self.CARDS / "h200.json").read_bytes())
        self.assertEqual(json.loads((cards / "h200_nvl.json").read_text(encoding="utf-8"))["card"], "h200_nvl")

    def test_need_a_gpu(self):
        done = self.calibrate("exit 9")
        self.assertEqual((done.returncode, done.stderr), (3, "calibrate: there is no GPU here: nvidia-smi names none\n"))

    def test_are_of_compute_capability_9(self):
        done = self.calibrate("echo 'NVIDIA B999, 580.1, 10.0'")
        self.assertEqual(done.returncode, 1)
        self.assertIn("NVIDIA B999 has compute capability 10.0: the clock knows the machine code of 9.0 alone", done.stderr)


if __name__ == "__main__":
    unittest.main()
