// The panel of a lesson: its fields, its run, and what that shows.

const atOnce = 100; // milliseconds: a run that takes less follows the slider

class Panel {
    constructor(place) {
        this.place = place;
        this.isRunning = this.again = false;
        this.last = Infinity; // milliseconds of the last run
    }

    async open() {
        this.status = make("p", {role: "status", class: "status"}, "Loading the emulator …");
        this.place.append(this.status);
        try {
            Object.assign(this, await load(this.place.dataset));
        } catch (error) {
            this.say(error.message, true);
            return;
        }
        this.build();
    }

    // What a reader finds who opens it.
    begin() {
        if (this.form) this.isSolution ? this.runOwn(this.facts.solution) : this.run();
    }

    // Of an exercise's solution, not of the lesson's kernels.
    get isSolution() { return this.place.dataset.solution !== undefined; }

    build() {
        const kernels = Object.keys(this.lesson.kernels).filter(
            name => !this.isSolution || this.facts.solution.kernels.includes(name));
        const changed = () => { if (this.last < atOnce && this.form.checkValidity()) this.run(); };
        const options = {...this.lesson.n && {n: {from: 1, to: this.lesson.n.most, by_powers: true, ...this.lesson.n}},
                         ...this.lesson.sliders};
        const before = kernel => kernels[kernels.indexOf(kernel) - 1] ?? kernels[1] ?? kernel;
        const own = this.facts.facts?.kernels ?? []; // others are for comparison
        const kernel = own.findLast(one => kernels.includes(one)) ?? kernels.at(-1);
        this.fields = {kernel: field("kernel", {choices: kernels, value: kernel}, () => {
            this.fields.beside.set(before(this.fields.kernel.value()));
            this.broken.reset();
            changed();
        }), beside: field("beside", {choices: kernels, value: before(kernel)}, changed)};
        this.options = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, field(name, option, changed)]));
        this.broken = new BreakIt(this.isSolution ? [] : this.facts.broken ?? [], variant => {
            const {kernel, options: shownWith} = variant ?? {kernel: this.fields.kernel.value(), options: {}};
            this.fields.kernel.set(kernel);
            this.fields.beside.set(variant ? kernel : before(kernel)); // as it is, beside it broken
            for (const [name, value] of Object.entries(shownWith)) this.options[name].set(value);
            changed();
        });
        this.button = make("button", {type: "submit"}, "Run");
        this.form = make("form", {novalidate: true},
            ...Object.values(kernels.length > 1 ? this.fields : {}).map(one => one.element),
            ...Object.values(this.options).map(one => one.element), ...this.broken.elements, this.button);
        this.form.addEventListener("submit", event => {
            event.preventDefault();
            if (this.button.textContent === "Stop") this.engine.stop();
            else if (this.form.reportValidity()) this.run();
        });
        this.form.addEventListener("keydown", event => { if (event.key === "Escape" && this.isRunning) this.engine.stop(); });
        this.results = make("div");
        this.picture = field("picture", {choices: []}, () => this.draw());
        this.drawn = make("div", {class: "drawn", tabindex: 0, role: "region", "aria-label": "Picture"});
        this.figure = make("figure", {hidden: true}, this.picture.element, this.drawn);
        this.lines = make("div", {class: "wide", tabindex: 0, role: "region", "aria-label": "Source, with costs by line"});
        this.source = make("details", {class: "listing", open: matchMedia("(min-width: 768px)").matches, hidden: true},
            make("summary", {}, "Source, with costs by line"), this.lines);
        this.steps = new Steps(() => this.run());
        const ownPtx = this.ownPtx();
        this.place.append(make("p", {}, "Counters are emulated: counted, not timed.",
            this.facts.times ? " Times are estimates for an H200. A dash: there is none." : ""), this.form, this.status, this.results,
            this.figure, this.steps.element, this.source, ...this.isSolution ? [] : [ownPtx]);
    }

    // PTX in place of the lesson's, pasted, dropped or from a file: the lesson's kernel is beside it.
    ownPtx() {
        this.own = make("textarea", {rows: 4, spellcheck: "false", "aria-label": "PTX"});
        const file = make("input", {type: "file", accept: ".ptx", "aria-label": "PTX file"});
        const take = async files => {
            this.own.value = await files[0].text();
            await this.run();
        };
        this.own.addEventListener("input", () => this.run());
        this.own.addEventListener("dragover", event => event.preventDefault());
        this.own.addEventListener("drop", event => {
            event.preventDefault();
            take(event.dataTransfer.files);
        });
        file.addEventListener("change", () => take(file.files));
        return make("details", {class: "own"}, make("summary", {}, "Your own PTX"),
            make("p", {}, "Paste what ", make("code", {}, "nvcc -ptx -arch=compute_90 -lineinfo"),
                " makes of your kernel, or drop the file. It needs the name and the parameters of the kernel above."),
            this.own, file);
    }

    // Kernels that an editor of the page compiled: {ptx, sources, kernels, changed}. Of several the one runs that was `changed`.
    // They run until the field for PTX is emptied. Returns why the page cannot launch them, or "".
    async runOwn({ptx, sources, kernels, changed}) {
        if (!this.form) return "";
        const offered = kernels.filter(one => this.lesson.kernels[one] !== undefined);
        const missing = kernels.map(one => this.lesson.missing?.[one]).find(Boolean); // why the page cannot launch it
        if (missing && !offered.length) {
            this.say(missing, true);
            return missing;
        }
        if (offered.includes(changed)) this.fields.kernel.set(changed);
        else if (offered.length && !offered.includes(this.fields.kernel.value())) this.fields.kernel.set(offered.at(-1));
        this.broken.reset();
        if (ptx !== this.own.value) this.before = this.own.value;
        this.own.value = ptx;
        this.ownSources = {ptx, sources};
        await this.run();
        return "";
    }

    // What runs: [[name, request]], that which is shown line by line first. An exercise's launch has no kernel of the lesson to
    // compare with: there a reader's kernel stands beside the one that ran before it.
    requests(kernel, beside, ptx, broken) {
        const watched = {lines: true, draw: true, check: true, steps: this.steps.element.open};
        const mine = this.isSolution ? "our solution" : "yours";
        if (ptx && this.facts.ptx === null) {
            const before = this.before ? [["before", this.request(kernel, {ptx: this.before})]] : [];
            return [[mine, this.request(kernel, {...watched, ptx})], ...before];
        }
        if (ptx) return [[mine, this.request(kernel, {...watched, ptx})], [kernel, this.request(kernel)]];
        if (broken) return [[`${kernel} ${broken.name}`, this.request(kernel, {...watched, broken: broken.name})],
                            [beside, this.request(beside)]];
        return [[kernel, this.request(kernel, watched)], ...beside === kernel ? [] : [[beside, this.request(beside)]]];
    }

    request(kernel, more) {
        const {n, block, ...options} = Object.fromEntries(Object.entries(this.options).map(([name, one]) => [name, one.value()]));
        return {lesson: this.name, kernel, n, block, options, lines: false, draw: false, check: false, ptx: null, ...more};
    }

    // With the values as they are. While one runs, the next waits; of several, the last.
    async run() {
        if (this.facts.ptx === null && !this.own.value.trim()) {
            this.say("Run your kernel from the editor.", false);
            return;
        }
        if (this.isRunning) {
            this.again = true;
            return;
        }
        this.isRunning = true;
        this.place.setAttribute("aria-busy", "true");
        const kernel = this.fields.kernel.value(), beside = this.fields.beside.value();
        // Not at once: a button whose name flickers cannot be read, and a double click would stop the run.
        const patience = setTimeout(() => {
            this.button.textContent = "Stop";
            this.status.textContent = `Running ${kernel} …`;
        }, 3 * atOnce);
        try {
            const ptx = this.own.value.trim() || null, broken = ptx ? undefined : this.broken.chosen();
            const results = [];
            for (const [name, request] of this.requests(kernel, beside, ptx, broken)) {
                results.unshift({...await this.engine.run(request), name, request});
                if (results[0].error) break;
            }
            this.last = results.reduce((sum, one) => sum + one.milliseconds, 0) / (this.isWarm ? 1 : 10);
            this.isWarm = true; // The browser compiles the emulator during its first run, which takes ten times as long.
            const own = this.ownSources?.ptx === this.own.value ? this.ownSources.sources : {};
            await this.show(results, {...this.facts.sources, ...broken?.sources, ...own});
        } catch (error) {
            this.last = Infinity;
            const said = String(error?.message ?? error);
            this.say(said === "stopped" ? "Stopped." : said, said !== "stopped");
        }
        clearTimeout(patience);
        this.button.textContent = "Run";
        this.isRunning = false;
        this.place.setAttribute("aria-busy", "false");
        if (this.again) {
            this.again = false;
            await this.run();
        }
    }

    say(words, isWrong) {
        this.status.textContent = words;
        this.status.classList.toggle("wrong", isWrong);
    }

    async show(results, sources) {
        const result = results.at(-1), sound = results.filter(one => !one.error);
        const {lines = [], findings = [], pictures = [], steps = []} = result, {counters} = this.facts;
        const rows = sound.length ? rowsOf(sound, counters) : [];
        if (this.facts.times && sound.length) rows.unshift(...timeRows(sound, this.facts.times, this.lesson.sliders));
        const numbers = rows.filter(row => row.isCount), moved = numbers.filter(row => row.change);
        this.pictures = pictures;
        await this.draw();
        const called = ({name, request}) => ["yours", "before", "our solution"].includes(name) ? `${request.kernel}, ${name}` : name;
        const news = [
            ...results.filter(one => one.error).map(one => `${called(one)}: ${one.error}`),
            result.error ? "" : result.verified === null ? `${called(result)}: it ran.`
                : result.verified ? `${called(result)}: verified, ${shown(result.actual)}.`
                : `${called(result)}: wrong: expected ${shown(result.expected)}, actual ${shown(result.actual)}.`,
            findings.length ? `${counted(findings.length, "finding")}.` : "",
            sound.length === 2 ? `${moved.length} of ${numbers.length} numbers differ from ${sound[0].name}.` : "",
        ];
        const isWrong = sound.length < results.length || result.verified === false || findings.length > 0;
        this.say(news.filter(Boolean).join(" "), isWrong);
        this.results.replaceChildren(
            ...findings.length ? [make("ul", {class: "findings"}, ...findings.map(finding => this.finding(finding)))] : [],
            ...sound.length ? [make("div", {class: "wide"}, counterTable(sound.map(one => one.name), rows))] : []);
        this.steps.element.hidden = !this.facts.facts?.steps;
        this.steps.set(steps, result.steps_left_out, (file, line) => sources[file]?.split("\n")[line - 1] ?? "");
        this.source.hidden = lines.length + findings.length === 0;
        this.lines.replaceChildren(...lineTable({lines, findings}, sources, counters));
    }

    // One picture at a time: that which the reader chose, or else the one that the lesson's page has.
    async draw() {
        const names = this.pictures.map(picture => picture.name);
        const usual = names.find(name => JSON.stringify(this.facts.facts?.figures ?? "").includes(`--draw ${name}`));
        const chosen = names.includes(this.picture.value()) ? this.picture.value() : usual ?? names[0];
        this.picture.offer(names, chosen);
        this.figure.hidden = !names.length;
        if (names.length) this.drawn.replaceChildren(await imageOf(this.pictures[names.indexOf(chosen)]));
    }

    // The line that it is about leads there.
    finding({check, message, file, line}) {
        const item = make("li", {}, `${check}: ${message} `);
        if (file) {
            const link = make("a", {href: `#${lineId(file, line)}`}, `${fileName(file)}:${line}`);
            link.addEventListener("click", event => {
                event.preventDefault();
                this.source.open = true;
                const row = document.getElementById(lineId(file, line));
                row.focus({preventScroll: true});
                row.scrollIntoView({block: "center", behavior: calm() ? "auto" : "smooth"});
            });
            item.append(link);
        }
        return item;
    }
}
