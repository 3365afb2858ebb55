"""Times functions on torch's stream: called as a user calls them, with the L2 cache warm or flushed by reads."""

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
        return self.times_in_turn(mode, [call], verify)[0]

    def times_in_turn(self, mode, calls, verify):
        """The times of each: one run of each in turn, and who begins changes from turn to turn."""
        times = [[] for _ in calls]
        for turn in range(-2, self.runs):
            for place in range(len(calls)):
                which = (place + turn) % len(calls)
                time = self.time(mode, calls[which], verify)
                if turn >= 0:
                    times[which].append(time)
        return times

    def time(self, mode, call, verify):
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
        return self.start.elapsed_time(self.stop) * 1e3
