"""Times a function of torch: called as a user calls it, with the L2 cache warm or flushed by reads."""

import torch

FLUSH_BYTES = 256 * 2**20
HOLD_CYCLES = 200_000  # The host has queued all of a run before it begins: it is slower here than in C++.
MODES = ("cold", "warm")


class Timer:
    def __init__(self, runs):
        self.runs = runs
        self.zeros = torch.zeros(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self.start, self.stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def times(self, mode, call, verify):
        """In us, after two warm-up runs. Passes each result to `verify`."""
        times = []
        for run in range(-2, self.runs):
            if mode == "cold":
                self.zeros.max()  # reads, and writes one int
            else:
                torch.cuda._sleep(HOLD_CYCLES)
                call()
            torch.cuda._sleep(HOLD_CYCLES)
            self.start.record()
            result = call()
            self.stop.record()
            torch.cuda.synchronize()
            verify(result)
            if run >= 0:
                times.append(self.start.elapsed_time(self.stop) * 1e3)
        return times
