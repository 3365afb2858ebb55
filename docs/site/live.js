"use strict";
// Figures that move. A picture live_<figure>_<variant>.svg in a page is the still picture of a figure in frames, whose data
// live_<figure>.js has (scripts/tutorial/live.py writes both). Where this script runs, the figure takes the picture's place.

const live = {
    waiting: {}, // by figure: what to call with its data
    figures: {},

    add(figure, data) {
        live.figures[figure] = data;
        for (const start of live.waiting[figure] ?? []) start(data);
    },

    // Classic scripts, since a page opened from a file must not fetch.
    load(figure, folder, start) {
        if (live.figures[figure]) return start(live.figures[figure]);
        if (live.waiting[figure]) return void live.waiting[figure].push(start);
        live.waiting[figure] = [start];
        const script = document.createElement("script");
        script.src = `${folder}live_${figure}.js`;
        document.head.append(script);
    },

    replaceAll() {
        for (const image of document.querySelectorAll('img[src*="live_"]')) {
            const [, folder, figure, variant] = /^(.*?)live_(\w+?)(?:_([^_]+))?\.svg$/.exec(image.getAttribute("src")) ?? [];
            if (figure) live.load(figure, folder, data => { if (data.variants.length) new LiveFigure(image, data, variant); });
        }
    },
};

class LiveFigure {
    constructor(image, data, variant) {
        this.data = data;
        this.quiet = matchMedia("(prefers-reduced-motion: reduce)");
        const still = image.closest("figure > a") ?? image;
        this.element = still.closest("figure") ?? LiveFigure.make("figure");
        this.element.classList.add("live");
        this.element.setAttribute("role", "group");
        this.element.setAttribute("aria-label", image.alt);
        this.picture = LiveFigure.make("div", {class: "live-picture"});
        this.source = LiveFigure.make("pre", {class: "live-source", tabindex: 0, role: "region", "aria-label": "source"});
        this.caption = LiveFigure.make("p", {class: "live-caption", role: "status"});
        const left = LiveFigure.make("div", {class: "live-left"}, this.picture, this.controls(), this.caption);
        const body = LiveFigure.make("div", {}, this.tabs(), LiveFigure.make("div", {class: "live-both"}, left, this.source));
        if (still.parentNode === this.element) still.replaceWith(body);
        else {
            still.replaceWith(this.element);
            this.element.append(body);
        }
        const found = data.variants.findIndex(one => one.name === (variant ?? ""));
        this.first = Math.max(0, found);
        this.show_variant(this.first);
        this.show(this.variant.still);
        this.element.addEventListener("keydown", event => this.key(event));
        for (const kind of ["pointerdown", "pointermove"]) this.picture.addEventListener(kind, event => this.point(event));
        if (!this.quiet.matches && this.last > 0) this.playWhenSeen();
    }

    static make(tag, attributes = {}, ...children) {
        const made = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
        made.append(...children);
        return made;
    }

    get last() { return this.variant.frames.length - 1; }

    // ---- what a reader uses ----

    tabs() {
        const tabs = LiveFigure.make("div", {class: "live-tabs", role: "radiogroup", "aria-label": this.data.label});
        const group = `live${LiveFigure.count = (LiveFigure.count ?? 0) + 1}`;
        this.radios = this.data.variants.map(({name}, number) => {
            const radio = LiveFigure.make("input", {type: "radio", name: group});
            radio.addEventListener("change", () => {
                this.stop();
                this.show_variant(number);
                this.show(Math.min(this.number, this.last));
            });
            tabs.append(LiveFigure.make("label", {}, radio, LiveFigure.make("span", {}, name)));
            return radio;
        });
        tabs.hidden = this.radios.length < 2;
        return tabs;
    }

    controls() {
        const button = (words, label, act) => {
            const made = LiveFigure.make("button", {type: "button", "aria-label": label}, words);
            made.addEventListener("click", act);
            return made;
        };
        this.button = button("▶", "play", () => this.timer ? this.stop() : this.play());
        this.slider = LiveFigure.make("input", {type: "range", min: 0, step: 1, "aria-label": "frame"});
        this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
        this.place = LiveFigure.make("span", {class: "live-place", "aria-hidden": "true"});
        return LiveFigure.make("div", {class: "live-controls"}, button("◀", "step back", () => this.go(this.number - 1)),
            this.button, button("▶|", "step forward", () => this.go(this.number + 1)), this.slider, this.place);
    }

    key(event) {
        const steps = {ArrowLeft: -1, ArrowRight: 1};
        const own = event.target.type; // what the browser does with the key
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (event.key === " " && own !== "button" && own !== "radio") this.timer ? this.stop() : this.play();
        else if (event.key in steps && own !== "radio" && event.target !== this.source) this.go(this.number + steps[event.key]);
        else return;
        event.preventDefault();
    }

    // A part of the picture may lead to a frame, or the picture to the one at a place along it.
    point(event) {
        const part = event.target.closest("[data-go]"), drag = this.variant.drag;
        if (part) this.go(Number(part.dataset.go));
        else if (drag && (event.buttons || event.type === "pointerdown")) {
            const box = this.svg.getBoundingClientRect();
            const x = (event.clientX - box.left) * this.variant.size[0] / box.width;
            this.go(Math.round((x - drag[0]) / (drag[1] - drag[0]) * this.last));
        }
    }

    // ---- frames ----

    // Rows of equal cells, a letter for each, or a letter and a number for as many. `colors`: by letter.
    static rows([x, y, width, height, right, below], colors, rows) {
        const paths = {};
        rows.forEach((short, number) => {
            const row = short.replace(/(\D)(\d+)/g, (_, letter, count) => letter.repeat(count));
            for (const run of row.matchAll(right ? /./g : /(.)\1*/g)) { // without gaps, equal ones are drawn as one
                const letter = run[0][0];
                if (letter in colors)
                    paths[letter] = `${paths[letter] ?? ""}M${x + width * run.index} ${y + height * number + (height - below) / 2}h${
                        width * run[0].length - right}`;
            }
        });
        return Object.entries(paths).map(([letter, path]) =>
            `<path d="${path}" fill="none" stroke="${colors[letter]}" stroke-width="${height - below}"/>`).join("");
    }

    show_variant(number) {
        this.variant = this.data.variants[number];
        this.radios[number].checked = true;
        const words = this.element.querySelector("figcaption"); // of what the page begins with
        if (words) words.style.visibility = number === this.first ? "" : "hidden";
        const [width, height] = this.variant.size;
        this.picture.innerHTML = `<svg viewBox="0 0 ${width} ${height}" aria-hidden="true" font-family="inherit">`
            + `${this.variant.svg}</svg>`;
        this.svg = this.picture.firstChild;
        for (const place of this.svg.querySelectorAll("[data-rows]"))
            place.innerHTML = LiveFigure.rows(...this.variant.rows[place.dataset.rows]);
        this.svg.style.touchAction = this.variant.drag ? "pan-y" : "auto";
        this.parts = [...this.svg.querySelectorAll("[data-f]")].map(part => [part, ...part.dataset.f.split(" ").map(Number)]);
        this.moved = [...this.svg.querySelectorAll("[data-step]")];
        this.slider.max = this.last;
        const source = this.variant.source;
        this.source.hidden = !source;
        this.source.replaceChildren(...(source?.lines ?? []).map(line => LiveFigure.make("span", {}, line + "\n")));
    }

    show(number) {
        this.number = number;
        for (const [part, first, last] of this.parts) part.classList.toggle("off", number < first || number > last);
        for (const part of this.moved) part.setAttribute("transform", `translate(${number * part.dataset.step})`);
        const [caption, ...lines] = this.variant.frames[number];
        this.caption.textContent = caption;
        this.slider.value = number;
        this.slider.setAttribute("aria-valuetext", caption);
        this.place.textContent = `${number + 1}/${this.last + 1}`;
        const first = this.variant.source?.first;
        [...this.source.children].forEach((line, k) => {
            line.classList.toggle("runs", lines.includes(first + k));
            if (lines.includes(first + k)) line.setAttribute("aria-current", "step");
            else line.removeAttribute("aria-current");
        });
        const runs = this.source.querySelector(".runs"); // in the middle, without a move of the page
        if (runs) this.source.scrollTop = runs.offsetTop - this.source.clientHeight / 2;
    }

    go(number) {
        this.stop();
        this.show(Math.max(0, Math.min(number, this.last)));
    }

    play() {
        this.seen?.disconnect();
        if (this.number === this.last) this.show(0);
        this.button.textContent = "‖";
        this.button.setAttribute("aria-label", "pause");
        this.caption.setAttribute("aria-live", "off"); // or a reader would be told each frame
        this.timer = setInterval(() => {
            if (this.number < this.last) this.show(this.number + 1);
            if (this.number === this.last) this.stop();
        }, this.variant.ms);
    }

    stop() {
        clearInterval(this.timer);
        this.timer = undefined;
        this.seen?.disconnect();
        this.button.textContent = "▶";
        this.button.setAttribute("aria-label", "play");
        this.caption.setAttribute("aria-live", "polite");
    }

    // Once. It never begins again by itself.
    playWhenSeen() {
        this.seen = new IntersectionObserver(entries => {
            if (!entries.some(entry => entry.isIntersecting)) return;
            this.show(0);
            this.play();
        }, {threshold: 0.6});
        this.seen.observe(this.picture);
    }
}

document.addEventListener("DOMContentLoaded", live.replaceAll);
