"""Records of measurements, and the programs that make them. Run with PYTHONPATH=scripts."""

import os
import tempfile
import unittest
from pathlib import Path

from tutorial import ROOT
from tutorial.programs import Programs
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


if __name__ == "__main__":
    unittest.main()
