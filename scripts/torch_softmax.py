#!/usr/bin/env python3
"""scripts/torch_softmax.py [--runs R]

torch.softmax of each row, for the shapes for which `make measure` times our softmax. Reads flush
the L2 cache. The script calls torch.softmax as a user does, verifies each result, and prints a CSV.
"""

import argparse
import statistics

import torch

from tutorial.lessons import read_lessons
from tutorial.torch_timing import MODES, Timer


def shapes():
    lesson = next(lesson for lesson in read_lessons() if "softmax_online" in lesson.kernels)
    runs = (dict(zip(run[::2], run[1::2])) for run, _ in lesson.timed)
    return [(int(run["--rows"]), int(run["--columns"])) for run in runs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=41)
    timer = Timer(parser.parse_args().runs)

    print("rows,columns,mode,contender,verified,time_us_median,time_us_min,time_us_runs,bandwidth_gbs")
    for rows, columns in shapes():
        # Multiples of 1/64, so that no difference of two of them is rounded.
        logits = torch.randint(-1000, 1001, (rows, columns), device="cuda").float() / 64
        expected = torch.softmax(logits.double(), dim=1)
        # We don't know the order of torch's additions. The worst one rounds once per addition; the exponentials and
        # the quotient add less than 16.
        bound = (columns + 16) * 2.0**-24

        def verify(result, rows=rows, columns=columns, expected=expected, bound=bound):
            if not bool(((result - expected).abs() <= bound * expected).all()):
                raise SystemExit(f"torch.softmax of {rows} x {columns}: beyond {bound:.1e} of the softmax in double")

        for mode in MODES:
            times = timer.times(mode, lambda logits=logits: torch.softmax(logits, dim=1), verify)
            median = statistics.median(times)
            print(f"{rows},{columns},{mode},torch.softmax {torch.__version__},true,{median:.4f},{min(times):.4f},"
                  f"{len(times)},{2 * rows * columns * 4 / median * 1e-3:.2f}", flush=True)


if __name__ == "__main__":
    main()
