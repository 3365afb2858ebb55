#!/usr/bin/env python3
"""scripts/ahead_softmax.py LIBRARY [--runs R] [--shapes ROWSxCOLUMNS...]

Lesson 31's softmax beside torch.softmax, one run of each in turn with the same timer: float and half, 33 shapes of
2^24 elements, or about as many. Calls both as a user does, verifies each result, and prints a CSV. LIBRARY is
bin/ahead_softmax of a build tree, built from bench/ahead_softmax.cu.
"""

import argparse
import ctypes
import statistics

import torch

from tutorial.torch_timing import MODES, Timer

SHAPES = [*((2 ** (24 - power), 2**power) for power in range(25)),
          (5592405, 3), (524287, 31), (131071, 127), (16383, 4095), (1021, 16381), (128, 50257), (15, 1048573), (1, 16777215)]
# Of a result, relative to the softmax in double: max_error() of lesson 31's data.hpp, for differences of at most 32.
# A half adds its own rounding: half a unit in the last place, or of the smallest subnormal.
BOUNDS = {torch.float32: (200 * 2.0**-24, 0), torch.float16: (2.0**-11 + 200 * 2.0**-24, 2.0**-25)}


class Ours:
    """softmax() of softmax.cuh. The output is allocated anew for each call, as torch does."""

    def __init__(self, library):
        library = ctypes.CDLL(library)
        self.functions = {torch.float32: library.softmax_of_floats, torch.float16: library.softmax_of_halves}
        for function in self.functions.values():
            function.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t), *[ctypes.c_void_p] * 2,
                                 *[ctypes.c_size_t] * 2, ctypes.c_void_p]

    def bind(self, logits):
        """Asks for the workspace, and returns a function that queues the softmax."""
        function, (rows, columns) = self.functions[logits.dtype], logits.shape
        stream = torch.cuda.current_stream().cuda_stream
        bytes_ = ctypes.c_size_t()
        self.check(function(None, bytes_, None, None, rows, columns, stream))
        workspace = torch.empty(bytes_.value, dtype=torch.uint8, device="cuda")

        def call():
            output = torch.empty_like(logits)
            self.check(function(workspace.data_ptr(), bytes_, logits.data_ptr(), output.data_ptr(), rows, columns, stream))
            return output

        return call

    @staticmethod
    def check(error):
        if error:
            raise SystemExit(f"softmax: CUDA error {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--shapes", nargs="*", type=lambda text: tuple(map(int, text.split("x"))), default=SHAPES)
    arguments = parser.parse_args()
    timer, ours = Timer(arguments.runs), Ours(arguments.library)

    print("case,n,mode,ours_us,rival,rival_us,ratio,verified")
    for dtype, (rows, columns) in [(dtype, shape) for dtype in BOUNDS for shape in arguments.shapes]:
        # Multiples of 1/64, so that no difference of two of them is rounded.
        logits = (torch.randint(-1000, 1001, (rows, columns), device="cuda") / 64).to(dtype)
        expected = torch.softmax(logits.double(), dim=1)
        relative, absolute = BOUNDS[dtype]

        def verify(result, expected=expected, relative=relative, absolute=absolute, rows=rows, columns=columns):
            if not bool(((result - expected).abs() <= relative * expected + absolute).all()):
                raise SystemExit(f"a softmax of {rows} x {columns} is beyond {relative:.1e} of the one in double")

        calls = [ours.bind(logits), lambda logits=logits: torch.softmax(logits, dim=1)]
        for mode in MODES:
            ours_us, rival_us = map(statistics.median, timer.times_in_turn(mode, calls, verify))
            name = "float" if dtype == torch.float32 else "half"
            print(f"{name} {rows}x{columns},{rows * columns},{mode},{ours_us:.3f},torch.softmax {torch.__version__},"
                  f"{rival_us:.3f},{rival_us / ours_us:.4f},true", flush=True)


if __name__ == "__main__":
    main()
