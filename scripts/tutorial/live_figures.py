"""The figures that move, by name, and how they are made of runs: docs/figures.txt lists their still pictures."""

import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from tutorial import ROOT, live_floors, live_in_flight, live_lookback, live_rounds, live_tile, live_timeline, live_traces
from tutorial.live import write_data, write_figure

# By figure: its variants of runs, and what its toggle changes.
FIGURES = {"tree": (live_traces.trees, "kernel"), "banks": (live_traces.banks, "kernel"),
           "warps": (live_traces.warps, "kernel"), "floors": (live_floors.variants, "kernel"),
           "timeline": (live_timeline.variants, "kernel"), "tile": (live_tile.variants, "tile"),
           "in_flight": (live_in_flight.variants, "kernel"), "lookback": (live_lookback.variants, ""),
           "rounds": (live_rounds.variants, "")}


class NoEstimate(Exception):
    """ptxas or nvdisasm is missing."""


@functools.cache
def emulate(bin_folder, *arguments):
    """What emulate reports of a run. Figures that need the same run share it."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        run = subprocess.run(["./emulate", "--output", report.name, *arguments], cwd=bin_folder, capture_output=True, text=True)
        if "no times can be estimated" in run.stderr:
            raise NoEstimate
        if run.returncode != 0:
            raise RuntimeError(f"emulate {' '.join(arguments)}\n{run.stdout}{run.stderr}")
        return json.loads(Path(report.name).read_text(encoding="utf-8"))


def make_live_figure(bin_folder, folder, figure):
    """Its stills and its data. Without estimates those stills that are in the tree, and no variant, so that they stay."""
    draw, label = FIGURES[figure]
    try:
        variants = draw(functools.partial(emulate, bin_folder))
    except NoEstimate:
        for path in (ROOT / "docs/figures").glob(f"live_{figure}*.svg"):
            shutil.copy(path, folder)
        return write_data(folder, figure, [], label)
    return write_figure(folder, figure, variants, label)
