// The workbench in a page that `make serve` serves: editors in the places that the site has for them, and the way to the next task.
import {ask} from "./api.js";
import {showBoard} from "./board.js";
import {Editor, OwnEditor} from "./editor.js";
import {make} from "./html.js";

// In place of the line that says how to get it. Of several the first is open.
function addExercises(place, about) {
    const panels = place.dataset.panels.split(" "), documents = place.dataset.documents.split(" ");
    const editors = documents.map((name, k) => new Editor(name, about, panels[k]));
    place.replaceWith(...editors.map(editor => documents.length === 1 ? box(editor) : fold(editor, `Exercise ${editor.name.slice(-2)}`)));
    if (documents.length !== 1) return;
    whenSeen(editors[0]);
    if (location.pathname.endsWith(`/${documents[0]}.html`)) // below the terminal's command
        document.querySelector("pre.console")?.after(make("p", {class: "way"}, "Or write, run and check it ",
            make("a", {href: "#editor"}, "in this page's editor"), "."));
}

function box(editor) {
    return make("div", {class: "workbench"}, make("h3", {id: "editor"}, editor.heading), editor.element);
}

function fold(editor, words) {
    const made = make("details", {class: "workbench"}, make("summary", {}, words), editor.element);
    made.addEventListener("toggle", () => editor.open(), {once: true});
    return made;
}

function whenSeen(editor) {
    new IntersectionObserver((entries, observer) => {
        if (!entries.some(entry => entry.isIntersecting)) return; // a jump may bring two
        observer.disconnect();
        editor.open();
    }, {rootMargin: "400px"}).observe(editor.element);
}

// Above a lesson's panel: its kernels as a scratch copy.
function addLesson(place, about) {
    const name = place.dataset.lesson, editor = new Editor(name, about, name);
    editor.panel.remove();
    editor.panel = place; // what it counts stands there
    place.before(fold(editor, `Edit the kernels of lesson ${name.slice(-2)}`));
}

function addBar(board) {
    const task = board.exercises.find(one => one.number === board.next), solved = board.exercises.filter(one => one.state === "solved");
    const bar = document.getElementById("tasks") ?? make("nav", {id: "tasks", "aria-label": "Exercises"});
    bar.replaceChildren(make("a", {href: "workbench.html", "aria-label": `${solved.length} of ${board.exercises.length} exercises solved`},
        `${solved.length} of ${board.exercises.length} solved`),
        ...task ? [make("a", {href: task.page}, `Next: exercise ${task.number}`)] : []);
    document.getElementById("mode-button")?.before(bar);
}

// A student of a class gives a name first.
function askForName(places) {
    const name = make("input", {type: "text", required: true, maxlength: 40, autocomplete: "off"}), said = make("p", {role: "alert"});
    const form = make("form", {class: "workbench join"}, make("label", {}, "Your name in this class ", name), " ",
        make("button", {type: "submit"}, "Join"), said);
    form.addEventListener("submit", async event => {
        event.preventDefault();
        try {
            await ask("POST", "join", {name: name.value});
            location.reload();
        } catch (error) {
            said.textContent = error.message;
        }
    });
    document.querySelector(".contents").prepend(form);
    for (const place of places) place.textContent = "Join the class first, at the top of this page.";
}

async function start() {
    const places = [...document.querySelectorAll(".workbench")];
    let about;
    try {
        about = await ask("GET", "about");
    } catch (error) {
        for (const place of places) place.textContent = error.message;
        return;
    }
    if (about.class && !about.name && !about.teacher) {
        askForName(places);
        return;
    }
    for (const place of places) {
        if (place.dataset.documents === "own") {
            const editor = new OwnEditor(about);
            place.replaceWith(box(editor));
            await editor.open();
        } else if (place.dataset.documents) addExercises(place, about);
        else if (place.dataset.board !== undefined) showBoard(place, about).catch(error => { place.textContent = error.message; });
    }
    for (const place of document.querySelectorAll('details.playground[data-lesson^="lesson"]:not(.workbench *, [data-solution])')) addLesson(place, about);
    document.addEventListener("workbench-progress", event => addBar(event.detail));
    addBar(await ask("GET", "exercises"));
}

start();
