// The panel of emulate's page: a reader's own kernel.

// Its kernels: [{name, parameters: ["u64", "u32", …]}]
function entriesOf(ptx) {
    const parameter = /\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+[\w$%]+(\[)?/g;
    return [...ptx.matchAll(/\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?/g)].map(([, name, list = ""]) => (
        {name, parameters: [...list.matchAll(parameter)].map(([, type, isArray]) => isArray ? "struct" : type)}));
}

// A field for an argument: its kind, and its value or how many elements it has. Integers of 64 bits may be pointers.
function argumentField(type, place) {
    const bits = /\d+$/.exec(type)?.[0], own = type.replace(/^[bs]/, bits === "8" ? "u" : "i");
    const kinds = bits === "64" && type !== "f64" ? ["random ints", "ints", "floats", "u64"] : [own];
    const kind = make("select", {"aria-label": `argument ${place}, kind`}, ...kinds.map(one => make("option", {}, one)));
    const value = words(`argument ${place}`, type.startsWith("f") ? 1 : 1024);
    value.element.append(kind);
    return {element: value.element, value: () => ({kind: kind.value, value: Number(value.value())})};
}

class OwnKernel extends Panel {
    build() {
        this.text = make("textarea", {rows: 8, spellcheck: "false", "aria-label": "PTX"});
        const file = make("input", {type: "file", accept: ".ptx"});
        file.addEventListener("change", () => this.take(file.files));
        this.text.addEventListener("input", () => this.offer());
        this.text.addEventListener("dragover", event => event.preventDefault());
        this.text.addEventListener("drop", event => {
            if (!event.dataTransfer.files.length) return;
            event.preventDefault();
            this.take(event.dataTransfer.files);
        });
        this.kernel = field("kernel", {choices: []}, () => this.askForArguments());
        this.sizes = {grid: words("blocks", 1), block: words("threads per block", 256), shared: words("dynamic shared bytes", 0)};
        this.button = make("button", {type: "submit"}, "Run");
        this.form = make("form", {novalidate: true}, this.text, make("label", {}, make("span", {}, "or a file"), file),
            this.kernel.element, ...Object.values(this.sizes).map(one => one.element), this.button);
        this.form.addEventListener("submit", event => {
            event.preventDefault();
            if (this.isRunning) this.engine.stop();
            else this.run();
        });
        this.results = make("div");
        this.lines = make("div", {class: "wide", tabindex: 0, role: "region", "aria-label": "Source, with costs by line"});
        this.source = make("details", {class: "listing", hidden: true},
            make("summary", {}, "Source, with costs by line"), this.lines);
        this.place.append(make("p", {}, "Paste PTX, or drop a file of it: nvcc -ptx -arch=compute_90 -lineinfo kernel.cu writes ",
            "kernel.ptx. It stays in this page."), this.form, this.status, this.results, this.source);
        this.offer();
    }

    begin() {}

    // A kernel that an editor of the page compiled, with the arguments as they are.
    async runOwn({ptx, sources}) {
        if (!this.form) return;
        this.text.value = ptx;
        this.sources = sources;
        this.offer();
        await this.run();
    }

    async take([file]) {
        this.text.value = await file.text();
        this.offer();
    }

    // The kernel and its arguments stay as the reader chose them as long as there are the same ones.
    offer() {
        const before = JSON.stringify(this.entries);
        this.entries = entriesOf(this.text.value);
        if (JSON.stringify(this.entries) !== before) {
            this.kernel.offer(this.entries.map(one => one.name), this.entries[0]?.name);
            this.askForArguments();
        }
        this.say(this.entries.length || !this.text.value ? "" : "This PTX has no .entry.", !this.entries.length);
    }

    askForArguments() {
        for (const one of this.arguments ?? []) one.element.remove();
        const parameters = this.entries.find(one => one.name === this.kernel.value())?.parameters ?? [];
        this.arguments = parameters.map((type, k) => argumentField(type, k + 1));
        this.button.before(...this.arguments.map(one => one.element));
    }

    async run() {
        if (!this.entries.length) return;
        this.isRunning = true;
        this.button.textContent = "Stop";
        this.say("Running …", false);
        const sizes = name => this.sizes[name].value().split(/[\s,x]+/).map(Number), ptx = this.text.value;
        const options = {name: this.kernel.value(), grid: sizes("grid"), block: sizes("block"), shared: sizes("shared")[0],
                         values: this.arguments.map(one => one.value())};
        try {
            this.show(await this.engine.run({lesson: this.name, kernel: "launch", ptx, options, lines: true, check: true}), ptx);
        } catch (error) {
            this.say(error.message === "stopped" ? "Stopped." : error.message, error.message !== "stopped");
        }
        this.button.textContent = "Run";
        this.isRunning = false;
    }

    // Without line tables in it, lines are those of the PTX, where only braces stand at the left margin then.
    show({error, warp_instructions: count, buffers = [], ...result}, ptx) {
        const named = all => all.map(one => ({...one, file: one.file || "PTX"}));
        const lines = named(result.lines), findings = named(result.findings).filter(one => one.line > 0), {counters} = this.facts;
        const all = result.findings.length;
        this.say(`${error ?? `${counted(count, "warp instruction")}.`} ${counted(all, "finding")}.`, error !== null || all > 0);
        const values = buffers.map((first, k) => first && make("li", {}, `argument ${k + 1}: ${first.map(shown).join("  ")} …`))
            .filter(Boolean);
        this.results.replaceChildren(
            ...all ? [make("ul", {class: "findings"}, ...named(result.findings).map(one => this.finding(one)))] : [],
            ...values.length ? [make("ul", {}, ...values)] : [],
            ...error ? [] : [make("div", {class: "wide"}, counterTable(["launch"], rowsOf([result], counters).slice(2)))]);
        this.source.hidden = lines.length + findings.length === 0;
        this.lines.replaceChildren(...lineTable({lines, findings}, {...this.sources, PTX: ptx.replace(/^(?=[^\s{}])/gm, "    ")}, counters));
    }
}
