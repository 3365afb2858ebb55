"""The pictures that pages explain things with. They are narrow, so that a phone shows them readably."""

from functools import partial
from math import log2
from statistics import median

from tutorial.ahead import read_races
from tutorial.records import read_record
from tutorial.svg import BLUE, DARK, GRAY, INK, ORANGE, Svg

WIDTH = 400
# Of the words and fields beside the charts' colors, in daylight.
PALE, WARM, DULL, EDGE, SOFT = "#d6e8f7", "#fde7bd", "#f1f2f4", "#8a94a0", "#5f6873"


class Picture(Svg):
    """What several pictures are made of: fields with a word in them, and arrows."""

    dark = f"""{DARK}
@media screen and (prefers-color-scheme:dark){{rect[fill="{PALE}"]{{fill:#174365}}rect[fill="{WARM}"]{{fill:#5d4511}}
rect[fill="{DULL}"]{{fill:#1e252d}}text[fill="{SOFT}"]{{fill:#a3adb8}}text[fill="white"]{{fill:#12161b}}
circle[fill="{INK}"]{{fill:#e6eaef}}line[stroke="{BLUE}"]{{stroke:#56b4e9}}polygon[fill="{BLUE}"]{{fill:#56b4e9}}}}"""

    def __init__(self, height, title):
        super().__init__(WIDTH, height, shown=1.2)
        self.text(WIDTH / 2, 22, title, "middle", 15, font_weight="bold")

    def soft(self, x, y, words, anchor="start"):
        self.text(x, y, words, anchor, 12, fill=SOFT)

    def field(self, x, y, width, height, fill, words="", size=13, **more):
        """`words` in its middle."""
        self.rect(x, y, width, height, fill, stroke=EDGE)
        if words:
            self.text(x + width / 2, y + height / 2 + size * 0.36, words, "middle", size, **more)

    def arrow(self, *points, color=EDGE):
        """Along the points. Its head points down, or where the last part leads if that is level."""
        for (x1, y1), (x2, y2) in zip(points, points[1:]):
            self.line(x1, y1, x2, y2, color)
        (x1, y1), (x, y) = points[-2:]
        right = (x > x1) - (x < x1) if y1 == y else 0
        back = [(x - 6 * right, y - 4), (x - 6 * right, y + 4)] if right else [(x - 4, y - 6), (x + 4, y - 6)]
        corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in [(x, y), *back])
        self.elements.append(f'<polygon points="{corners}" fill="{color}"/>')


# ---- the ladder, in short ----

# What the short ladder shows: kernels, and the idea that each adds to those above it.
STEPS = (("reduce0", "first kernel"), ("reduce2", "sequential addressing"), ("reduce3", "two elements per thread"),
         ("reduce6", "many elements per thread"), ("reduce7", "warp shuffles"), ("reduce8", "vectorized loads"),
         ("cub::Sum", "NVIDIA's library CUB"))
LADDER_ELEMENTS = 268_435_456


def draw_ladder_short(folder):
    """Complete sums: all launches. What a first launch leaves is no sum, and CUB's calls are timed as a whole."""
    facts, rows = read_record(folder / "ladder.csv")
    rows = {row["name"]: row for row in rows if int(row["elements"]) == LADDER_ELEMENTS}
    top, height, left, scale = 56, 34, 186, 1.92
    bottom = top + height * len(STEPS)
    svg = Svg(WIDTH, bottom + 66, shown=1.2)
    svg.text(WIDTH / 2, 24, "Idea by idea, closer to the memory's peak", "middle", 15, font_weight="bold")
    svg.text(left, 44, "achieved bandwidth, % of peak", size=12)
    for percent in range(0, 101, 25):
        x = left + scale * percent
        svg.line(x, top, x, bottom, INK if percent in (0, 100) else "#dddddd", "5 3" if percent == 100 else "none")
        svg.text(x, bottom + 16, f"{percent}", "middle", 12)
    for i, (name, words) in enumerate(STEPS):
        y = top + height * i
        gbs = 4e-3 * LADDER_ELEMENTS / float(rows[name]["complete_time_us_median"])
        share = 100 * gbs / float(rows[name]["peak_bandwidth_gbs"])
        own = name.startswith("reduce")
        svg.text(left - 8, y + height / 2 + 4, words, "end")
        svg.rect(left, y + 5, scale * share, height - 10, BLUE if own else GRAY)
        inside = {"fill": "white" if own else INK} if share > 50 else {}
        svg.text(left + scale * share + (-6 if inside else 6), y + height / 2 + 5, f"{share:.1f}", "end" if inside else "start",
                 font_weight="bold", **inside)
    svg.text(WIDTH / 2, bottom + 38, f"Steps from lessons 00 to 08. {LADDER_ELEMENTS:,} ints, all launches.", "middle", 12)
    svg.text(WIDTH / 2, bottom + 54, f"{facts['device'].split(',')[0]}, driver {facts['driver']}, {facts['date'][:10]}",
             "middle", 12)
    return str(svg)


# ---- the ladder, with a lesson's rungs lit ----

# By lesson: the kernels that it adds.
RUNGS = {"00": ("reduce0", "reduce0a"), **{f"0{i}": (f"reduce{i}",) for i in range(1, 10)}}


class Ladder:
    """The recorded ladder. Its shares and speeds are those of first launches."""

    def __init__(self, folder):
        self.facts, rows = read_record(folder / "ladder.csv")
        self.rows = {row["name"]: row for row in rows if int(row["elements"]) == LADDER_ELEMENTS}
        self.names = [name for names in RUNGS.values() for name in names]

    def share(self, name):
        """In % of the card's peak."""
        return 100 * float(self.rows[name]["peak_fraction"])

    def speeds(self, name):
        """Its speed over that of the step before and over that of the first, in words."""
        before, words = self.names[self.names.index(name) - 1], []
        for other in dict.fromkeys((before, self.names[0])):
            ratio = float(self.rows[other]["time_us_median"]) / float(self.rows[name]["time_us_median"])
            words.append(f"{ratio:.{1 if ratio >= 10 else 2}f} times {'that' if words else 'the speed'} of `{other}`")
        return ", ".join(words)

    def conditions(self):
        return f"{self.facts['device'].split(',')[0]}, {LADDER_ELEMENTS:,} ints, first launch"


def strip_words(folder, number):
    """The picture's alt text."""
    ladder = Ladder(folder)
    shares = [f"{name} {ladder.share(name):.1f} %" for name in RUNGS[number]]
    return (f"The ladder in % of the card's peak bandwidth, this lesson lit: {', '.join(shares)}, "
            f"{ladder.speeds(RUNGS[number][-1]).replace('`', '')}")


def draw_rungs(picture, ladder, names, lit, top, height, step, marks=(0, 100)):
    """A bar for each of these kernels, over an axis in % of the peak with these marks. Those that are lit are blue."""
    left, bar, bottom = 30, step - 9, top + height
    for percent in marks:
        y = bottom - height * percent / 100
        picture.line(left, y, WIDTH - 4, y, INK if percent in (0, 100) else "#dddddd", "5 3" if percent == 100 else "none")
        picture.text(left - 4, y + 4, f"{percent}", "end", 12)
    for column, name in enumerate(names):
        x, share, is_lit = left + 3 + step * column, ladder.share(name), name in lit
        y = bottom - height * share / 100
        style = {"font_weight": "bold"} if is_lit else {}
        picture.rect(x, y, bar, bottom - y, BLUE if is_lit else GRAY)
        picture.text(x + bar / 2, bottom + 16, name.removeprefix("reduce"), "middle", 13, **style)
        is_inside = y - top < 16  # clear of the peak's line
        fill = {"fill": "white" if is_lit else INK} if is_inside else {}
        picture.text(x + bar / 2, y + (13 if is_inside else -4), f"{share:.1f}", "middle", 12, **style, **fill)


def draw_strip(number, folder):
    ladder, top, height = Ladder(folder), 66, 120
    bottom, last = top + height, RUNGS[number][-1]
    picture = Picture(bottom + 42, f"{last}: {ladder.share(last):.1f} % of the peak bandwidth")
    picture.text(WIDTH / 2, 44, ladder.speeds(last).replace("`", ""), "middle", 12)
    draw_rungs(picture, ladder, ladder.names, RUNGS[number], top, height, 33, (0, 50, 100))
    picture.soft(8, bottom + 35, f"reduce0 to 9. {ladder.conditions()}")
    return str(picture)


def draw_story(count, folder):
    """The first `count` rungs, the last one lit. Low, since it stays in view while one reads on."""
    ladder, top, height = Ladder(folder), 24, 64
    names = ladder.names[:count]
    picture = Svg(WIDTH, top + height + 24, shown=1.2)
    draw_rungs(picture, ladder, names, names[-1:], top, height, 36)
    time = float(ladder.rows[names[-1]]["time_us_median"])
    picture.text(33, 12, f"{names[-1]}: {time:,.0f} \u00b5s, {ladder.share(names[-1]):.1f} % of the peak", size=13,
                 font_weight="bold")
    return str(picture)


# ---- lessons 00 to 02: the tree, its values ----

ELEMENTS = (3, 1, 7, 0, 4, 1, 6, 3)


def tree(strides, adders):
    """A row per step: the stride, the words of shared memory after it, and who has written them: {word: thread}.
    `adders(stride)`: the threads that add, by the word that they write."""
    words = list(ELEMENTS)
    for stride in strides:
        writers = adders(stride)
        sums = {word: words[word] + words[word + stride] for word in writers}  # all read before any writes
        words = [sums.get(word, value) for word, value in enumerate(words)]
        yield stride, list(words), writers


# ---- start: a thread's index ----

BLOCKS, THREADS, NUMBERS = 3, 4, (3, 1, 7, 0, 4, 1, 6, 3, 2, 5)


def draw_index(_):
    """Of a launch of `square` in start.cu."""
    width, block, left, height = 28, 4 * 28 + 12, 18, 26
    picture = Picture(318, f"A grid of {BLOCKS} blocks of {THREADS} threads")
    picture.text(WIDTH / 2, 45, "i = blockIdx.x * blockDim.x + threadIdx.x", "middle", font_weight="bold")
    picture.soft(WIDTH / 2, 64, f"gridDim.x = {BLOCKS}, blockDim.x = {THREADS}, n = {len(NUMBERS)}", "middle")
    places = [divmod(index, THREADS) for index in range(BLOCKS * THREADS)]
    index = [number * THREADS + thread for number, thread in places]
    followed = (1, 3)  # a block and a thread

    def row(y, name, words, fills):
        picture.soft(left, y - 6, name)
        for place, word, fill in zip(places, words, fills):
            picture.field(left + block * place[0] + width * place[1], y, width, height, WARM if place == followed else fill,
                          str(word), **({"font_weight": "bold"} if place == followed else {}))

    for number in range(BLOCKS):
        picture.rect(left - 5 + block * number, 74, block - 2, 136, "none", stroke=EDGE, rx=4)
        picture.text(left + block * number, 91, f"blockIdx.x = {number}", size=13, font_weight="bold")
    fills = [PALE if i < len(NUMBERS) else DULL for i in index]
    row(114, "threadIdx.x", [thread for _, thread in places], fills)
    row(160, "i", index, fills)
    row(232, "input[i]", NUMBERS, ["white"] * len(NUMBERS))
    row(280, "output[i] = input[i] * input[i]", [number * number for number in NUMBERS], ["white"] * len(NUMBERS))
    number, thread = followed
    x = left + block * number + width * (thread + 0.5)
    picture.arrow((x, 186), (x, 231))
    picture.text(x - 7, 202, f"{number} * {THREADS} + {thread} = {number * THREADS + thread}", "end", 12, font_weight="bold")
    beyond = [place for place, i in zip(places, index) if i >= len(NUMBERS)][0]
    picture.soft(left + block * beyond[0] + width * beyond[1] + 5, 244, "i < n is")
    picture.soft(left + block * beyond[0] + width * beyond[1] + 5, 258, "false")
    return str(picture)


# ---- threads, warps and blocks: latency hiding ----

LATENCY, TURNS = 8, 24
CROWDS = ((2, 1), (8, 1), (2, 4))  # warps, and loads that each may have in flight


def issues(warps, loads):
    """A turn's number by the warp that issues a load then; who has waited longest goes first. A warp goes on when a
    load has arrived, LATENCY turns later."""
    in_flight, last, found = [[] for _ in range(warps)], [-1] * warps, []
    for turn in range(TURNS):
        in_flight = [[end for end in ends if end > turn] for ends in in_flight]
        ready = [warp for warp in range(warps) if len(in_flight[warp]) < loads]
        if ready:
            warp = min(ready, key=lambda warp: (last[warp], warp))
            in_flight[warp].append(turn + LATENCY)
            last[warp] = turn
            found.append((turn, warp))
    return found


def draw_latency(_):
    left, width, height = 74, 13, 12
    rows = [warps * loads for warps, loads in CROWDS]
    picture = Picture(56 + sum(rows) * (height + 2) + len(CROWDS) * 68 + 40, "Few loads in flight, many in flight")
    y = 46
    for warps, loads in CROWDS:
        picture.text(8, y + 12, f"{warps} warps, {loads} load{'s' * (loads > 1)} in flight each", font_weight="bold")
        y += 22
        found = issues(warps, loads)
        slots = [[] for _ in range(warps * loads)]
        for turn, warp in found:  # a load in the first slot of its warp that is free
            slot = next(slot for slot in range(warp * loads, (warp + 1) * loads) if not slots[slot] or
                        slots[slot][-1] + LATENCY <= turn)
            slots[slot].append(turn)
        for slot, turns in enumerate(slots):
            if slot % loads == 0:
                picture.soft(left - 6, y + slot * (height + 2) + 10, f"warp {slot // loads}", "end")
            for turn in turns:
                end = min(turn + LATENCY, TURNS)
                picture.rect(left + width * turn, y + slot * (height + 2) + 4, width * (end - turn) - 1, 4, ORANGE)
                picture.rect(left + width * turn, y + slot * (height + 2), width - 1, height, BLUE)
        y += len(slots) * (height + 2) + 4
        picture.text(left - 6, y + 11, "scheduler", "end", 12)
        busy = {turn for turn, _ in found}
        for turn in range(TURNS):
            picture.rect(left + width * turn, y, width - 1, height + 2, BLUE if turn in busy else DULL, stroke=EDGE)
        picture.text(left, y + 28, f"issues in {len(busy)} of {TURNS} turns", size=12)
        y += 46
    picture.rect(8, y, 13, 12, BLUE)
    picture.text(26, y + 10, "a load is issued", size=12)
    picture.rect(150, y + 4, 30, 4, ORANGE)
    picture.text(186, y + 10, f"in flight, here {LATENCY} turns", size=12)
    picture.soft(8, y + 30, "A real load takes hundreds of cycles.")
    return str(picture)


# ---- lesson 09: the last block ----

PARTIAL_SUMS, ARRIVAL = (5, 2, 11, 7), (2, 0, 3, 1)  # by block; the order in which the blocks count


def draw_last_block(_):
    """The first and the last block that count, and the memory between them."""
    left, middle, right, width, height, pitch, top = 6, 140, 272, 122, 26, 35, 66
    first, last, count = ARRIVAL[0], ARRIVAL[-1], len(ARRIVAL)
    picture = Picture(top + 12 * pitch + 84, "How the last block may read all sums")

    def step(x, row, words, fill=PALE):
        picture.field(x, top + pitch * row, width, height, fill, words, 12)

    def memory(row, stored, counted):
        for block in range(count):
            words = str(PARTIAL_SUMS[block]) if block in stored else "?"
            picture.field(middle + 21 * block, top + pitch * row, 21, height, "white" if block in stored else DULL, words)
        picture.field(middle + 92, top + pitch * row, 26, height, "white", str(counted), font_weight="bold")

    def mark(x, y, number):
        picture.dot(x, y, INK, 8)
        picture.text(x, y + 4.5, str(number), "middle", 12, fill="white", font_weight="bold")

    picture.text(left, top - 26, f"block {first}, thread 0", size=12, font_weight="bold")
    picture.text(right, top - 26, f"block {last}, thread 0", size=12, font_weight="bold")
    picture.text(middle, top - 26, "global memory", size=12, font_weight="bold")
    picture.soft(left, top - 10, "counts first")
    picture.soft(right, top - 10, "counts last")
    picture.soft(middle, top - 10, "partial sums")
    picture.soft(middle + 118, top - 10, "count", "end")
    memory(0, (), 0)
    step(left, 1, f"store {PARTIAL_SUMS[first]}")
    memory(1, (first,), 0)
    step(left, 2, "__threadfence()", WARM)
    step(left, 3, "atomicInc: was 0")
    memory(3, (first,), 1)
    picture.soft(middle, top + pitch * 4 + 17, f"then blocks {' and '.join(map(str, ARRIVAL[1:-1]))}:")
    memory(5, ARRIVAL[:-1], count - 1)
    step(right, 6, f"store {PARTIAL_SUMS[last]}")
    memory(6, ARRIVAL, count - 1)
    step(right, 7, "__threadfence()", WARM)
    step(right, 8, f"atomicInc: was {count - 1}")
    memory(8, ARRIVAL, 0)
    step(right, 9, "__threadfence()", WARM)
    step(right, 10, "__syncthreads()", WARM)
    step(right, 11, "load " + " ".join(map(str, PARTIAL_SUMS)))
    for x, rows in ((left, (1, 2)), (right, (6, 7, 8, 9, 10))):
        for row in rows:
            picture.arrow((x + width / 2, top + pitch * row + height), (x + width / 2, top + pitch * (row + 1)))
    # From the first count to the last one, past what memory holds.
    lane, y = (left + width + middle) / 2, top + pitch * 7 + height / 2
    picture.arrow((left + width, top + pitch * 3 + height / 2), (lane, top + pitch * 3 + height / 2), (lane, y),
                  (right - 8, y), (right - 8, y + pitch), (right, y + pitch))
    mark(left + width - 6, top + pitch * 2 - 2, 1)
    mark(lane, y, 2)
    mark(right + width - 6, top + pitch * 10 - 4, 3)
    y = top + 12 * pitch + 14
    for number, words in enumerate(("The fence puts the store before the count.",
                                    "The last count sees all counts before it.",
                                    "Fence and barrier put the loads after that count."), 1):
        mark(16, y + 20 * (number - 1) - 4, number)
        picture.text(32, y + 20 * (number - 1), words, size=12)
    picture.text(32, y + 60, f"So its sum is right: {' + '.join(map(str, PARTIAL_SUMS))} = {sum(PARTIAL_SUMS)}.", size=12,
                 font_weight="bold")
    return str(picture)


# ---- what a launch costs ----

LAUNCH_ELEMENTS = 2**14


def draw_launch(folder):
    facts, rows = read_record(folder / "limit_steps.csv")
    times = {row["step"]: float(row["time_us_median"]) for row in rows
             if int(row["n"]) == LAUNCH_ELEMENTS and row["mode"] == "cold"}
    events, one, two = times["events"], times["empty_16_blocks"], times["two_empty"]
    picture = Picture(446, "What a launch costs")
    picture.soft(8, 46, "Order, not to scale: a launch only queues the kernel.")
    picture.text(52, 71, "host", "end", 12, font_weight="bold")
    picture.text(52, 121, "device", "end", 12, font_weight="bold")
    for i, (host, device, fill) in enumerate((("event", "event", DULL), ("launch", "kernel", WARM), ("launch", "kernel", WARM),
                                              ("event", "event", DULL))):
        picture.field(60 + 52 * i, 54, 48, 26, fill, host, 12)
        picture.field(112 + 58 * i, 104, 54, 26, fill, device, 12)
        picture.line(84 + 52 * i, 80, 139 + 58 * i, 98, EDGE)
        picture.arrow((139 + 58 * i, 98), (139 + 58 * i, 103))
    picture.field(268, 54, 124, 26, "white", "waits for the end", 12)
    left, scale, top, height = 126, 38, 190, 34
    picture.soft(8, 162, "Between the two events, to scale, in microseconds:")
    for us in range(7):
        picture.line(left + scale * us, top - 10, left + scale * us, top + 5 * height, "#dddddd")
        picture.soft(left + scale * us, top + 5 * height + 15, str(us), "middle")
    bars = (("no kernel", events, 0), ("an empty kernel", one, 1), ("two of them", two, 2),
            ("sum, one launch", times["last_block"], 1), ("sum, two launches", times["two_launches"], 2))
    for row, (name, time, launches) in enumerate(bars):
        y = top + height * row - 4
        picture.text(left - 8, y + 17, name, "end", 12)
        ends = [0, events, *[one, two][:launches], time]
        for start, end, fill in zip(ends, ends[1:], [GRAY, *[ORANGE] * launches, BLUE]):
            if end > start:
                picture.rect(left + scale * start, y, scale * (end - start) - 1, 24, fill)
        picture.text(left + scale * time + 5, y + 17, f"{time:.2f}", size=12, font_weight="bold")
    y = top + 5 * height + 38
    for x, fill, words in ((8, GRAY, "events"), (82, ORANGE, f"launches: {one - events:.2f} and {two - one:.2f}"),
                           (284, BLUE, "the sum")):
        picture.rect(x, y - 10, 12, 12, fill)
        picture.text(x + 17, y, words, size=12)
    picture.soft(8, y + 22, f"Sum: {LAUNCH_ELEMENTS:,} ints, cold. Kernels of 16 blocks.")
    picture.soft(8, y + 38, f"{facts['device'].split(',')[0]}, driver {facts['driver']}, {facts['date'][:10]}, medians")
    return str(picture)


# ---- the landing page: banks ----

BANKS = 32


def draw_banks_of_two_strides(_):
    """The words of a warp's load: side by side, and eight apart. 32 words in a row, as many as there are banks."""
    left, cell, row, top = 52, 10.6, 18, 52
    picture = Picture(360, "Shared memory has 32 banks")
    for stride, color, words in ((1, BLUE, "32 threads load 32 neighboring words: 1 round"),
                                 (8, ORANGE, "32 threads load every eighth word: 8 rounds")):
        picture.text(8, top, words, font_weight="bold")
        for bank in range(0, BANKS, 8):
            picture.text(left + cell * (bank + 0.5), top + 20, f"{bank}" if bank else "bank 0", "middle", 12)
        grid = top + 26
        for bank in range(BANKS + 1):
            picture.line(left + cell * bank, grid, left + cell * bank, grid + row * stride, "#dddddd")
        for thread in range(BANKS):
            word = stride * thread
            x, y = left + cell * (word % BANKS), grid + row * (word // BANKS)
            picture.rect(x + 0.5, y + 1, cell - 1, row - 2, color)
            if stride > 1:
                picture.text(x + cell + 3, y + 13, f"{thread}", size=12)
        for i in range(stride):
            picture.text(8, grid + row * i + 13, f"round {i + 1}", size=12)
        below = grid + row * stride + 16
        picture.soft(left, below, "thread 0, 1, 2, ... 31" if stride == 1 else "beside each word: its thread")
        top = below + 30
    picture.soft(WIDTH / 2, 346, "A bank delivers one word per round: a wavefront.", "middle")
    return str(picture)


# ---- the clock ----

def error_group(row):
    """Which row of the picture an estimate belongs to."""
    number = row["program"].removeprefix("lesson")
    if row["program"] == "ladder":
        return "ladder, blocks of 256" if row["block"] == "256" else "ladder, other blocks"
    return "lessons 16 to 21" if 16 <= int(number) <= 21 else f"lesson {number}"


def draw_clock_errors(folder):
    """A dot for each estimate that was held back. `folder`: with a folder per card."""
    cards = [(read_record(folder / name / "clock.csv"), color) for name, color in
             (("nvidia-h200", BLUE), ("nvidia-h100-80gb-hbm3", ORANGE))]
    held_back = [[(error_group(row), float(row["error_percent"])) for row in rows if row["use"] == "held back"]
                 for (_, rows), _ in cards]
    groups = sorted({group for errors in held_back for group, _ in errors},
                    key=lambda group: (group.startswith("lesson"), group.endswith("other blocks"), group.split()[1]))
    left, right, most, top, height = 150, 376, 50, 74, 24
    bottom, middle = top + height * len(groups), (left + right) / 2
    picture = Picture(bottom + 92, "How far the clock is off")
    picture.soft(8, 44, "error in %; a dot for each kernel, size and block")
    for percent in (-50, -25, -10, 0, 10, 25, 50):
        x = middle + (right - middle) * percent / most
        picture.line(x, top - 8, x, bottom, INK if percent == 0 else "#dddddd")
        picture.text(x, top - 12, f"{percent:+d}" if percent else "0", "middle", 12)
    for line, group in enumerate(groups):
        y = top + height * (line + 0.5)
        picture.text(left - 16, y + 4, group, "end", 12)
        picture.line(left - 10, y + height / 2, right + 10, y + height / 2, "#dddddd")
        for side, errors in zip((-4, 4), held_back):
            color = cards[0 if side < 0 else 1][1]
            of_group = [error for name, error in errors if name == group]
            for error in sorted(set(of_group)):
                picture.dot(middle + (right - middle) * max(-most, min(most, error)) / most, y + side, color)
        if (largest := max(error for errors in held_back for name, error in errors if name == group)) > most:
            picture.text(right - 8, y + 4, f"to {largest:+.0f}", "end", 12)
    for line, (((facts, _), color), errors) in enumerate(zip(cards, held_back)):
        y = bottom + 24 + 20 * line
        off = median(abs(error) for _, error in errors)
        picture.dot(16, y - 4, color, 4)
        picture.text(28, y, f"{facts['device'].split(',')[0]}: {len(errors)} estimates, median {off:.1f} %", size=12)
    picture.soft(8, bottom + 66, "Without the three rows on which constants were fitted,")
    picture.soft(8, bottom + 82, "and without kernels that get no estimate.")
    return str(picture)


# ---- ahead of the libraries ----


def draw_ahead(folder):
    """A dot for each case of each race, by how many times as fast as its rival it is; a bar at the geometric mean."""
    facts, races = read_races(folder)
    left, right, top, height, most = 118, 388, 72, 40, 8
    bottom = top + height * len(races)
    picture = Picture(bottom + 62, "Ours beside the libraries")

    def x(ratio):
        return left + (right - left) * (log2(max(0.5, min(most, ratio))) + 1) / (log2(most) + 1)

    picture.soft(8, 44, "how many times as fast as the rival; a dot for each case")
    for ratio in (0.5, 1, 2, 4, most):
        picture.line(x(ratio), top - 6, x(ratio), bottom, INK if ratio == 1 else "#dddddd")
        picture.text(x(ratio), top - 10, f"{ratio:g}", "middle", 12)
    for line, race in enumerate(races):
        y = top + height * (line + 0.5)
        picture.line(8, y + height / 2, right, y + height / 2, "#dddddd")
        picture.text(8, y - 2, race.what, size=12)
        picture.soft(8, y + 13, race.rival)
        for ratio in sorted(set(race.ratios)):
            picture.dot(x(ratio), y + 4, BLUE, 3)
        picture.rect(x(race.mean) - 1.5, y - 9, 3, 24, ORANGE)
        picture.text(x(race.mean) + (-5 if race.mean < 1 else 5), y - 6, f"{race.mean:.2f}", "end" if race.mean < 1 else "start",
                     12, font_weight="bold")
        if max(race.ratios) > most:
            picture.text(x(most) - 6, y + 18, f"to {max(race.ratios):.0f}", "end", 12)
        if min(race.ratios) < 0.5:
            picture.text(x(0.5) + 6, y + 18, f"from {min(race.ratios):.2f}", size=12)
    picture.soft(8, bottom + 22, "Orange: the geometric mean. Right of 1: faster than the rival.")
    picture.soft(8, bottom + 40, f"{facts['device'].split(',')[0]}, cold L2 cache, {facts['date'][:10]}")
    return str(picture)


PICTURES = {"ahead": draw_ahead, "clock_errors": draw_clock_errors, "ladder_short": draw_ladder_short,
            "index": draw_index, "latency": draw_latency,
            "last_block": draw_last_block, "launch": draw_launch,
            "banks_of_two_strides": draw_banks_of_two_strides,
            **{f"strip_lesson{number}": partial(draw_strip, number) for number in RUNGS},
            **{f"story_reduce{name}": partial(draw_story, count)
               for count, name in enumerate(("0", "0a", *range(1, 9)), 1)}}
