"""Records of measurements, as in docs/data: a CSV whose first lines say when, on what and how it was made."""

import csv


def read_record(path):
    """The facts in the file's head, as {"device": …}, and its rows by column."""
    lines = path.read_text(encoding="utf-8").splitlines()
    facts = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    return facts, list(csv.DictReader(line for line in lines if not line.startswith("#")))
