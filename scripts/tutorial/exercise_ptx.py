"""What the check of an exercise reads from a solution's PTX, and inserts into it."""

import random
import re

# Traffic that the goals' counters do not count: its name, and its instructions. An H200 counts it elsewhere, as bulk
# copies, or not at all, if it goes to a thread block's own shared memory another way.
UNCOUNTED = {
    "bulk copies": r"cp\.(?:reduce\.)?async\.bulk\b",
    "distributed shared memory": r"mapa\b|(?:ld|st|atom|red)[\w.:]*\.(?:async|shared::cluster)\b",
    "local memory": r"ld\.(?:\w+\.)*local\b",
}

FUNCTION = re.compile(r"^(?!\.extern)(?:\.\w+ )*\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+).*?^\}", re.MULTILINE | re.DOTALL)


def uncounted(ptx, kernels, allowed):
    """[(what, the instruction)] of the traffic that no counter of a goal counts, in these kernels and in all functions.
    `kernels`: (their mangled names hold these) names; `allowed`: those of UNCOUNTED that the exercise is about."""
    found = []
    for function in FUNCTION.finditer(ptx):
        kind, name = function.groups()
        if kind == "entry" and not any(f"{len(kernel)}{kernel}" in name for kernel in kernels):
            continue
        for what, instructions in UNCOUNTED.items():
            made = re.search(rf"^\s*(?:@!?%\w+\s+)?((?:{instructions})[\w.:]*)", function.group(), re.MULTILINE)
            if made and what not in allowed and what not in dict(found):
                found.append((what, made.group(1)))
    return found


# ---- numbers that no kernel can know ----

STORE = re.compile(r"^([ \t]*)(@!?%\w+[ \t]+)?((?:st|atom|red|cp)\.[\w.:]+)[ \t]+(.*);[ \t]*$", re.MULTILINE)
PLAIN = re.compile(r"st(?:\.weak|\.volatile|\.relaxed\.\w+)?\.(shared|global)(?:::cta)?\.[usb]32")
LOWEST = 1023  # bits of a thread's number: a block has at most 1,024
NOBODY = -1  # the stored value for a number that does not come from shared memory


class CannotFollow(Exception):
    """An instruction that writes memory but is not a plain store of an int."""


def with_unknown_numbers(ptx, seed):
    """The PTX, so that each number that is stored in shared memory carries a tag which the storing thread's number and
    `seed` make; and each number that is stored in global memory loses it, if it has the tag of the thread whose number
    it is. So a kernel is right only if its threads' numbers come to each other through shared memory.
    Raises CannotFollow."""
    numbers = random.Random(seed)
    odd, key, other = (signed(numbers.randrange(2**32) | 1) for _ in range(3))

    def tag(number, to):
        """Its lowest ten bits are 0, to leave room for the number."""
        return [f"mul.lo.s32 {to}, {number}, {odd};", f"xor.b32 {to}, {to}, {key};", f"mul.lo.s32 {to}, {to}, {other};",
                f"and.b32 {to}, {to}, {~LOWEST};"]

    def follow(store):
        indent, guard, opcode, operands = store.groups()
        if ".local" in opcode or ".param" in opcode:
            return store.group()
        plain = PLAIN.fullmatch(opcode)
        address, value = re.fullmatch(r"(\[[^]]*\]),[ \t]*(.*)", operands).groups() if plain else ("", "")
        if not plain:
            raise CannotFollow(opcode)
        lines = [f"mov.b32 %seen2, {value};"]
        if plain.group(1) == "shared":
            lines += ["mov.u32 %seen0, %tid.x;", "mov.u32 %seen1, %tid.y;", "mov.u32 %seen3, %ntid.x;",
                      "mad.lo.s32 %seen0, %seen1, %seen3, %seen0;", *tag("%seen0", "%seen1"),
                      "add.s32 %seen2, %seen2, %seen1;"]
        else:
            lines += [f"and.b32 %seen0, %seen2, {LOWEST};", *tag("%seen0", "%seen1"), "add.s32 %seen1, %seen1, %seen0;",
                      "setp.eq.s32 %seen4, %seen1, %seen2;", f"selp.b32 %seen2, %seen0, {NOBODY}, %seen4;"]
        lines += [f"{guard or ''}{opcode} {address}, %seen2;"]
        return f"{indent}{{ .reg .b32 %seen<4>; .reg .pred %seen4; {' '.join(lines)} }}"

    return STORE.sub(follow, ptx)


def signed(bits):
    return bits - 2**32 if bits >= 2**31 else bits
