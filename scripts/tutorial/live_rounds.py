"""The figure of a scan in rounds: a toy of three blocks and nine tiles, whose blocks take turns. It follows scan_rounds() of the
lesson's header: a block announces the sum of its next tile, then finishes the current one."""

from tutorial.live import HOLDS, MEMORY, RESTS, WORKS, Live
from tutorial.live_traces import KernelText
from tutorial.pictures import EDGE
from tutorial.svg import INK

SUMS = (3, 1, 7, 4, 1, 6, 2, 5, 3)
BLOCKS = 3
SLOW = {(1, 4): 2}  # (block, tile): so many steps more to add up its elements


def steps():
    """Per step, what each block did: (what, tile), then what is announced and what is finished: {tile: the sum before it}.
    A block sees what was announced before the step."""
    announced, finished = set(), {}
    adding, current = {b: b for b in range(BLOCKS)}, dict.fromkeys(range(BLOCKS))  # the next tile, and the current one
    left = {b: SLOW.get((b, b), 0) for b in range(BLOCKS)}
    while len(finished) < len(SUMS):
        seen, did = set(announced), []
        for block in range(BLOCKS):
            tile = adding[block]
            if tile is not None and tile not in announced:
                if left[block] >= 0:
                    left[block] -= 1
                    did.append(("adds its elements", tile))
                else:
                    announced.add(tile)
                    did.append(("announces", tile))
                    if current[block] is None:
                        current[block], adding[block] = tile, tile + BLOCKS
                        left[block] = SLOW.get((block, tile + BLOCKS), 0)
                        if adding[block] >= len(SUMS):
                            adding[block] = None
                continue
            tile = current[block]
            if tile is None:
                did.append(("done", None))
            elif set(range(tile)) <= seen:
                finished[tile] = sum(SUMS[:tile])
                did.append(("finishes", tile))
                current[block], following = adding[block], tile + 2 * BLOCKS
                adding[block] = following if current[block] is not None and following < len(SUMS) else None
                left[block] = SLOW.get((block, following), 0)
            else:
                did.append(("waits", tile))
        yield did, set(announced), dict(finished)


COLORS = {"adds its elements": HOLDS, "waits": MEMORY, "done": RESTS}  # all else: WORKS


def said(block, what, tile):
    if what == "finishes" and tile > 0:
        between = f"tiles {max(0, tile - BLOCKS + 1)} to {tile - 1}" if tile > 1 else "tile 0"
        known = f" to what it knows up to tile {tile - BLOCKS}" if tile >= BLOCKS else ""
        return f"block {block} adds the sums of {between}{known}, and finishes tile {tile}"
    return f"block {block} {what} tile {tile}" if what != "waits" else f"block {block} waits for a sum before tile {tile}"


def variants(_):
    live = Live("", 0, "Rounds: a toy of nine tiles")
    live.ms = 1900
    text = KernelText("scan_in_rounds")
    live.source = text.part("const int sum = scan_block", "output[i] = sum_before")
    lines = {"adds its elements": text.line("const int sum = scan_block"), "announces": text.line("announce(words"),
             "waits": text.line("before += sum_of_tiles"), "finishes": text.line("output[i] = sum_before")}
    left, pitch, top = 66, 37, 66
    for tile in range(len(SUMS)):
        live.text(left + pitch * tile + 16, 50, str(tile), "middle", 12, font_weight="bold")
        live.text(left + pitch * tile + 16, top + 84, str(tile % BLOCKS), "middle", 12)
    live.soft(left - 8, 50, "tile", "end")
    live.soft(left - 8, top + 84, "block", "end")
    for row, name in enumerate(("sum", "before it")):
        live.soft(left - 8, top + 36 * row + 19, name, "end")
    chart, every = top + 140, list(steps())
    live.text(8, chart - 14, "step by step, a row for each block", size=13, font_weight="bold")
    wide = min(34, 328 / len(every))
    for block in range(BLOCKS):
        live.soft(left - 8, chart + 24 * block + 16, f"block {block}", "end")
    for number, (did, announced, finished) in enumerate(every):
        words = [said(block, what, tile) for block, (what, tile) in enumerate(did) if what not in ("done", "adds its elements")]
        live.frame(f"step {number + 1}: {'; '.join(words) or 'all blocks add up elements'}.",
                   *sorted({lines[what] for what, _ in did if what in lines}))
        with live.during(number, number if number < len(every) - 1 else None):
            for tile, own in enumerate(SUMS):
                x = left + pitch * tile
                live.field(x, top, 32, 28, HOLDS if tile in announced else RESTS, str(own) if tile in announced else "", 14,
                           font_weight="bold")
                live.field(x, top + 36, 32, 28, HOLDS if tile in finished else RESTS,
                           str(finished[tile]) if tile in finished else "", 14)
            for what, tile in did:
                if what == "finishes":  # from the tiles whose sums it adds
                    first, y = max(0, tile - BLOCKS + 1), top + 94
                    if first < tile:
                        live.line(left + pitch * first, y, left + pitch * tile - 6, y, WORKS)
                    live.dot(left + pitch * tile + 16, y, EDGE, 3)
        with live.during(number):
            for block, (what, _) in enumerate(did):
                live.rect(left + wide * number, chart + 24 * block, wide - 2, 22, COLORS.get(what, WORKS))
    live.line(left - 2, chart - 4, left - 2, chart + 24 * BLOCKS, INK)
    y = chart + 24 * BLOCKS + 22
    for x, fill, words in ((8, HOLDS, "adds up elements"), (134, WORKS, "announces or finishes"), (290, MEMORY, "waits")):
        live.rect(x, y - 10, 12, 12, fill)
        live.text(x + 17, y, words, size=12)
    live.soft(8, y + 20, "A toy: blocks take turns. Block 1 is slow at tile 4.")
    live.height = y + 30
    return [live]
