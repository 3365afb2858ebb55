// The verdict on an exercise, step by step as the server tells it.
import {button, make, shown} from "./html.js";

function withLines(text, file, goTo) {
    const name = file.slice(file.lastIndexOf("/") + 1);
    return text.split(new RegExp(`(\\S*\\b${name.replace(".", "\\.")}:\\d+)`)).map((part, k) => k % 2
        ? button(part, () => goTo(Number(part.split(":")[1])), {class: "link"}) : part);
}

export class Verdict {
    constructor() {
        this.list = make("ol", {class: "steps-of-check"});
        this.end = make("p", {class: "end"});
        this.element = make("div", {class: "verdict", role: "log", "aria-label": "Verdict", "aria-live": "polite"}, this.list, this.end);
    }

    clear() {
        this.list.replaceChildren();
        this.end.replaceChildren();
    }

    // Words of it such as exercise.cuh:21 lead to the line: `goTo` is called with it.
    step({step, passed, what}, file, goTo) {
        const text = what.join("\n"), head = make("b", {}, make("span", {"aria-hidden": "true"}, passed ? "✓ " : "✗ "), step);
        const words = step === "compiles" && !passed ? make("pre", {tabindex: 0}, text)
            : make("span", {class: "lines"}, ...withLines(text, file, goTo));
        this.list.append(make("li", {class: passed ? "passed" : "failed"}, head, words));
    }

    // `kernels`: those of the exercise; `next`: where the next task is, or null; `hint` asks for the next hint.
    finish({solved, score, marks = {}, sound, again, stopped}, {counter, kernels, next, hint}) {
        const parts = [];
        if (score !== null && score !== undefined) {
            const others = Object.entries(marks).map(([kernel, count]) => `${kernels.includes(kernel) ? "ours" : kernel} ${shown(count)}`);
            parts.push(`${counter ?? "score"}: yours ${shown(score)}; ${others.join(", ")}. `);
        }
        if (solved) {
            parts.push(next ? make("a", {href: next.page}, `Next: exercise ${next.number}, ${next.title}`)
                : "That was the last one.");
        } else {
            if (stopped) parts.push(`${stopped}. `);
            if (sound && sound.length) parts.push(`Right and clean so far: ${sound.join(", ")}. `);
            parts.push(button("Show a hint", hint, {class: "link"}));
            if (again) this.list.append(make("li", {class: "again"}, "The same case again, in a terminal:", make("pre", {tabindex: 0}, again)));
        }
        this.end.replaceChildren(...parts);
    }
}
