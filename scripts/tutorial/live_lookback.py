"""The figure of the look-back in a scan: a toy of six tiles whose blocks take turns. It follows look_back() of the lesson."""

from tutorial.live import HOLDS, MEMORY, RESTS, WORKS, Live
from tutorial.live_traces import KernelText
from tutorial.pictures import EDGE
from tutorial.svg import INK

SUMS = (3, 1, 7, 4, 1, 6)
READY = (2, 1, 0, 1, 3, 2)  # the round in which a block has its tile's sum


def rounds():
    """Per round, what each block did: (what, the tile that it looked at or None), and what is published after it.
    A block sees what was published before the round."""
    sums, prefixes = {}, {}
    looks_at = [tile - 1 for tile in range(len(SUMS))]
    before = [0] * len(SUMS)
    number = 0
    while len(prefixes) < len(SUMS):
        seen_sums, seen_prefixes = dict(sums), dict(prefixes)
        did = []
        for tile, own in enumerate(SUMS):
            looked = looks_at[tile]
            if tile in prefixes:
                did.append(("done", None))
            elif number < READY[tile]:
                did.append(("adds its elements", None))
            elif tile == 0 or looked is None:
                prefixes[tile] = before[tile] + own
                did.append(("publishes its prefix", None))
            elif tile not in seen_sums:
                sums[tile] = own
                did.append(("publishes its sum", None))
            elif looked in seen_prefixes:
                before[tile] += seen_prefixes[looked]
                looks_at[tile] = None
                did.append(("takes the prefix", looked))
            elif looked in seen_sums:
                before[tile] += seen_sums[looked]
                looks_at[tile] = looked - 1
                did.append(("adds the sum", looked))
            else:
                did.append(("waits", looked))
        yield did, dict(sums), dict(prefixes)
        number += 1


COLORS = {"adds its elements": HOLDS, "waits": MEMORY, "done": RESTS}  # all else: WORKS


def variants(_):
    live = Live("", 0, "Look-back: a toy of six tiles")
    live.ms = 1900
    text = KernelText("scan_lookback")
    text.head, text.end = 0, len(text.lines) - 1  # its functions stand before it
    live.source = text.part("__device__ int look_back", "sum += tiles.sums")
    lines = {"waits": text.line("status = status_of"), "adds the sum": text.line("sum += tiles.sums"),
             "takes the prefix": text.line("return sum + tiles.prefixes")}
    left, pitch, top, small = 70, 54, 66, 34
    for tile in range(len(SUMS)):
        live.text(left + pitch * tile + 22, 50, f"tile {tile}", "middle", 12, font_weight="bold")
    for row, name in enumerate(("sum", "prefix")):
        live.soft(left - 8, top + 40 * row + 20, name, "end")
    live.soft(left - 8, top + 112, "looks at", "end")
    chart, all_rounds = top + 176, list(rounds())
    live.text(8, chart - 14, "round by round, a row for each tile's block", size=13, font_weight="bold")
    wide = min(small, 320 / len(all_rounds))
    for tile in range(len(SUMS)):
        live.soft(left - 8, chart + 22 * tile + 15, f"tile {tile}", "end")
    for number, (did, sums, prefixes) in enumerate(all_rounds):
        said = [f"tile {tile} {what}" + (f" of tile {looked}" if looked is not None and what != "waits" else
                                         f" for tile {looked}" if looked is not None else "")
                for tile, (what, looked) in enumerate(did) if what not in ("done", "adds its elements")]
        live.frame(f"round {number + 1}: {'; '.join(said) or 'all blocks add their elements'}.",
                   *sorted({lines[what] for what, _ in did if what in lines}))
        with live.during(number, number if number < len(all_rounds) - 1 else None):
            for tile in range(len(SUMS)):
                x = left + pitch * tile
                for row, values in enumerate((sums, prefixes)):
                    live.field(x, top + 40 * row, 44, 30, HOLDS if tile in values else RESTS,
                               str(values[tile]) if tile in values else "", 15, font_weight="bold")
            for tile, (_, looked) in enumerate(did):
                if looked is None:
                    continue
                x, to = left + pitch * tile + 22, left + pitch * looked + 22
                y = top + 92 + 6 * tile
                live.line(x, y, to, y, WORKS)
                live.path(f"M{to} {y}l8 -4v8z", WORKS)
                live.dot(x, y, EDGE, 3)
        with live.during(number):
            for tile, (what, _) in enumerate(did):
                live.rect(left + wide * number, chart + 22 * tile, wide - 2, 20, COLORS.get(what, WORKS))
    live.line(left - 2, chart - 4, left - 2, chart + 22 * len(SUMS), INK)
    y = chart + 22 * len(SUMS) + 22
    for x, fill, words in ((8, HOLDS, "adds its elements"), (140, WORKS, "publishes or reads"), (282, MEMORY, "waits")):
        live.rect(x, y - 10, 12, 12, fill)
        live.text(x + 17, y, words, size=12)
    live.soft(8, y + 20, "A toy: blocks take turns, and each round is one step of each.")
    live.height = y + 30
    return [live]
