"""The catalogue of counters, common/counters.json. What its members mean: common/emulator/cmake/counter_catalogue.cmake."""

import json
from dataclasses import dataclass

from tutorial import ROOT


@dataclass(frozen=True)
class Counter:
    id: str
    name: str  # Nsight Compute's name
    row: str  # in the lessons' tables; may be empty
    label: str
    short: str  # in an exercise's goals; may be empty
    exact: bool  # else counted on PTX
    rare: bool


CATALOGUE = [Counter(**entry) for entry in json.loads((ROOT / "common/counters.json").read_text(encoding="utf-8"))]
NAMES = {counter.id: counter.name for counter in CATALOGUE}

SECTORS = [NAMES[f"global_{access}_sectors"] for access in ("load", "store", "atom", "red")]
REQUESTS = [NAMES[f"global_{access}_requests"] for access in ("load", "store")]
WAVEFRONTS = [NAMES[f"shared_{access}_wavefronts"] for access in ("load", "store")]
CONFLICTS = [NAMES[f"shared_{access}_bank_conflicts"] for access in ("load", "store")]
INSTRUCTIONS = NAMES["warp_instructions"]


def table():
    """(row, label, name) of each counter in the lessons' tables, in their order."""
    rows = list(dict.fromkeys(counter.row for counter in CATALOGUE if counter.row))
    return [(row if counter.exact else f"{row} (PTX)", counter.label, counter.name)
            for row in rows for counter in CATALOGUE if counter.row == row]
