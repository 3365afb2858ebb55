"""The figure of bytes in flight: what the loads under way on one multiprocessor bring, estimated by the clock, beside what
Little's law asks for."""

import json
import math

from tutorial import ROOT
from tutorial.live import MEMORY, RESTS, Live
from tutorial.live_floors import CARD, launches_of
from tutorial.pictures import LADDER_ELEMENTS
from tutorial.records import read_record
from tutorial.svg import BLUE, INK

RUNGS = ("reduce2", "reduce4", "reduce6", "reduce8")
LEFT, WIDTH, TOP, HEIGHT = 52, 340, 76, 200
SAMPLES = 200  # of the curve; every fourth has a frame


def in_flight(loads, cycle):
    """How many loads are under way, and their bytes. `loads`: [from, to, bytes]"""
    under_way = [size for start, end, size in loads if start <= cycle < end]
    return len(under_way), sum(under_way)


def needed(constants, loaded):
    """Bytes per cycle of one multiprocessor, and in flight for it. `loaded`: a bandwidth, and the latency of loads at it."""
    per_cycle = loaded["bandwidth"] / constants["multiprocessors"] / constants["clock"]
    return per_cycle, per_cycle * loaded["latency"]


def draw(kernel, launch, law, most):
    cycles = launch["timeline"]["cycles"]
    loads = [load for warp in launch["timeline"]["warps"] for load in warp["loads"]]
    loaded, per_cycle, need = law
    live = Live(kernel, 0, f"{kernel}: bytes in flight")
    live.ms, live.drag, live.still = 160, [LEFT, LEFT + WIDTH], SAMPLES // 8
    bottom, scale = TOP + HEIGHT, HEIGHT / most
    live.soft(8, 46, "KB that loads under way will bring, of one multiprocessor")
    live.rect(LEFT, TOP, WIDTH, HEIGHT, RESTS)
    for kilobytes in range(0, int(most / 1000) + 1, 4 if most < 20000 else 8):
        y = bottom - scale * 1000 * kilobytes
        live.line(LEFT, y, LEFT + WIDTH, y, INK if kilobytes == 0 else "#dddddd")
        live.text(LEFT - 6, y + 4, f"{kilobytes}", "end", 12)
    samples = [in_flight(loads, cycles * k / SAMPLES) for k in range(SAMPLES)]
    path = "".join(f"V{bottom - scale * size:.1f}h{WIDTH / SAMPLES:g}" for _, size in samples)
    live.path(f"M{LEFT} {bottom}{path}V{bottom}z", MEMORY)
    for cycle in range(0, int(cycles) + 1, 1000):
        x = LEFT + WIDTH * cycle / cycles
        live.text(x, bottom + 17, f"{cycle:,}", "middle" if x < 380 else "end", 12)
    live.text(LEFT - 6, bottom + 17, "cycle", "end", 12)
    live.line(LEFT, bottom - scale * need, LEFT + WIDTH, bottom - scale * need, BLUE, "6 4")
    with live.moving(WIDTH * 4 / SAMPLES):
        live.line(LEFT, TOP - 10, LEFT, bottom + 4, INK)
        live.path(f"M{LEFT - 5} {TOP - 12}h10l-5 8z", INK)
    for number in range(SAMPLES // 4):
        count, size = samples[4 * number]
        live.frame(f"cycle {cycles * 4 * number / SAMPLES:,.0f}: {count:,} loads under way, {size / 1000:.1f} KB, "
                   f"{100 * size / need:.0f} % of Little's law.")
    average = sum(size for _, size in samples) / SAMPLES
    live.line(8, bottom + 40, 34, bottom + 40, BLUE, "6 4")
    live.text(40, bottom + 44, f"Little's law: {per_cycle:.1f} bytes/cycle x {loaded['latency']:,} cycles"
              f" = {need / 1000:.1f} KB", size=12)
    live.text(8, bottom + 66, f"On average {average / 1000:.1f} KB are in flight.", size=13, font_weight="bold")
    live.soft(8, bottom + 84, f"A model of an {launch['card']}, not measured; {LADDER_ELEMENTS:,} ints.")
    live.soft(8, bottom + 100, f"The first {cycles:,.0f} cycles. The law is for {loaded['bandwidth']:,} GB per s.")
    live.height = bottom + 110
    return live


def draw_recorded(kernel, law):
    """Little's law on the card: of each number of bytes in flight the fastest setting."""
    facts, rows = read_record(ROOT / "docs/data/nvidia-h200/limit_in_flight.csv")
    best = {}
    for row in (row for row in rows if row["kernel"] == kernel):
        size = int(row["bytes_in_flight_per_sm"])
        if size not in best or float(row["bandwidth_gbs"]) > float(best[size]["bandwidth_gbs"]):
            best[size] = row
    live = Live(kernel, 0, f"{kernel}: bytes in flight and bandwidth")
    live.ms = 1300
    bottom, (loaded, _, need) = TOP + HEIGHT, law
    first, last = math.log2(min(best)), math.log2(max(best))
    live.soft(8, 46, "bandwidth, % of the peak")
    for percent in range(0, 101, 25):
        y = bottom - HEIGHT * percent / 100
        live.line(LEFT, y, LEFT + WIDTH, y, INK if percent == 0 else "#dddddd")
        live.text(LEFT - 6, y + 4, f"{percent}", "end", 12)

    def x_of(size):
        return LEFT + 24 + (WIDTH - 48) * (math.log2(size) - first) / (last - first)

    live.line(x_of(need), TOP, x_of(need), bottom, BLUE, "6 4")
    for number, size in enumerate(sorted(best)):
        row = best[size]
        share, speed = 100 * float(row["peak_fraction"]), float(row["bandwidth_gbs"])
        live.frame(f"{row['blocks_per_sm']} {'block' if row['blocks_per_sm'] == '1' else 'blocks'} of {row['stages']} stages of "
                   f"{int(row['stage_bytes']):,} bytes: {size / 1000:.1f} KB in flight on a multiprocessor, {speed:,.0f} GB/s, "
                   f"{share:.0f} % of the peak.")
        x, y = x_of(size), bottom - HEIGHT * share / 100
        with live.during(number):
            live.rect(x - 5, y, 10, bottom - y, MEMORY)
        with live.during(number, number):
            live.text(x, y - 6, f"{share:.0f} %", "middle", 13, font_weight="bold")
        if number % 2 == 0:
            live.text(x, bottom + 17, f"{size / 1000:.0f}", "middle", 12)
    live.text(LEFT - 6, bottom + 17, "KB", "end", 12)
    live.line(8, bottom + 40, 34, bottom + 40, BLUE, "6 4")
    live.text(40, bottom + 44, f"Little's law: {need / 1000:.1f} KB for {loaded['bandwidth']:,} GB per s,", size=12)
    live.text(40, bottom + 60, f"at which a load takes {loaded['latency']:,} cycles.", size=12)
    live.soft(8, bottom + 80, f"Recorded: {facts['device'].split(',')[0]}, driver {facts['driver']}, {facts['date'][:10]},")
    live.soft(8, bottom + 96, f"{int(rows[0]['n']):,} ints. Of equal bytes the fastest setting.")
    live.height = bottom + 106
    return live


def variants(emulate):
    launches = launches_of(emulate)
    card = json.loads(CARD.read_text(encoding="utf-8"))
    recorded = {row["constant"]: float(row["value"]) for row in read_record(ROOT / card["record"].split(",")[0])[1]}
    loaded = {"bandwidth": round(recorded["loaded_bandwidth_48_warps"]), "latency": round(recorded["loaded_latency_48_warps"])}
    law = loaded, *needed({name: one["value"] for name, one in card["constants"].items()}, loaded)
    peaks = [in_flight([load for warp in launches[kernel]["timeline"]["warps"] for load in warp["loads"]], cycle)[1]
             for kernel in RUNGS for cycle in range(0, 4000, 50)]
    most = 4000 * math.ceil(max(peaks) / 4000)
    return [*(draw(kernel, launches[kernel], law, most) for kernel in RUNGS), draw_recorded("reduce10", law)]
