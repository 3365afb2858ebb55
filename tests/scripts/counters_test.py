"""The catalogue of counters, common/counters.json. Run with PYTHONPATH=scripts."""

import re
import unittest

from tutorial import ROOT
from tutorial.counters import CATALOGUE, table

NAMES = {counter.name for counter in CATALOGUE}
COUNTER = re.compile(r"\b(?:l1tex|ptx|smsp)__\w+\.sum\b")
NOT_EMULATED = {"smsp__inst_issued.sum"}  # pages speak of it


def read(path):
    return path.read_text(encoding="utf-8")


class Catalogue(unittest.TestCase):
    def test_has_each_counter_once(self):
        for member in ("id", "name"):
            values = [getattr(counter, member) for counter in CATALOGUE]
            self.assertEqual(len(set(values)), len(values), member)
        short = [counter.short for counter in CATALOGUE if counter.short]
        self.assertEqual(len(set(short)), len(short))
        places = [(row, label) for row, label, _ in table()]
        self.assertEqual(len(set(places)), len(places))

    def test_marks_what_is_counted_on_ptx(self):
        self.assertEqual({row for row, _, _ in table() if "(PTX)" in row}, {"instructions (PTX)", "branches (PTX)"})

    def test_knows_each_counter_on_a_page(self):
        pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("lessons/*/*.md")]
        found = {(page.name, name) for page in pages for name in COUNTER.findall(read(page))}
        self.assertGreater(len(found), 30)
        self.assertEqual({(page, name) for page, name in found if name not in NAMES | NOT_EMULATED}, set())

    def test_is_where_programs_have_the_names_from(self):
        sources = [path for folder in ("common", "scripts") for path in (ROOT / folder).rglob("*") if path.is_file()]
        for path in sources:
            if path.suffix in (".cpp", ".hpp", ".h", ".cu", ".py", ""):
                code = re.sub(r"//.*", "", read(path))
                with self.subTest(path.relative_to(ROOT)):
                    self.assertEqual([name for name in COUNTER.findall(code) if name in NAMES], [])


if __name__ == "__main__":
    unittest.main()
