// "Warps 1, 4 to 7 wait at the barrier of line 22." `waiting`: [[warp, lanes, line]]
function waitsOf(waiting) {
    const warps = new Map(); // by the barrier's line, as ranges
    for (const [warp, , line] of [...waiting].sort(([a], [b]) => a - b)) {
        const ranges = warps.get(line) ?? [], last = ranges.at(-1);
        if (last && warp <= last[1] + 1) last[1] = warp;
        else ranges.push([warp, warp]);
        warps.set(line, ranges);
    }
    return [...warps].map(([line, ranges]) => {
        const named = ranges.map(([first, last]) => first === last ? first : `${first} to ${last}`).join(", ");
        const many = ranges.length > 1 || ranges[0][0] < ranges[0][1];
        return ` ${many ? "Warps" : "Warp"} ${named} ${many ? "wait" : "waits"} at the barrier of line ${line}.`;
    }).join("");
}

// What the first block wrote to shared memory, step by step. A step is what all warps did at one instruction.
class Steps {
    constructor(opened) {
        this.status = make("p", {role: "status"});
        this.code = make("code");
        this.slider = make("input", {type: "range", min: 1, step: 1, "aria-label": "step"});
        this.slider.addEventListener("input", () => goBy(0));
        const button = (words, act) => {
            const made = make("button", {type: "button"}, words);
            made.addEventListener("click", act);
            return made;
        };
        const goBy = count => {
            this.pause();
            this.go(Number(this.slider.value) + count);
        };
        this.playing = null; // the timer, while it plays
        this.play = button("▶ Play", () => this.playing ? this.pause() : this.start());
        this.words = make("pre", {tabindex: 0, role: "region", "aria-label": "Words of shared memory"});
        this.lanes = make("pre", {tabindex: 0, role: "region", "aria-label": "Lanes"});
        this.element = make("details", {class: "steps", hidden: true}, make("summary", {}, "Step through"),
            make("div", {class: "walk"}, button("← Back", () => goBy(-1)), this.play, this.slider,
                button("Forward →", () => goBy(1))), this.status, make("p", {class: "line"}, this.code),
            make("p", {}, "Shared memory, a column for each bank:"), this.words,
            make("p", {}, "Lanes, a row for each warp (█ active, ░ waiting at a barrier):"), this.lanes);
        this.element.addEventListener("toggle", () => { if (this.element.open) opened(); });
    }

    go(step) {
        this.slider.value = step;
        this.show();
    }

    // From where it stands, or from the begin if that is the end.
    start() {
        if (this.slider.value === this.slider.max) this.go(1);
        this.play.textContent = "‖ Pause";
        this.playing = setInterval(() => {
            this.go(Number(this.slider.value) + 1);
            if (this.slider.value === this.slider.max) this.pause();
        }, 800);
    }

    pause() {
        clearInterval(this.playing);
        this.playing = null;
        this.play.textContent = "▶ Play";
    }

    // `source`: (file, line) => its text
    set(steps, leftOut, source) {
        this.pause();
        Object.assign(this, {steps, leftOut, source});
        this.slider.max = Math.max(1, steps.length);
        if (steps.length) this.show();
    }

    show() {
        const number = Number(this.slider.value), step = this.steps[number - 1];
        const warps = step.active.filter(mask => mask !== 0).length;
        const waiting = step.active.map((_, warp) => step.waiting.reduce((all, [who, lanes]) => who === warp ? all | lanes : all, 0));
        const lanes = step.active.map((mask, warp) => [...Array(32).keys()].map(
            lane => mask >>> lane & 1 ? "█" : waiting[warp] >>> lane & 1 ? "░" : "·").join(""));
        const count = lanes.join("").split("█").length - 1;
        const all = `${this.leftOut ? "the first " : ""}${shown(this.steps.length)}`;
        this.status.textContent = `Step ${number} of ${all}: ${step.what} at ${fileName(step.file)}:${step.line}, after `
            + `${counted(step.barriers, "barrier")}. ${counted(count, "lane")} of ${counted(warps, "warp")}.`
            + waitsOf(step.waiting);
        this.code.textContent = this.source(step.file, step.line).trim();
        this.slider.setAttribute("aria-valuetext", this.status.textContent);
        this.lanes.textContent = lanes.map((row, warp) => `warp ${String(warp).padStart(2)}  ${row}`).join("\n");
        const values = new Map(this.steps.slice(0, number).flatMap(one => one.writes)), written = new Map(step.writes);
        const width = Math.max(2, ...this.steps.flatMap(one => one.writes).map(([, value]) => String(value).length));
        const size = 1 + Math.max(0, ...this.steps.flatMap(one => one.writes).map(([word]) => word));
        this.words.style.setProperty("--letters", 32 * (width + 1)); // of a line: all banks are on the screen
        this.words.replaceChildren();
        for (let word = 0; word < size; ++word) {
            const text = String(values.get(word) ?? "·").padStart(width);
            this.words.append(written.has(word) ? make("mark", {}, text) : text, word % 32 === 31 ? "\n" : " ");
        }
    }
}
