"""Figures of what one block did on the emulator: `emulate --draw … --format json` records its steps and requests. The tree alone
is a toy of eight threads, as in pictures.py, whose rows tests/pages/pictures_test compares with a run."""

import functools
import re

from tutorial import ROOT
from tutorial.lessons import read_lessons
from tutorial.live import EXTRA, HOLDS, RESTS, WORKS, Live, source_lines
from tutorial.pictures import DULL, EDGE, ELEMENTS, PALE, SOFT, tree
from tutorial.svg import BLUE, INK

WARP, BANKS = 32, 32
LEFT, CELL = 40, 11  # of 32 columns side by side


@functools.cache
def home_of(kernel):
    """The lesson that introduces it."""
    return next(lesson for lesson in read_lessons() if kernel in lesson.kernels)


def plural(count, what):
    return f"{count:,} {what}{'' if count == 1 else 'es' if what.endswith('s') else 's'}"


def listed(numbers):
    """'0, 1, 2, ... 31' of numbers at even distances, all of them if they are few."""
    numbers = list(numbers)
    if len(numbers) <= 4:
        return ", ".join(map(str, numbers))
    return f"{numbers[0]}, {numbers[1]}, {numbers[2]}, ... {numbers[-1]}"


class KernelText:
    """A kernel's source lines."""

    def __init__(self, kernel):
        for path in home_of(kernel).kernel_files:
            lines = path.read_text(encoding="utf-8").splitlines()
            heads = [k for k, line in enumerate(lines) if re.search(rf"void {kernel}\(", line)]
            if heads:
                self.path, self.lines, self.head = path.relative_to(ROOT), lines, heads[0]
                self.end = next(k for k in range(heads[0], len(lines)) if lines[k] == "}")

    def line(self, words):
        """The number of the kernel's first line with these words."""
        return next(k for k in range(self.head, self.end) if words in self.lines[k]) + 1

    def part(self, first, last):
        """From the line with some words to that with others."""
        return source_lines(self.path, self.line(first), self.line(last), ROOT)

    def all(self):
        return source_lines(self.path, self.head + 1, self.end + 1, ROOT)


def trace_of(emulate, kernel, *arguments, line=None):
    where = ["--line", str(line)] if line else []
    report = emulate("--draw", "activity", "--format", "json", *where, "--kernel", f"{kernel}\\b", f"./{home_of(kernel).name}",
                     "--kernel", kernel, "--device", "emulator", *arguments)
    return report["accesses"][0]


# ---- the tree ----

TOY = 4  # lanes of a warp, and banks


def adders(kernel, stride):
    count = len(ELEMENTS)
    return {"reduce0a": {t: t for t in range(count) if t % (2 * stride) == 0},
            "reduce1": {2 * stride * t: t for t in range(count) if 2 * stride * t < count},
            "reduce2": {t: t for t in range(stride)}}[kernel]


def passes(writers):
    """By warp of the toy: {bank: words}."""
    warps = {}
    for word, thread in writers.items():
        warps.setdefault(thread // TOY, {}).setdefault(word % TOY, []).append((word, thread))
    return warps


def draw_tree(kernel):
    left, width, height, gap, top = 98, 36, 34, 28, 56
    strides = (4, 2, 1) if kernel == "reduce2" else (1, 2, 4)
    steps = list(tree(strides, functools.partial(adders, kernel)))
    order = "shrinking strides" if kernel == "reduce2" else "growing strides"
    live = Live(kernel, 0, f"{kernel}: {order}")
    live.ms = 2000
    has_toy = kernel != "reduce0a"  # The pages that begin with it have no banks yet.
    text = KernelText(kernel)
    live.source = text.part("shared[tid] = i < n", "partial_sums[blockIdx.x]")
    add = text.line("+= shared[")
    count = len(ELEMENTS)
    live.soft(left - 8, top - 8, "word", "end")
    for word in range(count):
        live.soft(left + width * (word + 0.5), top - 8, str(word), "middle")
    rows = [("elements", list(ELEMENTS), {word: word for word in range(count)}, 0), *(
        (f"stride {stride}", words, writers, stride) for stride, words, writers in steps)]
    toy_top, total = top + 4 * (height + gap) + 8, 0
    for row, (name, words, writers, stride) in enumerate(rows):
        y = top + row * (height + gap)
        warps = passes(writers)
        high = high_of(warps)
        who = " and ".join(f"warp {warp}" for warp in sorted(warps))
        if row == 0:
            live.frame("Each of 8 threads stores an element." + has_toy * f" {who} work, one wavefront each.",
                       text.line("shared[tid] = i < n"))
        else:
            total += high
            sums = ", ".join(f"t{thread} adds words {word} and {word + stride}" for word, thread in list(writers.items())[:2])
            more = " and so on" if len(writers) > 2 else ""
            toy = f" In the toy {who} {'work' if len(warps) > 1 else 'works'}: {plural(high, 'wavefront')}."
            live.frame(f"stride {stride}: {sums}{more}." + has_toy * toy, add)
        with live.during(row):
            live.text(left - 8, y + 14, name, "end", font_weight="bold")
            live.soft(left - 8, y + 29, f"{len(writers)} store" if row == 0 else f"{len(writers)} of {count} add", "end")
            draw_words(live, [left + width * (word + 0.5) for word in range(count)], y, words, writers)
            if row:
                draw_additions(live, [left + width * (word + 0.5) for word in range(count)], y, gap, writers, stride)
    live.frame(f"Thread 0 stores the sum of all: partial_sums[0] = {rows[-1][1][0]}." +
               has_toy * f" Additions took {plural(total, 'wavefront')} in the toy.", text.line("partial_sums[blockIdx.x]"))
    live.height = toy_top - 18
    if has_toy:
        draw_toys(live, toy_top, rows, total)
    return live


def draw_toys(live, top, rows, total):
    """Below the tree, frame by frame."""
    base = top + 92
    draw_empty_toy(live, top)
    for row, (_, _, writers, stride) in enumerate(rows):
        with live.during(row, row):
            draw_toy(live, base, passes(writers), stride)
        with live.during(row):
            if row:
                live.text(290 + 26 * row, top + 60, f"{high_of(passes(writers))}{' +' * (row < 3)}", "start", 14)
                live.soft(290 + 26 * row, top + 78, f"{stride}")
    with live.during(3):
        live.text(276, top + 100, f"= {plural(total, 'wavefront')}", size=14, font_weight="bold")
    worst = max(rows[1:], key=lambda one: high_of(passes(one[2])))
    with live.during(4):
        draw_toy(live, base, passes(worst[2]), worst[3])
    live.height = base + 40


def draw_words(live, middles, y, words, writers, width=36, height=34):
    """A row of the tree: gray what stays, blue what is written, with the threads that do."""
    rest = [word for word in range(len(words)) if word not in writers]
    for fill, chosen in ((DULL, rest), (PALE, writers)):
        live.cells([(middles[word] - width / 2, y) for word in sorted(chosen)], width, height, fill, stroke=EDGE)
    for word in rest:
        live.text(middles[word], y + 16, str(words[word]), "middle", 13, fill=SOFT)
    for word in writers:
        live.text(middles[word], y + 16, str(words[word]), "middle", 15, font_weight="bold")
    for word, thread in writers.items():
        live.text(middles[word], y + 30, f"t{thread}", "middle", 12)


def draw_additions(live, middles, y, gap, writers, stride):
    for word in writers:
        live.line(middles[word + stride], y - gap, middles[word] + 5, y - 2, BLUE)
    for word in writers:
        live.line(middles[word], y - gap, middles[word], y - 1, BLUE)
    live.path("".join(f"M{middles[word]:g} {y - 1}l-4 -6h8z" for word in writers), BLUE)


def draw_empty_toy(live, top):
    base = top + 92
    live.text(8, top, "A toy: warps of 4 lanes, 4 banks", size=13, font_weight="bold")
    live.soft(8, top + 16, "the words that each warp stores, on their banks")
    for warp in range(2):
        x = 8 + 132 * warp
        for bank in range(TOY):
            live.cells([(x + 28 * bank, base - 26 * k - 26) for k in range(2)], 26, 24, RESTS)
            live.soft(x + 28 * bank + 13, base + 14, f"{bank}", "middle")
        live.soft(x, base + 30, f"warp {warp}")
    live.soft(276, top + 40, "wavefronts:")
    live.soft(276, top + 78, "stride")


def high_of(warps):
    return sum(max(len(stack) for stack in banks.values()) for banks in warps.values())


def draw_toy(live, base, warps, stride):
    for warp, banks in warps.items():
        for bank, stack in banks.items():
            for k, (word, _) in enumerate(stack):
                x = 8 + 132 * warp + 28 * bank
                live.cells([(x, base - 26 * k - 26)], 26, 24, EXTRA if k else WORKS)
                live.text(x + 13, base - 26 * k - 9, str(word), "middle", 13, fill="white", font_weight="bold")
    live.soft(392, base - 92, f"at stride {stride}" if stride else "elements", "end")


def trees(_):
    return [draw_tree(kernel) for kernel in ("reduce0a", "reduce1", "reduce2")]


# ---- the banks ----

BLOCK = 256


def additions(emulate, kernel):
    """(stride, the requests of all warps): of the first load in the line that adds, step by step."""
    line = KernelText(kernel).line("+= shared[")
    strides = [1 << k for k in range(8)] if kernel != "reduce2" else [128 >> k for k in range(8)]
    steps = trace_of(emulate, kernel, "--n", str(BLOCK), "--block", str(BLOCK), line=line)["steps"]
    stores = [step["requests"] for step in steps if not step["is_load"]]
    return list(zip(strides, stores, strict=True))


def words_of(request):
    return [address // 4 for lane, address in enumerate(request["addresses"]) if request["active"] >> lane & 1]


def draw_banks(kernel, steps):
    live = Live(kernel, BANK_CHART + 68, f"{kernel}: the queue at the banks")
    live.ms = 1900
    text = KernelText(kernel)
    live.source = text.part("for (unsigned int stride", "__syncthreads(); // This")
    draw_no_queue(live)
    total = 0
    for number, (stride, requests) in enumerate(steps):
        first, words = requests[0], words_of(requests[0])
        stacks = {}
        for word in words:
            stacks.setdefault(word % BANKS, []).append(word)
        warps = ("warp 0 adds" if len(requests) == 1 else "warps 0 and 1 add" if len(requests) == 2 else
                 f"warps 0 to {len(requests) - 1} add")
        live.frame(f"stride {stride}: {warps}. Warp {first['warp']} stores {'words' if len(words) > 1 else 'word'} "
                   f"{listed(words)}: {plural(len(stacks), 'bank')}, {plural(first['cost'], 'wavefront')}.",
                   text.line("+= shared["))
        with live.during(number, number):
            draw_queue(live, stacks)
            live.text(392, 64, f"stride {stride}: {plural(first['cost'], 'wavefront')}", "end", 14, font_weight="bold")
        total += sum(request["cost"] for request in requests)
        draw_wavefronts(live, LEFT + 44 * number, number, stride, requests)
        with live.during(number, number if number < len(steps) - 1 else None):
            live.text(392, BANK_BASE + 58, f"sum {total}", "end", 14, font_weight="bold")
    live.still = max(range(len(steps)), key=lambda k: steps[k][1][0]["cost"])  # the longest queue
    return live


BANK_BASE, BANK_ROW, BANK_CHART = 238, 19, 386  # below the queue, of a word in it, below the chart


def draw_no_queue(live):
    """All that each frame has."""
    live.soft(8, 44, "A warp stores its sums. Each word waits at its bank.")
    for k in range(8):
        live.soft(LEFT - 8, BANK_BASE - BANK_ROW * k - 5, f"{k + 1}", "end")
    live.text(8, 64, "wavefront", size=12)
    for bank in range(BANKS):
        live.cells([(LEFT + CELL * bank, BANK_BASE - 8 * BANK_ROW)], CELL - 1, 8 * BANK_ROW, RESTS)
    for bank in (0, 8, 16, 24, 31):
        live.soft(LEFT + CELL * (bank + 0.5), BANK_BASE + 15, f"{bank}", "middle")
    live.text(8, BANK_BASE + 32, "bank", size=12)
    live.text(8, BANK_BASE + 58, "wavefronts of these stores, all warps", size=13, font_weight="bold")
    live.line(LEFT, BANK_CHART, 392, BANK_CHART, INK)
    live.soft(2, BANK_CHART + 15, "stride")
    for x, fill, words in ((8, WORKS, "first in line"), (120, EXTRA, "bank conflict: has to wait")):
        live.cells([(x, BANK_CHART + 30)], 12, 12, fill)
        live.text(x + 18, BANK_CHART + 40, words, size=12)
    live.soft(8, BANK_CHART + 58, f"Block 0 of {BLOCK} threads, recorded on the emulator.")


def draw_queue(live, stacks):
    """The words at each bank."""
    live.cells([(LEFT + CELL * bank, BANK_BASE - BANK_ROW + 1) for bank in stacks], CELL - 1, BANK_ROW - 2, WORKS)
    live.cells([(LEFT + CELL * bank, BANK_BASE - BANK_ROW * (k + 1) + 1) for bank, stack in stacks.items()
                for k in range(1, len(stack))], CELL - 1, BANK_ROW - 2, EXTRA)


def draw_wavefronts(live, x, number, stride, requests):
    """A stride's bar, and how much of it conflicts are: a warp's request needs one wavefront."""
    scale, costs = 9, sum(request["cost"] for request in requests)
    live.soft(x + 18, BANK_CHART + 15, f"{stride}", "middle")
    with live.during(number):
        live.rect(x, BANK_CHART - scale * costs, 36, scale * costs, WORKS)
        if costs > len(requests):
            live.rect(x, BANK_CHART - scale * costs, 36, scale * (costs - len(requests)), EXTRA)
        live.text(x + 18, BANK_CHART - scale * costs - 4, f"{costs}", "middle", 12)


def banks(emulate):
    return [draw_banks(kernel, additions(emulate, kernel)) for kernel in ("reduce1", "reduce2")]


# ---- the warps ----

def lanes_of(mask):
    return [lane for lane in range(WARP) if mask >> lane & 1]


def draw_warps(kernel, steps):
    live = Live(kernel, 0, f"{kernel}: who works in which step")
    live.ms = 1100
    text = KernelText(kernel)
    live.source = text.all()
    warps, row, top = len(steps[0]["active"]), 20, 78
    base = top + row * warps
    live.soft(8, 44, "A row for each warp, a column for each lane.")
    for lane in (0, 8, 16, 24, 31):
        live.soft(LEFT + CELL * (lane + 0.5), top - 6, f"{lane}", "middle")
    for warp in range(warps):
        live.soft(LEFT - 6, top + row * warp + 14, f"w{warp}", "end")
        live.cells([(LEFT, top + row * warp)], CELL * WARP - 1, row - 2, RESTS)
    chart, scale, pitch = base + 108, 8, 352 / len(steps)
    live.text(8, base + 28, "warps that work; blue: their active lanes", size=13, font_weight="bold")
    live.line(LEFT, chart, 392, chart, INK)
    slots = used = 0
    for number, step in enumerate(steps):
        working = [warp for warp, mask in enumerate(step["active"]) if mask]
        count = sum(len(lanes_of(mask)) for mask in step["active"])
        slots, used = slots + WARP * len(working), used + count
        idle = warps - len(working)
        out = f"{plural(idle, 'warp')} {'is' if idle == 1 else 'are'} idle" if idle else "no warp is idle"
        live.frame(f"{step['what']}, line {step['place']['line']}: {plural(count, 'lane')} in {plural(len(working), 'warp')} "
                   f"work, {out}.".replace("lane in 1 warp work", "lane in 1 warp works"), step["place"]["line"])
        x = LEFT + pitch * number
        with live.during(number, number):
            live.rows((LEFT, top, CELL, row, 1, 2), {"w": WORKS, "h": HOLDS}, [
                "".join("w" if mask >> lane & 1 else "h" for lane in range(WARP)) if mask else "" for mask in step["active"]])
            live.text(392, 44, f"step {number + 1}: {count} of {WARP * len(working)}", "end", 14, font_weight="bold")
        with live.during(number):
            live.cells([(x, chart - scale * len(working))], pitch - 2, scale * len(working), HOLDS)
            live.rect(x, chart - scale * count / WARP, pitch - 2, scale * count / WARP, WORKS)
        live.soft(x + pitch / 2 - 1, chart + 15, f"{number + 1}", "middle")
        with live.during(number, number if number < len(steps) - 1 else None):
            live.soft(392, chart + 34, f"{used} of {slots} lanes of working warps did something", "end")
    live.soft(LEFT - 6, chart + 15, "step", "end")
    live.soft(8, chart + 54, f"Block 0 of {BLOCK} threads, on the emulator. A step writes memory")
    live.soft(8, chart + 70, "or exchanges values between lanes.")
    live.height = chart + 80
    live.still = min(len(steps) - 1, 3)
    return live


def warps(emulate):
    return [draw_warps(kernel, trace_of(emulate, kernel, "--n", "4096", "--block", str(BLOCK))["steps"])
            for kernel in ("reduce0a", "reduce1", "reduce3", "reduce4", "reduce7")]
