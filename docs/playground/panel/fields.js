// A form's fields, for a lesson's options.

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

// A field that takes any text.
function words(name, value) {
    const input = make("input", {type: "text", value, autocomplete: "off"});
    return {element: make("label", {}, make("span", {}, name), input), value: () => input.value};
}
