// A document of the server in an editor: saved as it is typed, never overwritten unseen, and with its history after a reload.
import {ask, Refused} from "./api.js";
import {button, make} from "./html.js";

const quiet = 2000; // milliseconds without a key until it is saved

function words(text) {
    return Object.fromEntries(text.split(" ").map(word => [word, true]));
}

function defineCuda() {
    const cpp = CodeMirror.resolveMode("text/x-c++src");
    CodeMirror.defineMIME("text/x-cuda", {...cpp,
        keywords: {...cpp.keywords, ...words("__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__")},
        builtin: words("threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __shfl_down_sync __shfl_xor_sync " +
            "__shfl_up_sync __shfl_sync atomicAdd")});
}

export class Text {
    // `say` is called with a sentence about where the text is, `chosen` when one of two texts is; `run`, `check`: what the keys do.
    constructor(name, reader, {say, chosen, run, check}) {
        this.name = name;
        this.key = `workbench ${reader ?? ""} ${name}`;
        Object.assign(this, {say, chosen});
        this.saving = Promise.resolve();
        this.widgets = [];
        this.element = make("div", {class: "text"});
        this.conflict = make("div", {class: "conflict", role: "alert"});
        this.keys = {"Ctrl-Enter": run, "Cmd-Enter": run, "Shift-Ctrl-Enter": check, "Shift-Cmd-Enter": check,
                     "Ctrl-S": () => this.trySave(), "Cmd-S": () => this.trySave()};
    }

    async open() {
        const document_ = await ask("GET", `documents/${this.name}`);
        Object.assign(this, {file: document_.file, kernels: document_.kernels, title: document_.title, original: document_.original,
                             usual: document_.arguments});
        defineCuda();
        this.editor = CodeMirror(this.element, {mode: "text/x-cuda", indentUnit: 4, lineNumbers: true, matchBrackets: true,
            inputStyle: "contenteditable", lineWrapping: true, viewportMargin: Infinity,
            cursorBlinkRate: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 530,
            screenReaderLabel: `${this.file}. Tab indents once you have typed; Escape, then Tab leaves the editor.`});
        this.tabKeys();
        this.editor.on("renderLine", (editor, line, element) => this.indentRest(line, element));
        this.restore(document_);
        this.looked = this.value;
        this.editor.on("changes", () => this.changed());
        addEventListener("pagehide", () => this.remember());
        addEventListener("focus", () => this.refresh());
        document.addEventListener("visibilitychange", () => { if (!document.hidden) this.refresh(); });
    }

    // A long line goes on below itself, further to the right.
    indentRest({text}, element) {
        const columns = CodeMirror.countColumn(text, null, 4) + 4, width = columns * this.editor.defaultCharWidth();
        element.style.textIndent = `${-width}px`;
        element.style.paddingLeft = `${width + 4}px`;
    }

    // Tab indents for those who type, and leads on for those who only come by. Escape makes it lead on again.
    tabKeys() {
        const keys = {...this.keys, "Ctrl-/": "toggleComment", "Cmd-/": "toggleComment"};
        const indent = editor => editor.somethingSelected() ? editor.indentSelection("add") : editor.execCommand("insertSoftTab");
        const types = does => this.editor.setOption("extraKeys", does ? {...keys, Tab: indent, "Shift-Tab": "indentLess"}
            : {...keys, Tab: false, "Shift-Tab": false});
        types(false);
        this.editor.on("focus", () => types(false));
        this.element.addEventListener("pointerup", () => types(true));
        this.element.addEventListener("keydown", event => {
            if (!["Tab", "Shift", "Control", "Alt", "Meta"].includes(event.key)) types(event.key !== "Escape");
        }, true);
    }

    // The first kernel that has changed since this was last asked; else the first that was ever changed, if it is asked first.
    changedKernel() {
        const source = (text, kernel) => text.match(new RegExp(`\\b${kernel}\\s*\\([^]*?(\n}|$)`))?.[0];
        const changedFrom = before => this.kernels.find(kernel => source(this.saved, kernel) !== source(before, kernel));
        const found = changedFrom(this.looked) ?? (this.hasLooked ? undefined : changedFrom(this.original));
        Object.assign(this, {looked: this.saved, hasLooked: true});
        return found;
    }

    get value() { return this.editor.getValue(); }
    get isDirty() { return this.value !== this.saved; }

    // ---- what this browser remembers ----

    remember() {
        const record = {version: this.version, isDirty: this.isDirty, text: this.value, history: this.editor.getHistory()};
        for (const history of [record.history, {done: [], undone: []}]) { // the history may be more than a browser keeps
            try {
                localStorage.setItem(this.key, JSON.stringify({...record, history}));
                return;
            } catch { /* then without it */ }
        }
    }

    remembered() {
        try {
            return JSON.parse(localStorage.getItem(this.key));
        } catch {
            return null;
        }
    }

    restore({text, version}) {
        const record = this.remembered();
        this.editor.setValue(record?.text ?? text);
        this.editor.clearHistory();
        Object.assign(this, {version, saved: text});
        if (!record) return;
        this.editor.setHistory(record.history);
        if (record.version === version) {
            if (this.isDirty) this.trySave();
        } else if (record.isDirty && record.text !== text) {
            this.version = record.version;
            this.showConflict({text, version});
        } else {
            this.editor.setValue(text); // as a change that can be undone
        }
    }

    // ---- saving ----

    changed() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.trySave(), quiet);
        this.remember();
        if (!this.theirs) this.say(this.isDirty ? "Not saved yet." : "Saved.");
    }

    // One after another. Throws if the file has become something else meanwhile, which is then shown.
    save() {
        this.saving = this.saving.catch(() => {}).then(() => this.saveNow());
        return this.saving;
    }

    trySave() {
        return this.save().catch(error => this.say(error.message));
    }

    async saveNow() {
        clearTimeout(this.timer);
        if (this.theirs) throw new Error("Choose first which text to keep.");
        if (!this.isDirty) return;
        const text = this.value;
        const {version} = await this.watched(ask("PUT", `documents/${this.name}`, {text, version: this.version}));
        this.took(text, version);
        this.say(this.isDirty ? "Not saved yet." : "Saved.");
    }

    took(text, version) {
        Object.assign(this, {saved: text, version});
        this.remember();
    }

    // What a request answers. If the file has changed in another tab or by another editor, that text is shown beside this one.
    async watched(request) {
        try {
            return await request;
        } catch (error) {
            if (error instanceof Refused && error.status === 409 && error.answer.version) {
                this.showConflict(error.answer);
                throw new Error("Choose first which text to keep.");
            }
            throw error;
        }
    }

    // {name, text, version} of what is saved now, for the server to work with.
    async settled() {
        await this.save();
        return {name: this.name, text: this.saved, version: this.version};
    }

    // Shows what another tab or editor has saved, unless something is typed here that would be lost.
    async refresh() {
        if (this.isDirty || this.theirs) return;
        const {text, version} = await ask("GET", `documents/${this.name}`).catch(() => this);
        if (version === this.version || version === undefined || this.isDirty) return;
        this.replace(text, version);
        this.say("This is the text that another tab or editor has saved.");
    }

    // In a way that can be undone.
    replace(text, version) {
        const cursor = this.editor.getCursor();
        this.saved = text;
        this.editor.setValue(text);
        this.editor.setCursor(cursor);
        this.took(text, version);
        clearTimeout(this.timer);
    }

    // ---- two texts ----

    showConflict(theirs) {
        this.theirs = theirs;
        clearTimeout(this.timer);
        this.say("Not saved: there are two texts.");
        const marked = (text, other) => {
            const known = new Set(other.split("\n"));
            return make("pre", {tabindex: 0}, ...text.split("\n").flatMap(line => [known.has(line) ? line : make("mark", {}, line), "\n"]));
        };
        const column = (head, text, other, words, choose) => make("section", {"aria-label": head}, make("h4", {}, head),
            marked(text, other), button(words, choose));
        this.conflict.replaceChildren(
            make("p", {}, `${this.file} has changed meanwhile, in another tab or by another editor. Which text do you keep? `
                + "The other one stays in this editor's history: undo brings it back."),
            make("div", {class: "both"},
                column("Yours, in this editor", this.value, theirs.text, "Keep mine", () => this.keepMine()),
                column("The file's", theirs.text, this.value, "Take the file's", () => this.takeTheirs())));
        for (const text of this.conflict.querySelectorAll("pre")) { // where they begin to differ
            text.scrollTop = (text.querySelector("mark")?.offsetTop ?? 0) - text.offsetTop - 40;
        }
        this.conflict.scrollIntoView();
    }

    endConflict() {
        const {theirs} = this;
        this.theirs = null;
        this.conflict.replaceChildren();
        this.chosen();
        this.editor.focus();
        return theirs;
    }

    async keepMine() {
        const mine = this.value, theirs = this.endConflict();
        this.replace(theirs.text, theirs.version);
        this.editor.setValue(mine);
        await this.trySave();
    }

    takeTheirs() {
        const theirs = this.endConflict();
        this.replace(theirs.text, theirs.version);
        this.say("Saved.");
    }

    // ---- what the compiler says ----

    clearMessages() {
        for (const {widget, line} of this.widgets) {
            widget.clear();
            this.editor.removeLineClass(line, "wrap");
        }
        this.widgets = [];
    }

    // Below their lines. `messages`: [{line, column, severity, text}]
    showMessages(messages) {
        this.clearMessages();
        for (const {line, severity, text} of messages.filter(one => one.line)) {
            const handle = this.editor.getLineHandle(Math.min(line, this.editor.lineCount()) - 1);
            this.editor.addLineClass(handle, "wrap", severity);
            const note = make("div", {class: `message ${severity}`}, `${severity}: ${text}`);
            this.widgets.push({line: handle, widget: this.editor.addLineWidget(handle, note)});
        }
    }

    goTo(line, column) {
        this.editor.focus();
        this.editor.setCursor(line - 1, Math.max(0, (column ?? 1) - 1));
        this.editor.scrollIntoView(null, 100);
    }
}
