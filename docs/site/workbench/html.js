// HTML without a string of it, and how numbers are written.

export function make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value === true) made.setAttribute(name, "");
        else if (value !== false && value !== undefined) made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
}

export function button(words, act, attributes = {}) {
    const made = make("button", {type: "button", ...attributes}, words);
    made.addEventListener("click", act);
    return made;
}

export function shown(number) {
    return number.toLocaleString("en-US");
}

// "1 error", "2 errors"
export function counted(count, word) {
    return `${shown(count)} ${word}${count === 1 ? "" : "s"}`;
}

// A table of bars. `rows`: [[name, value, the value in words, what makes it stand out]]
export function bars(title, rows) {
    const most = Math.max(...rows.map(([, value]) => value));
    return make("table", {class: "bars"}, make("caption", {}, title), make("tbody", {}, ...rows.map(([name, value, words, mark]) => {
        const bar = make("div", {class: "bar", "aria-hidden": "true"});
        bar.style.width = `${100 * value / most}%`;
        return make("tr", {class: mark ? "highest" : ""}, make("th", {scope: "row"}, name),
            make("td", {class: "number"}, words, ...mark ? [make("b", {}, ` ${mark}`)] : []), make("td", {}, bar));
    })));
}

// Of a grid or a block: [8, 2, 1] is 16.
export function volume(extents) {
    return extents.reduce((all, one) => all * one);
}

// Text with `code` in it.
export function withCode(text) {
    return text.split(/`([^`]+)`/).map((part, k) => k % 2 ? make("code", {}, part) : part);
}
