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
