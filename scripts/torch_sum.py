#!/usr/bin/env python3
"""scripts/torch_sum.py [--largest EXPONENT] [--runs R]

torch.sum beside limit_table's contenders: the same sizes, offsets, modes and columns. Reads flush the L2
cache. The script calls torch.sum as a user does, verifies each result, and prints a CSV.
"""

import argparse
import statistics

import torch

from tutorial.torch_timing import MODES, Timer


def cases(largest):
    every = [(2**e, 0) for e in range(8, largest + 1)]
    every += [(n, 0) for n in (1_000, 999_983, 2**20 - 1, 2**20 + 1)]
    every += [(2**e, offset) for e in (10, 14, 17, 20, 24, 28, 30) for offset in (1, 2, 3)]
    return [(n, offset) for n, offset in every if n <= 2**largest]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=32)
    parser.add_argument("--runs", type=int, default=41)
    arguments = parser.parse_args()

    ints = torch.empty(2**arguments.largest + 64, dtype=torch.int32, device="cuda")
    for start in range(0, len(ints), 2**28):
        ints[start:start + 2**28].random_(-1000, 1001)
    timer = Timer(arguments.runs)
    print("n,offset,mode,contender,verified,time_us_median,time_us_min,time_us_runs,bandwidth_gbs")
    for n, offset in cases(arguments.largest):
        part = ints[offset:offset + n]
        # A different order and width: chunks in 64 bits, wrapped at the end.
        expected = sum(int(chunk.to(torch.int64).sum()) for chunk in part.split(2**28))
        expected = (expected + 2**31) % 2**32 - 2**31

        def verify(total, n=n, offset=offset, expected=expected):
            if int(total) != expected:
                raise SystemExit(f"torch.sum of {n} ints at {offset}: {int(total)}, expected {expected}")

        for mode in MODES:
            times = timer.times(mode, lambda part=part: torch.sum(part, dtype=torch.int32), verify)
            median = statistics.median(times)
            print(f"{n},{offset},{mode},torch.sum {torch.__version__},true,{median:.4f},{min(times):.4f},{len(times)},"
                  f"{(n + 1) * 4 / median * 1e-3:.2f}", flush=True)


if __name__ == "__main__":
    main()
