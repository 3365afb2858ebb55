"""The figure of floors: what each part of the card needs at least for a kernel of the ladder, and the recorded time."""

import json

from tutorial import ROOT
from tutorial.live import BARRIER, EXTRA, MEMORY, PIPE, RESTS, STARTS, WORKS, Live
from tutorial.pictures import LADDER_ELEMENTS
from tutorial.records import read_record
from tutorial.svg import INK

CARD = ROOT / "common/emulator/timing/cards/h200.json"
RUNGS = ("reduce0", "reduce0a", *(f"reduce{number}" for number in range(1, 9)))
LEFT, RIGHT, TOP, PITCH = 108, 352, 78, 34


def millions(count):
    return f"{count / 1e6:,.0f} million" if count >= 2e6 else f"{count:,.0f}"


def floors_of(launch, constants):
    """(name, color, µs, its multiplication), those that matter."""
    sms, ghz = constants["multiprocessors"], constants["clock"]
    busy = min(sms, launch["grid"][0])
    of_card = f"({busy:g} multiprocessors x {ghz} cycles per ns"
    per_us = busy * ghz * 1e3

    def issued(what, name, kind, each):
        count = launch["floors_us"][kind] * per_us * 4 / each
        cycles = f" x {each:g} cycles" if each != 1 else ""
        return name, WORKS, launch["floors_us"][kind], f"{millions(count)} {what}{cycles} / {of_card} x 4 schedulers)"

    floors, found = launch["floors_us"], []
    ints = LADDER_ELEMENTS * 4 / 1e6
    sums = floors["memory"] * constants["bandwidth_loads"] / 1e3 - ints
    of_sums = f" + {sums:,.0f} MB to store the blocks' sums" if sums >= 1 else ""
    found.append(("memory", MEMORY, floors["memory"], f"({ints:,.0f} MB of ints{of_sums}) / {constants['bandwidth_loads']:,} "
                  f"GB per s, which loads reach of a peak of {constants['peak_bandwidth']:,.0f}"))
    found.append(issued("instructions", "instructions", "instructions", 1))
    found.append(issued("instructions of the integer units", "integer ALU", "alu", constants["issue_alu"]))
    found.append(issued("cycles of the multipliers", "multipliers", "fma", 1))
    found.append(issued("conversions and reciprocals for the remainder", "conversions", "xu", constants["issue_xu"]))
    found.append(("data pipe", PIPE, floors["data_pipe"], f"{millions(floors['data_pipe'] * per_us)} passes / {of_card})"))
    served = floors["barriers"] * per_us / constants["adu_warp"]
    found.append(("barriers", BARRIER, floors["barriers"], f"{millions(served)} barriers and other work of the address unit x "
                  f"{constants['adu_warp']:g} cycles / {of_card})"))
    found.append(("block starts", STARTS, floors["block_starts"],
                  f"{launch['grid'][0]:,} blocks / {constants['block_starts']} blocks per ns"))
    longest = max(time for _, _, time, _ in found)
    always = ("memory", "instructions", "data pipe", "barriers", "block starts")
    return [one for one in found if one[0] in always or one[2] > longest / 3]


def draw_bar(live, y, name, color, width, words, is_longest):
    inside = width > 60
    looks = {"fill": "white" if color in (WORKS, PIPE) else "#111111"} if inside else {}
    live.text(LEFT - 8, y + 21, name, "end", 13, **({"font_weight": "bold"} if is_longest else {}))
    live.rect(LEFT, y + 6, width, PITCH - 12, color)
    live.text(LEFT + width + (-6 if inside else 6), y + 22, words, "end" if inside else "start", 13, font_weight="bold", **looks)


def hatched(start, end, y):
    """Lines that lean to the right, from `y` up."""
    steps = [start + k * 6 for k in range(int((end - start) // 6) + 1)]
    return "".join(f"M{x:.1f} {y}L{min(x + 11, end):.1f} {y - 2 * (min(x + 11, end) - x):.1f}" for x in steps)


def draw(kernel, launch, recorded, constants, facts):
    floors = floors_of(launch, constants)
    bottom = TOP + PITCH * len(floors)
    live = Live(kernel, 372, f"{kernel}: which floor is the highest?")
    live.ms = 2200
    most = max([recorded, *(time for _, _, time, _ in floors)])
    step = next(step for step in (50, 100, 200, 500, 1000) if most / step < 5.5)
    scale = (RIGHT - LEFT) / (1.02 * most)
    live.soft(8, 44, "µs, if every other part of the card cost nothing")
    for us in range(0, int(1.02 * most) + 1, step):
        x = LEFT + scale * us
        live.line(x, TOP - 10, x, bottom, INK if us == 0 else "#dddddd")
        live.text(x, TOP - 15, f"{us:,}", "middle", 12)
    longest = max(floors, key=lambda floor: floor[2])
    for row, (name, color, time, words) in enumerate(floors):
        y = TOP + PITCH * row
        number = live.frame(f"{name}: {words} = {time:,.0f} µs")
        with live.during(number, number):
            live.rect(2, y, 396, PITCH, RESTS)
        live.elements.append(f'<g data-go="{number}">')
        live.rect(2, y, 396, PITCH, "transparent")
        draw_bar(live, y, name, color, scale * time, f"{time:,.0f}", name == longest[0])
        if name == longest[0] and recorded > time:
            lines = hatched(LEFT + scale * time, LEFT + scale * recorded, y + PITCH - 6)
            live.path(lines, "none", stroke=EXTRA, stroke_width=1.3)
        live.elements.append("</g>")
    x, over = LEFT + scale * recorded, 100 * (recorded / longest[2] - 1)
    live.line(x, TOP - 8, x, bottom + 8, INK, "5 3")
    live.text(min(x, 392), bottom + 24, f"recorded: {recorded:,.0f} µs", "end" if x > 250 else "middle", 13, font_weight="bold")
    longer = f"{over:.0f} % longer; no floor explains the hatched part" if over >= 0.5 else "as long"
    live.text(8, bottom + 48, f"Highest floor: {longest[0]}.", size=12)
    live.text(8, bottom + 64, f"The time is {longer}.", size=12)
    live.soft(8, bottom + 82, f"Floors: a model of an H200. {LADDER_ELEMENTS:,} ints, first launch.")
    live.soft(8, bottom + 98, f"Recorded: {facts['device'].split(',')[0]}, driver {facts['driver']}, {facts['date'][:10]}")
    live.frame(f"{kernel} took {recorded:,.0f} µs, "
               + (f"{over:.0f} % more than" if over >= 0.5 else "as long as") + f" its highest floor, {longest[0]}.")
    live.height = bottom + 108
    return live


def launches_of(emulate):
    """The first launch of each kernel of the ladder, estimated, with its timeline."""
    report = emulate("--draw", "time", "--time-only", "--format", "json", "--kernel", "reduce[0-8]a?\\b", "./ladder", "--n",
                     str(LADDER_ELEMENTS))
    launches = {}
    for launch in report["launches"]:
        launches.setdefault(launch["kernel"].partition("<")[0], launch)
    return launches


def variants(emulate):
    launches = launches_of(emulate)
    facts, rows = read_record(ROOT / "docs/data/nvidia-h200/ladder.csv")
    recorded = {row["name"]: float(row["time_us_median"]) for row in rows if int(row["elements"]) == LADDER_ELEMENTS}
    constants = {name: one["value"] for name, one in json.loads(CARD.read_text(encoding="utf-8"))["constants"].items()}
    return [draw(kernel, launches[kernel], recorded[kernel], constants, facts) for kernel in RUNGS]
