// All exercises with their state, the golf board of the one with a score, and in a class who has solved what.
import {ask} from "./api.js";
import {bars, make, shown} from "./html.js";

const states = {solved: "solved", begun: "begun", changed: "changed since its last check", "-": "not begun"};

function headsOf(names) {
    return make("thead", {}, make("tr", {}, ...names.map(name => name ? make("th", {scope: "col"}, name) : make("td"))));
}

function row({number, title, page, state, checked, passed, hints: [seen, all]}, isNext) {
    const words = state === "begun" && checked ? `begun: ${passed.join(", ") || "does not compile"}` : states[state];
    return make("tr", {class: `${state}${isNext ? " next-task" : ""}`, "aria-current": isNext && "step"},
        make("th", {scope: "row"}, number), make("td", {}, make("a", {href: page}, title)),
        make("td", {}, make("span", {class: "mark", "aria-hidden": "true"}, state === "solved" ? "✓ " : ""), words),
        make("td", {class: "number"}, `${seen} of ${all}`));
}

function exercisesShown({exercises, next}) {
    const solved = exercises.filter(one => one.state === "solved").length, task = exercises.find(one => one.number === next);
    return [make("p", {class: "progress"}, make("progress", {max: exercises.length, value: solved, "aria-label": "Solved"}),
        ` ${solved} of ${exercises.length} solved.`),
        task ? make("p", {}, make("a", {class: "door", href: task.page}, `Next: exercise ${task.number}, ${task.title}`))
            : make("p", {}, "You have solved them all."),
        make("div", {class: "wide"}, make("table", {class: "board"},
            headsOf(["", "exercise", "state", "hints shown"]),
            make("tbody", {}, ...exercises.map(one => row(one, one === task)))))];
}

function golfShown({number, counter, history}, exercises) {
    const page = exercises.find(one => one.number === number)?.page ?? "", best = Math.min(...history.map(one => one.score));
    const when = time => new Date(time).toLocaleString(undefined, {dateStyle: "medium", timeStyle: "short"});
    return [make("h2", {id: "golf"}, `The fewest ${counter}`),
        make("p", {}, make("a", {href: page}, `Open exercise ${number}`), ` counts ${counter}. Fewer are better.`
            + (history.length ? "" : " Each solution that passes its check is a line here.")),
        ...history.length ? [bars("Your solutions, in order",
            history.map(({time, score}) => [when(time), score, shown(score), score === best && "best"]))] : []];
}

function classShown({students, exercises}) {
    const sign = state => state === "solved" ? "✓" : state && state !== "-" ? "·" : "";
    return [make("h2", {}, "The class"), make("p", {}, "✓ solved, · begun"),
        make("div", {class: "wide", tabindex: 0, role: "region", "aria-label": "The class"}, make("table", {class: "class"},
            headsOf(["student", "solved", ...exercises]),
            make("tbody", {}, ...students.map(({name, solved, states}) => make("tr", {}, make("th", {scope: "row"}, name),
                make("td", {class: "number"}, String(solved)),
                ...exercises.map(number => states[number] ?? "").map(state => make("td", {class: state, title: state}, sign(state))))))))];
}

export async function showBoard(place, about) {
    const board = await ask("GET", "exercises");
    place.replaceChildren(...about.teacher ? [...classShown(await ask("GET", "class")), make("h2", {}, "Your own exercises")] : [],
        ...exercisesShown(board), ...board.golf ? golfShown(board.golf, board.exercises) : []);
}
