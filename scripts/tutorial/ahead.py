"""Ours beside a library's, or beside a bound: the records ahead_NAME.csv, and the table of all of them."""

import math
import re

from tutorial.records import read_record

# A record's name; what is raced; how the rival's name begins in its rows, and what it is called. Other rows of a record compare
# ours with a lesson's other kernels.
RACES = {
    "softmax": ("softmax", "torch.softmax", "torch.softmax"),
    "scan": ("scan", "cub", "cub::DeviceScan"),
    "reduce": ("reduction", "cub::DeviceReduce", "cub::DeviceReduce"),
    "exact": ("exact sum", "cub", "CUB's rounded sum"),
    "transpose": ("transposition", "copy", "a copy"),
    "histogram": ("histogram", "read", "reading alone"),
    "host": ("sum of host data", "link", "the pinned link"),
    "cards": ("all-reduce", "nccl", "NCCL"),
}


class Race:
    """What a record says in short: how many times as fast ours is as the rival. Of the rows from a cold cache; between cards
    of those in a queue."""

    def __init__(self, name, rows):
        self.what, rival, self.rival = RACES[name]
        rows = [row for row in rows if row["mode"] in ("cold", "queued") and re.match(rf"{rival}\b", row["rival"])]
        self.ratios = [float(row["ratio"]) for row in rows]
        if rows:  # There is none where there is no NCCL.
            self.mean = math.exp(math.fsum(map(math.log, self.ratios)) / len(self.ratios))
            self.lowest = min(rows, key=lambda row: float(row["ratio"]))


def read_races(folder):
    """(The facts of the first record, the races of a card): those of which there is a record."""
    records = [(name, read_record(path)) for name in RACES if (path := folder / f"ahead_{name}.csv").is_file()]
    races = [Race(name, rows) for name, (_, rows) in records]
    return records[0][1][0] if records else {}, [race for race in races if race.ratios]


def table(races):
    """As text: a line per race."""
    rows = [("", "cases", "rival", "times as fast", "lowest", "at")]
    rows += [(race.what, str(len(race.ratios)), race.rival, f"{race.mean:.2f}", f"{float(race.lowest['ratio']):.2f}",
              f"{race.lowest['case']}, n = {int(race.lowest['n']):,}") for race in races]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    aligned = (str.ljust, str.rjust, str.ljust, str.rjust, str.rjust, str.ljust)
    return "".join("  ".join(align(cell, width) for cell, width, align in zip(row, widths, aligned)).rstrip() + "\n"
                   for row in rows)
