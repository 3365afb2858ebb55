// The editor of a document with its buttons, and below it what they show.
import {ask, lines} from "./api.js";
import {button, counted, make, volume, withCode} from "./html.js";
import {Text} from "./text.js";
import {timesShown} from "./times.js";
import {Verdict} from "./verdict.js";

export class Editor {
    // `about`: what the server says of itself; `panel`: the name of the panel that runs its kernels.
    constructor(name, about, panel) {
        Object.assign(this, {name, about});
        const isExercise = name.startsWith("exercise");
        this.state = make("span", {class: "state", role: "status"});
        this.path = make("span", {class: "path"});
        this.text = new Text(name, about.name, {say: words => { this.state.textContent = words; }, chosen: () => this.say(""),
            run: () => this.buttons.run.click(), check: () => this.buttons.check?.click()});
        this.buttons = {run: this.action("Run", signal => this.run(signal), "Control+Enter"),
                        time: this.action("Time", signal => this.time(signal)),
                        ...isExercise && {check: this.action("Check", signal => this.check(signal), "Control+Shift+Enter"),
                                          hint: this.action("Hint", signal => this.hint(signal))},
                        reset: this.action("Reset", signal => this.reset(signal))};
        this.card = make("select", {"aria-label": "Time it on this card"},
            ...about.cards.toReversed().map(card => make("option", {value: card}, card.toUpperCase())));
        this.words = make("input", {type: "text", autocomplete: "off", spellcheck: "false"});
        this.given = make("label", {class: "arguments"}, `${this.argumentsOf} `, this.words);
        this.status = make("p", {class: "status", role: "status"});
        this.messages = make("ul", {class: "messages"});
        this.verdict = new Verdict();
        this.hints = make("div", {class: "hints", "aria-live": "polite"});
        this.times = make("section", {class: "times", "aria-label": "Estimated time"});
        this.panel = make("details", {class: "playground", hidden: true, "data-lesson": panel,
                                      "data-scripts": `playground/engine.js playground/${panel}.js`},
            make("summary", {}, "What your kernel counts"));
        const {run, time, ...others} = this.buttons;
        this.element = make("section", {class: "editor", "aria-label": name}, make("div", {class: "head"}, this.path, this.state),
            this.text.conflict, this.text.element,
            make("div", {class: "buttons"}, run, make("span", {class: "timed"}, time, this.card), ...Object.values(others),
                this.given),
            this.status, this.messages, this.verdict.element, this.hints, this.times, this.panel);
    }

    async open() {
        try {
            await this.text.open();
            this.path.textContent = this.text.file;
            this.element.setAttribute("aria-label", this.text.title);
            this.words.placeholder = this.text.usual;
            await this.showRemembered();
        } catch (error) {
            this.say(error.message, true);
        }
    }

    get heading() { return "Your kernel"; }

    // Whose are the words in its field.
    get argumentsOf() { return "Time with"; }

    get arguments() { return {arguments: this.words.value.split(/\s+/).filter(Boolean)}; }

    // The verdict and the hints that are shown, for a reload of this tab.
    get remembered() {
        try {
            return JSON.parse(sessionStorage.getItem(this.text.key)) ?? {};
        } catch {
            return {};
        }
    }

    remember(more) {
        try {
            sessionStorage.setItem(this.text.key, JSON.stringify({...this.remembered, ...more}));
        } catch { /* then not */ }
    }

    // The verdict is shown again if it is about the text that is here now.
    async showRemembered() {
        const {verdict = [], hints = []} = this.remembered;
        hints.forEach(hint => this.showHint(hint));
        if (verdict.at(-1)?.version === this.text.version && !this.text.isDirty)
            for (const answer of verdict) await this.showVerdict(answer);
    }

    say(words, isWrong = false) {
        this.status.textContent = words;
        this.status.classList.toggle("wrong", isWrong);
    }

    // A button that starts something, and stops it while it runs. What is begun ends what was begun before.
    action(words, act, keys) {
        const made = button(words, async () => {
            const wasRunning = made.textContent === "Stop";
            this.control?.abort();
            if (wasRunning || !this.text.editor) return;
            const control = this.control = new AbortController();
            const patience = setTimeout(() => { made.textContent = "Stop"; }, 300); // or a double click would stop it
            this.element.setAttribute("aria-busy", "true");
            try {
                await act(control.signal);
            } catch (error) {
                const isStopped = error.name === "AbortError" || error.message === "stopped";
                if (this.control === control) this.say(isStopped ? "Stopped." : error.message, !isStopped);
            }
            clearTimeout(patience);
            made.textContent = words;
            if (this.control === control) this.element.setAttribute("aria-busy", "false");
        }, keys && {"aria-keyshortcuts": keys, title: keys.replace("Control", "Ctrl").replaceAll("+", " + ")});
        return made;
    }

    async post(path, more, signal) {
        return this.text.watched(ask("POST", path, {...await this.text.settled(), ...more}, signal));
    }

    // Shows what the compiler says. Whether it has compiled.
    compiled({messages, said, ptx, compiled = Boolean(ptx), stopped, trouble}) {
        this.text.showMessages(messages);
        const links = messages.map(({line, column, severity, text}) => make("li", {class: severity},
            ...line ? [button(`line ${line}`, () => this.text.goTo(line, column), {class: "link"}), ": "] : [], severity === "error" ? text : `${severity}: ${text}`));
        const bare = !compiled && !messages.length && said ? [make("li", {}, make("pre", {tabindex: 0}, said))] : [];
        this.messages.replaceChildren(...links, ...bare);
        if (stopped ?? trouble) this.say(stopped ? `The run ${stopped}.` : trouble, true);
        else if (!compiled) {
            const errors = messages.filter(one => one.severity === "error"), others = messages.length - errors.length;
            const first = errors[0]?.line ? `, the first in line ${errors[0].line}` : "";
            this.say(`It does not compile: ${counted(Math.max(1, errors.length), "error")}${first}`
                + `${others ? `; ${counted(others, "warning")}` : ""}.`, true);
        }
        return compiled && !stopped && !trouble;
    }

    // What earlier presses of buttons have shown. Hints stay, and so does a panel of the page itself.
    clear() {
        this.text.clearMessages();
        this.verdict.clear();
        for (const one of [this.messages, this.times]) one.replaceChildren();
        if (this.element.contains(this.panel)) this.panel.open = false;
    }

    // ---- the buttons ----

    async run(signal) {
        this.clear();
        this.say("Compiling …");
        const loaded = window.playgroundPanel?.of(this.panel); // meanwhile
        const answer = await this.post("run", {}, signal);
        if (!this.compiled(answer)) return;
        if (!loaded) throw new Error("It compiles. To run it in the page: make playground, and then make docs.");
        await this.ran(answer, await loaded, signal);
    }

    async ran({ptx, seconds}, panel, signal) {
        signal.addEventListener("abort", () => panel.engine?.stop());
        this.panel.hidden = false;
        this.panel.open = true;
        this.say("Running …");
        const why = await panel.runOwn({ptx, kernels: this.text.kernels, changed: this.text.changedKernel(),
                                        sources: this.sourcesOf(ptx)});
        this.say(`Compiled in ${seconds.toFixed(1)} s. ${why || "What it counts is below."}`);
    }

    // The editor's text under the path that the PTX has for it: a scratch copy of a lesson's kernels stands for the lesson's.
    sourcesOf(ptx) {
        const name = this.text.file.slice(this.text.file.lastIndexOf("/"));
        const paths = [...ptx.matchAll(/^\s*\.file\s+\d+\s+"([^"]+)"/gm)].map(([, path]) => path);
        const own = paths.filter(path => path === this.text.file || (path.endsWith(name) && path.includes(`/${this.name}_`)));
        return Object.fromEntries(own.map(path => [path, this.text.saved]));
    }

    async time(signal) {
        this.clear();
        this.say("Compiling, and estimating its time …");
        const answer = await this.post("time", {card: this.card.value, ...this.arguments}, signal);
        if (!this.compiled(answer)) return;
        this.times.replaceChildren(...await timesShown(answer));
        const {launches, wrong} = answer;
        this.say(!launches.length ? "There is no estimate." : wrong || "The estimate is below.", !launches.length || Boolean(wrong));
    }

    async check(signal) {
        this.clear();
        this.remember({verdict: []});
        this.say("Checking …");
        const asked = lines("check", await this.text.settled(), signal), verdict = [];
        for await (const answer of this.watchedLines(asked)) {
            if (answer.error) throw new Error(answer.error);
            if (answer.building) this.say(`Building ${answer.building}, which the check runs …`);
            else if (answer.queue) this.say(`${counted(answer.queue, "other")} before you: about ${answer.seconds} s.`);
            else {
                verdict.push(answer);
                await this.showVerdict(answer);
            }
        }
        this.remember({verdict});
        this.verdict.element.scrollIntoView({block: "nearest"});
    }

    // A line of a check: of a step, or the last one.
    async showVerdict(answer) {
        if (!answer.step) return this.judged(answer);
        this.say("Checking …");
        this.verdict.step(answer, this.text.file, line => this.text.goTo(line));
        if (answer.messages) this.text.showMessages(answer.messages);
    }

    async* watchedLines(asked) {
        for (;;) {
            const {value, done} = await this.text.watched(asked.next());
            if (done) return;
            yield value;
        }
    }

    async judged(answer) {
        const board = await ask("GET", "exercises");
        const next = board.exercises.find(one => one.number === board.next);
        this.verdict.finish(answer, {counter: board.golf?.counter, kernels: this.text.kernels, next,
                                     hint: () => this.buttons.hint.click()});
        this.say(answer.solved ? "Solved." : "Not solved yet.", !answer.solved);
        document.dispatchEvent(new CustomEvent("workbench-progress", {detail: board}));
    }

    async hint(signal) {
        const answer = await ask("POST", "hint", {name: this.name}, signal);
        const {number, of} = answer;
        if (number === of && this.hints.querySelector(`.hint-${of}`)) this.say("These are all hints. They are below.");
        this.showHint(answer);
        this.remember({hints: [...this.remembered.hints ?? [], answer]});
    }

    showHint({hint, number, of}) {
        const id = `hint-${number}`;
        this.hints.querySelector(`.${id}`)?.remove();
        this.hints.append(make("div", {class: id}, make("h4", {}, `Hint ${number} of ${of}`),
            ...hint.split(/\n\n+/).map(paragraph => make("p", {}, ...withCode(paragraph.replaceAll("\n", " "))))));
    }

    async reset(signal) {
        await this.text.save();
        const {text, version, kept} = await ask("POST", `documents/${this.name}/reset`, {}, signal);
        this.clear();
        this.hints.replaceChildren();
        this.remember({verdict: [], hints: []});
        this.text.replace(text, version);
        if (this.panel.panel?.own?.value) await this.panel.panel.runOwn({ptx: "", kernels: [], sources: {}});
        this.say(`This is the original again.${kept ? ` Yours is kept as ${kept}.` : ""} Undo brings yours back.`);
    }
}

// A program of the reader's, or a kernel without a main: then the panel asks for its arguments.
export class OwnEditor extends Editor {
    constructor(about) {
        super("own", about, "emulate");
        this.panel.querySelector("summary").textContent = "Launch your kernel";
        this.output = make("section", {class: "output", "aria-label": "What it printed"});
        this.buttons.run.after(this.given);
        this.times.before(this.output);
    }

    get heading() { return "Your program"; }

    get argumentsOf() { return "Arguments"; }

    async run(signal) {
        this.clear();
        this.output.replaceChildren();
        this.panel.hidden = true;
        this.say("Compiling, and running it …");
        const loaded = window.playgroundPanel?.of(this.panel);
        const answer = await this.post("run", this.arguments, signal);
        if (!this.compiled(answer)) return;
        if (answer.ptx?.includes(".entry") === false)
            throw new Error("It compiles, but it has no kernel: write a __global__ function, or a main() that launches one.");
        if (answer.status === null || answer.status === undefined) await this.ran(answer, await loaded, signal);
        else this.printed(answer);
    }

    printed({status, output, counters, page, reason, seconds}) {
        const launches = counters.map(({name, kernel, grid, block, error, counters: counts = {}}) => make("li", {},
            make("code", {}, kernel ?? name), `: ${counted(volume(grid), "block")} of ${counted(volume(block), "thread")}, `
                + (error ? "failed" : counted(counts["smsp__inst_executed.sum"] ?? 0, "warp instruction"))));
        const links = page ? [make("p", {}, make("a", {href: page, target: "_blank"}, "Open its launches"),
            ": every counter, line by line. ", make("a", {href: page, download: "launches.html"}, "Save that page"),
            " to share it: it holds all that it needs.")] : reason ? [make("p", {}, reason)] : [];
        this.output.replaceChildren(make("h4", {}, `What it printed, exit status ${status}`),
            make("pre", {tabindex: 0}, output || "nothing"), ...launches.length ? [make("ul", {}, ...launches)] : [], ...links);
        const failed = counters.filter(one => one.error).length;
        const launched = counters.length === 1 ? "1 launch" : `${counters.length} launches`;
        this.say(`It ran: exit status ${status}, ${launched}${failed ? `, of which ${failed} failed` : ""}, `
            + `${seconds.toFixed(1)} s with the compiler.`, status !== 0 || failed > 0);
    }
}
