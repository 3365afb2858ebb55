// The page: which panel it has, and the scripts that a panel needs.

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

// A lesson's panel opens when a reader gets there, who then need not find it. One who does not fetches nothing.
function openWhenSeen(details) {
    new IntersectionObserver((entries, observer) => {
        if (!entries.some(entry => entry.isIntersecting)) return; // a jump may bring two
        observer.disconnect();
        details.open = true;
    }).observe(details);
}

// The place's panel, made once.
async function panelOf(place) {
    if (!place.panel) {
        place.panel = new (place.dataset.lesson === "emulate" ? OwnKernel : Panel)(place);
        place.opened = place.panel.open();
    }
    await place.opened;
    return place.panel;
}

// For an editor of the page, whose kernels run in a panel: `make serve`.
globalThis.playgroundPanel = {of: panelOf, imageOf};

document.addEventListener("DOMContentLoaded", () => {
    const summaries = [...document.querySelectorAll("summary")];
    const questions = summaries.find(summary => summary.textContent === "Predict first")?.parentElement;
    for (const place of document.querySelectorAll("details.playground")) { // one for each lesson of the page
        place.addEventListener("toggle", async () => { if (!place.panel) (await panelOf(place)).begin(); });
        if (place.dataset.opens === "when seen") openWhenSeen(place);
        questions?.addEventListener("toggle", () => addPredictions(questions, place.dataset).catch(() => {}), {once: true});
    }
});
