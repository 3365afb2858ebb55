"""The figure of a multiprocessor's timeline: what each of its warps does or waits for, estimated by the clock."""

from collections import Counter

from tutorial.live import BARRIER, MEMORY, PIPE, RESTS, STARTS, WORKS, Live
from tutorial.live_floors import launches_of
from tutorial.pictures import LADDER_ELEMENTS
from tutorial.svg import INK

RUNGS = ("reduce0", "reduce1", "reduce2", "reduce4", "reduce6", "reduce8")
# What warps do or wait for, with the profiler's reasons in it.
GROUPS = {
    "execute": (WORKS, "selected", "not_selected", "wait", "branch_resolving", "math_pipe_throttle", "dispatch_stall"),
    "wait for memory": (MEMORY, "long_scoreboard"),
    "wait for shared memory": (PIPE, "short_scoreboard", "mio_throttle"),
    "wait at a barrier": (BARRIER, "barrier"),
    "wait for constants": ("#4f7fd1", "imc_miss"),
    "wait for stores": (STARTS, "lg_throttle", "drain", "membar"),
}
GROUP_OF = {reason: group for group, (_, *reasons) in GROUPS.items() for reason in reasons}
LEFT, WIDTH, TOP, ROW = 52, 340, 74, 4.6
STRIPES, FRAMES = 100, 50


def groups_of(warps, cycles):
    """For each stripe of a row the group in which its warps are for longest; None: there is no warp."""
    per_stripe = cycles / STRIPES
    spent = [Counter() for _ in range(STRIPES)]
    for warp in warps:
        for reason, start, end in warp["runs"]:
            for stripe in range(int(start / per_stripe), min(STRIPES, int(end / per_stripe) + 1)):
                inside = min(end, (stripe + 1) * per_stripe) - max(start, stripe * per_stripe)
                if inside > 0:
                    spent[stripe][GROUP_OF[reason]] += inside
    return [each.most_common(1)[0][0] if each.total() > per_stripe / 2 else None for each in spent]


def state_at(warps, cycle):
    """The reason of the warp that is there; None: none is."""
    for warp in warps:
        for reason, start, end in warp["runs"]:
            if start <= cycle < end:
                return reason
    return None


def draw(kernel, launch):
    timeline = launch["timeline"]
    cycles, rows = timeline["cycles"], {}
    for warp in timeline["warps"]:
        rows.setdefault((warp["place"], warp["warp"]), []).append(warp)
    live = Live(kernel, 0, f"{kernel}: the {len(rows)} warps of a multiprocessor")
    live.ms, live.drag, live.still = 160, [LEFT, LEFT + WIDTH], FRAMES // 2
    bottom = TOP + ROW * len(rows)
    live.text(LEFT - 6, TOP - 22, "cycle", "end", 12)
    for cycle in range(0, int(cycles) + 1, 1000):
        x = LEFT + WIDTH * cycle / cycles
        live.text(x, TOP - 22, f"{cycle:,}", "middle" if x < 380 else "end", 12)
    live.rect(LEFT, TOP, WIDTH, bottom - TOP, RESTS)
    letters = dict(zip(GROUPS, "abcdef", strict=True))
    striped = [groups_of(rows[key], cycles) for key in sorted(rows)]
    live.rows((LEFT, TOP, WIDTH / STRIPES, ROW, 0, 0.9), {letters[group]: GROUPS[group][0] for group in GROUPS},
                              ["".join(letters.get(group, " ") for group in row) for row in striped])
    for place in sorted({place for place, _ in rows}):
        of_place = [key for key in sorted(rows) if key[0] == place]
        y = TOP + ROW * sorted(rows).index(of_place[0])
        live.soft(LEFT - 6, y + ROW * len(of_place) / 2 + 4, f"slot {place}", "end")
        if place:
            live.line(LEFT - 44, y, LEFT + WIDTH, y, "#dddddd")
    first = rows[min(rows)]
    with live.moving(WIDTH / FRAMES):
        live.line(LEFT, TOP - 14, LEFT, bottom + 6, INK)
        live.path(f"M{LEFT - 5} {TOP - 16}h10l-5 8z", INK)
    for number in range(FRAMES + 1):
        cycle = min(cycles * number / FRAMES, cycles - 1)
        states = [state_at(warps, cycle) for warps in rows.values()]
        counts = Counter(GROUP_OF[state] for state in states if state)
        words = ", ".join(f"{count} {'warps ' * (not k)}{group}" for k, (group, count) in enumerate(counts.most_common()))
        own = state_at(first, cycle)
        live.frame(f"cycle {cycle:,.0f}: {words or 'no warp is here'}. "
                   + (f"Warp 0 of slot 0: {GROUP_OF[own]}." if own else "Slot 0 is empty."))
    y, x = bottom + 26, 8
    shares = Counter()
    for warps in rows.values():
        for warp in warps:
            for reason, start, end in warp["runs"]:
                shares[GROUP_OF[reason]] += end - start
    for group in [group for group in GROUPS if any(group in row for row in striped)] + ["no warp"]:
        words = group if group == "no warp" else f"{group} {100 * shares[group] / shares.total():.0f} %"
        if x + 30 + 7 * len(words) > 400:
            x, y = 8, y + 20
        live.rect(x, y - 10, 12, 12, GROUPS[group][0] if group in GROUPS else RESTS)
        live.text(x + 17, y, words, size=12)
        x += 34 + 6.4 * len(words)
    live.soft(8, y + 22, f"A model of an {launch['card']}, not measured; {LADDER_ELEMENTS:,} ints.")
    live.soft(8, y + 38, f"{cycles:,.0f} cycles. A slot: one block at a time, a row per warp.")
    live.soft(8, y + 54, "Constants: arguments, fetched once per multiprocessor.")
    live.soft(8, y + 70, "Shared memory: also threadIdx, which each warp fetches first.")
    live.height = y + 80
    return live


def variants(emulate):
    launches = launches_of(emulate)
    return [draw(kernel, launches[kernel]) for kernel in RUNGS]
