// HTML, without a string of it, and how names and numbers are written.

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

function calm() {
    return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
