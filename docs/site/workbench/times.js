// An estimate of a launch's time: the floors, what warps wait for, and the timeline.
import {bars, counted, make, shown, volume} from "./html.js";

const names = {memory: "memory", instructions: "instructions", data_pipe: "data pipe", barriers: "barriers", alu: "integer ALU",
               fma: "multipliers", xu: "conversions", block_starts: "block starts", stores: "stores", atomics: "atomics"};
const mostWaits = 6;

// As the terminal has it: three digits, "13.6"
function short(us) {
    return us < 99.95 ? us.toFixed(1) : shown(Math.round(us));
}

function launchShown(launch) {
    const {card, time_us_estimated: us, floors_us: floors = {}, waits = {}, error_found: error} = launch;
    const title = nameOf(launch);
    if (us === undefined) return [make("h4", {}, title), make("p", {}, launch.reason ?? "No estimate.")];
    const sorted = Object.entries(floors).filter(([, time]) => time >= 0.05).sort(([, a], [, b]) => b - a);
    const waited = Object.entries(waits).filter(([, share]) => share >= 0.005).slice(0, mostWaits);
    return [make("h4", {}, title),
        make("p", {}, make("b", {}, `${short(us)} µs`), ` on an ${card}: an estimate. `,
            error ? `The error found, of ${error.kernels}: ${error.median_percent} % in the median, at most ${Math.round(error.most_percent)} %.`
                : ""),
        ...sorted.length ? [bars("Floors: the time that each part of the card needs alone",
            sorted.map(([name, time], k) => [names[name] ?? name, time, `${short(time)} µs`, k === 0 && "highest"]))] : [],
        ...waited.length ? [bars("What warps wait for, of their time",
            waited.map(([name, share], k) => [name.replaceAll("_", " "), share, `${Math.round(100 * share)} %`]))] : []];
}

function nameOf({kernel, grid, block}) {
    return `${kernel}, ${counted(volume(grid), "block")} of ${counted(volume(block), "thread")}`;
}

// One timeline at a time: of the first launch of each kind.
async function timelinesShown(timelines, launches) {
    const images = await Promise.all(timelines.map(({svg}) => window.playgroundPanel.imageOf({name: "timeline", svg})));
    const place = make("div", {class: "timeline", tabindex: 0, role: "region", "aria-label": "Timeline"}, images[0]);
    const names = timelines.map(one => nameOf(launches.find(({launch}) => launch === one.launch)));
    const list = make("select", {"aria-label": "Timeline of the launch"}, ...names.map(name => make("option", {}, name)));
    list.addEventListener("change", () => place.replaceChildren(images[list.selectedIndex]));
    return [make("h4", {}, "The first cycles of one multiprocessor"), ...names.length > 1 ? [list] : [], place];
}

export async function timesShown({launches, timelines, reason}) {
    const parts = launches.flatMap(launchShown);
    if (!launches.length && reason) parts.push(make("p", {}, reason));
    return [...parts, ...timelines.length ? await timelinesShown(timelines, launches) : []];
}
