// What a reader sees and uses of the playground: a panel that runs the kernels of a lesson's page. The page holds
//
//     <details class="playground" data-lesson="lesson03" data-scripts="engine.js lesson03.js">
//     <summary>Run it in this page</summary></details>
//
// `make playground` makes the scripts. They are fetched when the panel is first opened: by script elements, since that also
// works in a page that was opened from a file.
"use strict";

(() => {
const atOnce = 100; // milliseconds: a run that takes less follows the slider

// ---- HTML, without a string of it ----

function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === true) made.setAttribute(name, "");
        else if (value !== false && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
}

// As the terminal has it: 65,536, and nine digits of a float.
function shown(value) {
    const isFloat = typeof value === "number" && !Number.isInteger(value);
    return isFloat ? String(Number(value.toPrecision(9))) : (value ?? "nothing").toLocaleString("en-US");
}

// A kernel's name, which may break where the terminal breaks it: after "_", and before a capital letter.
function breakable(name) {
    return name.split(/(?<=_)|(?=[A-Z<])/).flatMap(part => [make("wbr"), part]);
}

function fileName(path) {
    return path.slice(path.lastIndexOf("/") + 1);
}

// "1 lane", "2 lanes"
function counted(count, word) {
    return `${shown(count)} ${word}${count === 1 ? "" : "s"}`;
}

// ---- fields ----

const labels = {n: "n", block: "threads per block"};

function labelOf(name) {
    return labels[name] ?? name.replaceAll("_", " ");
}

// One of the lesson's options: {element, value(), set(value)}. `changed` is called after each change by the reader.
function field(name, option, changed) {
    if (option.flag) {
        const box = make("input", {type: "checkbox"});
        box.checked = option.value;
        box.addEventListener("change", changed);
        return {element: make("label", {class: "flag"}, box, labelOf(name)), value: () => box.checked,
                set: value => { box.checked = value; }};
    }
    if (option.choices) {
        const list = make("select");
        const offer = (choices, value) => {
            list.replaceChildren(...choices.map(choice => make("option", {}, choice)));
            list.value = value;
        };
        offer(option.choices, option.value);
        list.addEventListener("change", changed);
        return {element: make("label", {}, make("span", {}, labelOf(name)), list), value: () => list.value,
                set: value => { list.value = value; }, offer};
    }
    return number(name, option, changed);
}

// A slider, and a field for the exact number. The slider of n goes from power to power, and the field takes any number.
function number(name, {from, to, value, powers_of_two: powersOnly, by_powers: byPowers = powersOnly}, changed) {
    const places = byPowers ? {min: Math.ceil(Math.log2(from)), max: Math.ceil(Math.log2(to))} : {min: from, max: to};
    const slider = make("input", {type: "range", step: 1, ...places, "aria-label": `${labelOf(name)}, slider`});
    const exact = make("input", {type: "number", min: from, max: to, step: 1, required: true, inputmode: "numeric"});
    const toSlider = () => {
        slider.value = byPowers ? Math.log2(exact.value) : exact.value;
        slider.setAttribute("aria-valuetext", shown(Number(exact.value)));
    };
    const set = given => {
        exact.value = given;
        exact.setCustomValidity(powersOnly && !Number.isInteger(Math.log2(given)) ? "It has to be a power of two." : "");
        toSlider();
    };
    slider.addEventListener("input", () => {
        set(byPowers ? Math.min(2 ** slider.value, to) : slider.value);
        changed();
    });
    exact.addEventListener("input", () => {
        set(exact.value);
        changed();
    });
    set(value);
    return {element: make("div", {class: "number"}, make("label", {}, make("span", {}, labelOf(name)), exact), slider),
            value: () => Number(exact.value), set};
}

// ---- what a run counted ----

// As the terminal's: rounded to even where both sides are equally near, which toFixed does not.
function rounded(value, digits) {
    const scaled = value * 10 ** digits, below = Math.floor(scaled);
    const isTie = Number.isInteger(value * 16) && scaled - below === 0.5;
    return (isTie ? (below + below % 2) / 10 ** digits : value).toFixed(digits);
}

// "x 0.50", "new", "gone"; empty, so that what moves stands out.
function change(first, second) {
    if (first === second) return "";
    if (first === 0) return "new";
    if (second === 0) return "gone";
    const ratio = second / first;
    return `x ${ratio < 0.1 ? Number(rounded(ratio, 1 - Math.floor(Math.log10(ratio)))) : rounded(ratio, 2)}`;
}

function volume([x, y = 1, z = 1]) {
    return x * y * z;
}

// The rows of the lessons' own tables: {label, cells, moved} or a heading {label}.
function rowsOf(results, counters) {
    const rows = [
        {label: "verified", cells: results.map(result => result.verified ? "yes" : "NO")},
        {label: "result", cells: results.map(result => shown(result.actual))},
    ];
    const add = (label, numbers) => rows.push(
        {label, cells: numbers.map(shown), change: numbers.length === 2 ? change(...numbers) : "", isCount: true});
    add("blocks", results.map(result => volume(result.grid)));
    add("threads per block", results.map(result => volume(result.block)));
    const groups = new Map(); // all labels of a group side by side
    for (const counter of counters.filter(one => one.row)) groups.set(counter.row, [...groups.get(counter.row) ?? [], counter]);
    for (const [group, members] of groups) {
        const used = members.filter(one => !one.rare || results.some(result => result.counters[one.name]));
        if (used.length) rows.push({label: group + (members[0].exact ? "" : " (PTX)")});
        for (const {label, name} of used) add(label, results.map(result => result.counters[name] ?? 0));
    }
    return rows;
}

// Of two kernels, rows that moved are marked, and the others dim.
function counterTable(names, rows) {
    const heads = [...names, ...names.length === 2 ? ["change"] : []];
    const body = rows.map(({label, cells, change}) => {
        if (!cells) return make("tr", {class: "group"}, make("th", {scope: "rowgroup", colspan: 1 + heads.length}, label));
        const moved = cells.some(cell => cell !== cells[0]) ? "moved" : "same";
        const shownCells = [...cells, change ?? ""].slice(0, heads.length);
        return make("tr", {class: names.length === 2 && label !== "verified" ? moved : ""}, make("th", {scope: "row"}, label),
            ...shownCells.map(cell => make("td", {class: cell === "NO" ? "wrong" : ""}, cell)));
    });
    return make("table", {class: "counters"},
        make("thead", {}, make("tr", {}, make("td"), ...heads.map(name => make("th", {scope: "col"}, ...breakable(name))))),
        make("tbody", {}, ...body));
}

// ---- its source, line by line ----

// The columns of `emulate --lines`. Where a line could do with less, `×8` says by which factor.
const wanted = {
    instructions: ["warp_instructions"],
    sectors: ["global_load_sectors", "global_store_sectors", "global_atom_sectors", "global_red_sectors", "bulk_sectors"],
    requests: ["global_load_requests", "global_store_requests"],
    wavefronts: ["shared_load_wavefronts", "shared_store_wavefronts", "copy_wavefronts"],
    divergent: ["divergent_branches"],
};

// [[first, end]]: the functions that hold these lines of a source. A function begins and ends at the left margin.
function functionsWith(numbers, text) {
    const found = new Map();
    for (const number of numbers) {
        let first = number - 1, end = number - 1;
        while (first > 0 && !/^[^\s#}]/.test(text[first])) --first;
        while (first > 0 && /^[^\s#}].*[^;}]$/.test(text[first - 1])) --first; // template, comments
        while (end < text.length - 1 && !text[end].startsWith("}")) ++end;
        found.set(first, end + 1);
    }
    return [...found].sort(([a], [b]) => a - b);
}

// Each file's functions with the costs beside their lines. `notes` are findings, which stand below their line.
function lineTable({lines, findings}, sources, counters) {
    const names = Object.fromEntries(counters.map(({id, name}) => [id, name]));
    const sum = (counted, ids) => ids.reduce((total, id) => total + (counted[names[id]] ?? 0), 0);
    const columns = Object.entries(wanted)
        .map(([title, ids]) => ({title, ids, most: Math.max(...lines.map(line => sum(line.counters, ids)))}))
        .filter(column => column.most > 0);
    const cells = line => columns.map(({title, ids, most}) => {
        const value = line ? sum(line.counters, ids) : 0, excess = value / sum(line?.ideal ?? {}, ids);
        if (value === 0) return make("td");
        const cell = make("td", {class: value > 0.9 * most ? "share most" : "share", "data-label": title}, shown(value));
        if (excess > 1.05 && excess < Infinity) cell.append(make("b", {}, ` ×${Number(excess.toFixed(excess < 9.95 ? 1 : 0))}`));
        cell.style.setProperty("--share", `${Math.round(100 * value / most)}%`);
        return cell;
    });
    const parts = [];
    for (const file of new Set([...lines, ...findings].map(one => one.file).filter(Boolean))) {
        const counted = new Map(lines.filter(line => line.file === file).map(line => [line.line, line]));
        const noted = findings.filter(finding => finding.file === file);
        const numbers = [...new Set([...counted.keys(), ...noted.map(finding => finding.line)])].sort((a, b) => a - b);
        const text = sources[file]?.split("\n");
        const pieces = text ? functionsWith(numbers, text) : numbers.map(line => [line - 1, line]);
        const rows = [];
        for (const [first, end] of pieces) {
            for (let line = first + 1; line <= end; ++line) {
                const here = noted.filter(finding => finding.line === line);
                rows.push(make("tr", {id: here.length ? lineId(file, line) : false, tabindex: here.length ? -1 : false},
                    ...cells(counted.get(line)), make("td", {class: "line"}, String(line)),
                    make("td", {class: "source"}, make("code", {}, text?.[line - 1] ?? ""),
                        ...here.map(finding => make("span", {class: "note"}, `${finding.check}: ${finding.message}`)))));
            }
        }
        parts.push(make("p", {class: "quoted"}, fileName(file)), make("table", {class: "lines"},
            make("thead", {}, make("tr", {}, ...[...columns.map(column => column.title), "line", "source"].map(
                title => make("th", {scope: "col", class: title}, title)))),
            make("tbody", {}, ...rows)));
    }
    return parts;
}

function lineId(file, line) {
    return `playground-${fileName(file)}-${line}`;
}

// A picture as an image of its own: its style sheet stays there, and it follows the page into the dark as the page's figures do.
async function imageOf({name, svg}) {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    const words = ["title", "desc"].map(tag => parsed.querySelector(tag)?.textContent).filter(Boolean).join(": ");
    const image = make("img", {alt: words || name, src: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg)});
    await image.decode().catch(() => {}); // so that the page does not jump
    return image;
}

// ---- step through ----

// What the block wrote to shared memory, step by step. A step is what all warps did at one instruction.
class Steps {
    constructor(opened) {
        this.status = make("p", {role: "status"});
        this.code = make("code");
        this.slider = make("input", {type: "range", min: 1, step: 1, "aria-label": "step"});
        this.slider.addEventListener("input", () => this.show());
        const button = (words, by) => {
            const made = make("button", {type: "button"}, words);
            made.addEventListener("click", () => {
                this.slider.value = Number(this.slider.value) + by;
                this.show();
            });
            return made;
        };
        this.words = make("pre", {tabindex: 0, role: "region", "aria-label": "Words of shared memory"});
        this.lanes = make("pre", {tabindex: 0, role: "region", "aria-label": "Active lanes"});
        this.element = make("details", {class: "steps", hidden: true}, make("summary", {}, "Step through"),
            make("div", {class: "walk"}, button("← Back", -1), this.slider, button("Forward →", 1)), this.status,
            make("p", {}, this.code), make("p", {}, "Shared memory, a column for each bank:"), this.words,
            make("p", {}, "Its active lanes, a row for each warp:"), this.lanes);
        this.element.addEventListener("toggle", () => { if (this.element.open) opened(); });
    }

    // `source`: (file, line) => its text
    set(steps, leftOut, source) {
        Object.assign(this, {steps, leftOut, source});
        this.slider.max = Math.max(1, steps.length);
        if (steps.length) this.show();
    }

    show() {
        const number = Number(this.slider.value), step = this.steps[number - 1];
        const warps = step.active.filter(mask => mask !== 0).length;
        const lanes = step.active.map(mask => [...Array(32).keys()].map(lane => mask >>> lane & 1 ? "█" : "·").join(""));
        const count = lanes.join("").split("█").length - 1;
        const all = `${this.leftOut ? "the first " : ""}${shown(this.steps.length)}`;
        this.status.textContent = `Step ${number} of ${all}: ${step.what} at ${fileName(step.file)}:${step.line}, after `
            + `${counted(step.barriers, "barrier")}. ${counted(count, "lane")} of ${counted(warps, "warp")}.`;
        this.code.textContent = this.source(step.file, step.line).trim();
        this.slider.setAttribute("aria-valuetext", this.status.textContent);
        this.lanes.textContent = lanes.map((row, warp) => `warp ${String(warp).padStart(2)}  ${row}`).join("\n");
        const values = new Map(this.steps.slice(0, number).flatMap(one => one.writes)), written = new Map(step.writes);
        const width = Math.max(2, ...this.steps.flatMap(one => one.writes).map(([, value]) => String(value).length));
        const size = 1 + Math.max(0, ...this.steps.flatMap(one => one.writes).map(([word]) => word));
        this.words.replaceChildren();
        for (let word = 0; word < size; ++word) {
            const text = String(values.get(word) ?? "·").padStart(width);
            this.words.append(written.has(word) ? make("mark", {}, text) : text, word % 32 === 31 ? "\n" : " ");
        }
    }
}

// ---- break it ----

// A lesson's kernels with one thing wrong, and which of them the reader chose. `choose` is called with it, or with undefined.
class BreakIt {
    constructor(variants, choose) {
        this.variants = variants;
        const names = ["nothing", ...variants.map(({kernel, name}) => `${kernel} ${name}`)];
        this.list = field("break", {choices: names, value: names[0]}, () => {
            this.show();
            choose(this.chosen());
        });
        this.change = make("pre", {tabindex: 0, role: "region", "aria-label": "What changes"});
        this.elements = variants.length ? [this.list.element, this.change] : [];
        this.reset();
    }

    chosen() {
        return this.variants.find(({kernel, name}) => `${kernel} ${name}` === this.list.value());
    }

    reset() {
        this.list.set("nothing");
        this.show();
    }

    show() {
        this.change.textContent = this.chosen()?.change ?? "";
        this.change.hidden = !this.chosen();
    }
}

// ---- the panel ----

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
        await this.run();
    }

    build() {
        const kernels = Object.keys(this.lesson.kernels);
        const changed = () => { if (this.last < atOnce && this.form.checkValidity()) this.run(); };
        const options = {...this.lesson.n && {n: {from: 1, to: this.lesson.n.most, by_powers: true, ...this.lesson.n}},
                         ...this.lesson.sliders};
        const before = kernel => kernels[kernels.indexOf(kernel) - 1] ?? kernels[1] ?? kernel;
        const kernel = kernels.at(-1);
        this.fields = {kernel: field("kernel", {choices: kernels, value: kernel}, () => {
            this.fields.beside.set(before(this.fields.kernel.value()));
            this.broken.reset();
            changed();
        }), beside: field("beside", {choices: kernels, value: before(kernel)}, changed)};
        this.options = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, field(name, option, changed)]));
        this.broken = new BreakIt(this.facts.broken ?? [], variant => {
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
        this.place.append(make("p", {}, "Counters are emulated: counted, not timed."), this.form, this.status, this.results,
            this.figure, this.steps.element, this.source, this.ownPtx());
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
                " makes of your kernel, or drop the file. It needs the name and the parameters of the lesson's kernel."),
            this.own, file);
    }

    request(kernel, more) {
        const {n, block, ...options} = Object.fromEntries(Object.entries(this.options).map(([name, one]) => [name, one.value()]));
        return {lesson: this.name, kernel, n, block, options, lines: false, draw: false, check: false, ptx: null, ...more};
    }

    // With the values as they are. While one runs, the next waits; of several, the last.
    async run() {
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
            const isChanged = ptx !== null || broken !== undefined, other = ptx ? kernel : beside;
            const requests = [this.request(kernel, {lines: true, draw: true, check: true, steps: this.steps.element.open, ptx,
                                                    ...broken && {broken: broken.name}}),
                              ...other === kernel && !isChanged ? [] : [this.request(other)]];
            const results = [];
            for (const request of requests) {
                const name = request.ptx ? "yours" : request.broken ? `${request.kernel} ${request.broken}` : request.kernel;
                results.unshift({...await this.engine.run(request), name});
                if (results[0].error) break;
            }
            this.last = results.reduce((sum, one) => sum + one.milliseconds, 0) / (this.isWarm ? 1 : 10);
            this.isWarm = true; // The browser compiles the emulator during its first run, which takes ten times as long.
            await this.show(results, {...this.facts.sources, ...broken?.sources});
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
        const numbers = rows.filter(row => row.isCount), moved = numbers.filter(row => row.change);
        this.pictures = pictures;
        await this.draw();
        const news = [
            ...results.filter(one => one.error).map(one => `${one.name}: ${one.error}`),
            result.error ? "" : result.verified ? `${result.name}: verified, ${shown(result.actual)}.`
                : `${result.name}: wrong: expected ${shown(result.expected)}, actual ${shown(result.actual)}.`,
            findings.length ? `${counted(findings.length, "finding")}.` : "",
            sound.length === 2 ? `${moved.length} of ${numbers.length} numbers differ from ${sound[0].name}.` : "",
        ];
        this.say(news.filter(Boolean).join(" "), sound.length < results.length || !result.verified || findings.length > 0);
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

// ---- a reader's own kernel ----

// A field that takes any text.
function words(name, value) {
    const input = make("input", {type: "text", value, autocomplete: "off"});
    return {element: make("label", {}, make("span", {}, name), input), value: () => input.value};
}

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

    async take([file]) {
        this.text.value = await file.text();
        this.offer();
    }

    offer() {
        this.entries = entriesOf(this.text.value);
        this.kernel.offer(this.entries.map(one => one.name), this.entries[0]?.name);
        this.askForArguments();
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
        this.lines.replaceChildren(...lineTable({lines, findings}, {PTX: ptx.replace(/^(?=[^\s{}])/gm, "    ")}, counters));
    }
}

function calm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// ---- "Predict first": a field for each question that a number answers ----

// "--n 4194304 --block 256": {n: 4194304, block: 256}
function choicesOf(run) {
    const found = [...run.matchAll(/--([\w-]+) (\S+)/g)];
    return Object.fromEntries(found.map(([, name, value]) => [name.replaceAll("-", "_"), isNaN(value) ? value : Number(value)]));
}

// Its field, and what a run says to the number in there.
function prediction({kernel, run, counter}, {name, facts, engine}) {
    const guess = make("input", {type: "text", inputmode: "numeric", autocomplete: "off"});
    const answer = make("p", {role: "status"});
    const form = make("form", {class: "predict"},
        make("label", {}, make("span", {}, make("code", {}, `${kernel} ${run}`), `: ${counter}`), guess),
        make("button", {type: "submit"}, "Check"), answer);
    form.addEventListener("submit", async event => {
        event.preventDefault();
        const guessed = parseInt(guess.value.replace(/[,.\s]/g, ""), 10);
        if (isNaN(guessed)) {
            answer.textContent = "Type a number.";
            return;
        }
        answer.textContent = "Running …";
        const {n, block, ...options} = choicesOf(run);
        const result = await engine.run({lesson: name, kernel, n, block, options}).catch(error => ({error: error.message}));
        const counted = result.error ? 0 : counter === "blocks" ? volume(result.grid)
            : result.counters[facts.counters.find(one => one.short === counter).name];
        answer.textContent = result.error ?? (counted === guessed ? `Yes: the run counts ${shown(counted)}.`
            : `No: the run counts ${counted > guessed ? "more" : "fewer"} than ${shown(guessed)}.`);
    });
    return form;
}

// The manifest has `predict`: which question, which run answers it, and which counter.
async function addPredictions(place, dataset) {
    const loaded = await load(dataset), questions = place.querySelectorAll("li");
    for (const one of loaded.facts.facts?.predict ?? []) questions[one.question - 1].append(prediction(one, loaded));
}

// ---- the page ----

const scripts = new Map(); // by their names: promises
let engine = null;

// The emulator and the lesson, fetched once.
async function load({lesson: name, scripts: wanted}) {
    try {
        for (const script of wanted.split(" ").filter(Boolean)) await fetched(script);
    } catch {
        throw new Error("The emulator is not here: make playground, and then make docs, adds it to these pages.");
    }
    engine ??= playground.engine();
    return {name, lesson: playground.lessons[name], facts: playground.bundles[name].facts, engine};
}

function fetched(name) {
    if (!scripts.has(name)) {
        scripts.set(name, new Promise((resolve, reject) => {
            const script = make("script", {src: name});
            script.onload = resolve;
            script.onerror = reject;
            document.head.append(script);
        }));
    }
    return scripts.get(name);
}

document.addEventListener("DOMContentLoaded", () => {
    const place = document.querySelector("details.playground");
    if (!place) return;
    const Kind = place.dataset.lesson === "emulate" ? OwnKernel : Panel;
    place.addEventListener("toggle", () => new Kind(place).open(), {once: true});
    const summaries = [...document.querySelectorAll("summary")];
    const questions = summaries.find(summary => summary.textContent === "Predict first")?.parentElement;
    questions?.addEventListener("toggle", () => addPredictions(questions, place.dataset).catch(() => {}), {once: true});
});
})();
