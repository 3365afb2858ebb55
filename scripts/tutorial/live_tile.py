"""The figure of a tile in shared memory: its words in the colors of their banks, and what a warp does with rows and columns."""

import colorsys

from tutorial.live import EXTRA, WORKS, Live
from tutorial.live_traces import BANKS, KernelText, lanes_of, listed, plural, trace_of
from tutorial.svg import INK

# By variant: the kernel, and what the picture calls it.
KERNELS = {"square": ("transposeTiled", "tile[32][32]: no padding"), "padded": ("transposePadded", "tile[32][33]: padded"),
           "swizzled": ("transposeSwizzled", "tile[32][32]: swizzled")}
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEF"
LEFT, TOP, CELL, ROW = 28, 64, 11, 9
STORES, LOADS = 4, 6  # frames


def bank_color(bank):
    rgb = colorsys.hls_to_rgb(bank / BANKS, 0.78, 0.5)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def requests_of(emulate, kernel, line, what):
    """Those of the warps, one after the other, and the offset and the words of the tile."""
    trace = trace_of(emulate, kernel, "--width", "64", "--height", "64", line=line)
    [tile] = trace["shared"]
    found = [(request["cost"], [(request["addresses"][lane] - tile["address"]) // 4 for lane in lanes_of(request["active"])])
             for step in trace["steps"] if step["what"] == what
             for request in sorted(step["requests"], key=lambda one: one["warp"])]
    return found, tile["bytes"] // 4


def draw(name, kernel, title, emulate):
    live = Live(name, 0, title)
    live.ms = 1500
    text = KernelText(kernel)
    store, load = text.line("= input["), text.line("= tile[")
    live.source = text.part("for (unsigned int i", "= tile[")
    stores, words = requests_of(emulate, kernel, store, "shared store")
    loads, _ = requests_of(emulate, kernel, load, "shared load")
    pitch, right = words // 32, TOP + 32 * ROW
    live.soft(8, 44, "A word has the color of its bank: word % 32.")
    colors = {letter: bank_color(bank) for bank, letter in enumerate(LETTERS)}
    live.rows((LEFT, TOP, CELL, ROW, 1, 1), colors, [
        "".join(LETTERS[word % BANKS] for word in range(row * pitch, (row + 1) * pitch)) for row in range(32)])
    for row in (0, 8, 16, 24, 31):
        live.soft(LEFT - 6, TOP + ROW * row + 9, f"{row}", "end")
    base, scale = right + 146, 3
    live.text(8, right + 24, "words that wait at each bank", size=13, font_weight="bold")
    live.line(LEFT, base, LEFT + CELL * BANKS, base, INK)
    for bank in (0, 8, 16, 24, 31):
        live.soft(LEFT + CELL * (bank + 0.5), base + 15, f"{bank}", "middle")
    shown = [("stores", store, *each) for each in stores[:STORES]] + [("loads", load, *each) for each in loads[:LOADS]]
    for number, (verb, line, cost, touched) in enumerate(shown):
        banks = {}
        for word in touched:
            banks.setdefault(word % BANKS, []).append(word)
        what = f"row {number}" if verb == "stores" else f"column {number - STORES}"
        live.frame(f"warp {number if verb == 'stores' else number - STORES} {verb} {what}, words {listed(touched)}: "
                   f"{plural(len(banks), 'bank')}, {plural(cost, 'wavefront')}.", line)
        with live.during(number, number):
            waits = [word for stack in banks.values() for word in stack[1:]]
            for fill, chosen in ((WORKS, [stack[0] for stack in banks.values()]), (EXTRA, waits)):
                places = [(LEFT + CELL * (word % pitch), TOP + ROW * (word // pitch)) for word in chosen]
                live.cells(places, CELL - 1, ROW - 1, fill)
            live.cells([(LEFT + CELL * bank, base - scale) for bank in banks], CELL - 1, scale, WORKS)
            for bank, stack in banks.items():
                if len(stack) > 1:
                    live.rect(LEFT + CELL * bank, base - scale * len(stack), CELL - 1, scale * (len(stack) - 1), EXTRA)
            live.text(392, right + 24, plural(cost, "wavefront"), "end", 14, font_weight="bold")
    live.cells([(8, base + 28)], 12, 12, WORKS)
    live.text(26, base + 38, "first at its bank", size=12)
    live.cells([(134, base + 28)], 12, 12, EXTRA)
    live.text(152, base + 38, "bank conflict: waits", size=12)
    live.soft(8, base + 58, f"All 32 loads of columns take {plural(sum(cost for cost, _ in loads), 'wavefront')}.")
    live.soft(8, base + 74, "Block 0, recorded on the emulator.")
    live.height = base + 84
    return live


def variants(emulate):
    return [draw(name, kernel, title, emulate) for name, (kernel, title) in KERNELS.items()]
