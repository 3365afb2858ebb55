// Each lesson's host part, under Node: what a page shows equals what the lesson's program prints, to the digit.
// Usage: lessons_test.mjs FOLDER_OF_BUNDLES FOLDER_OF_PROGRAMS RUNS.json [LESSON...]
// It writes each run that it compared to RUNS.json, for browser_test.py: [{request, result}].

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import test, { after } from "node:test";

const [bundles, programs, runsFile, ...only] = process.argv.slice(2);
const require = createRequire(import.meta.url);
globalThis.playground = require(resolve(bundles, "engine.js"));
// The panel's own code: the run that answers a question of "Predict first", and which of its numbers does.
const panel = ["counters", "predict_first"]
    .map((name) => readFileSync(new URL(`../../../docs/playground/panel/${name}.js`, import.meta.url), "utf8"));
const prediction = new Function(`${panel.join("")} return {requestOf, answerOf};`)();

const names = readdirSync(bundles).map((file) => /^(lesson\d\d|start)\.js$/.exec(file)?.[1])
    .filter((name) => name !== undefined && (only.length === 0 || only.includes(name)));
assert.ok(names.length > 0, `no lesson in ${bundles}`);
for (const name of names) require(resolve(bundles, `${name}.js`));
const engine = playground.engine();

// A lesson's first run leaves all but its size to the defaults. Others have other blocks and options, and sizes that no block
// divides. In the third run of lessons 06 and 07 the grids are cut to what the card holds. `without` is a kernel that takes fewer.
const first_runs = {lesson14: {n: 1000}, lesson24: {width: 64, height: 64}, lesson25: {rows: 64, columns: 64},
    lesson31: {rows: 64, columns: 64}};
const tiles = [{width: 7, padding: 1}, {width: 24, padding: 3}];
const rectangles = [{width: 7, height: 5, padding: 1}, {width: 24, height: 40, padding: 3}];
const runs = {
    lesson06: [{n: 4099, block: 64, elements_per_thread: 5}, {n: 300007, block: 1024, elements_per_thread: 1}],
    lesson07: [{n: 4099, block: 64}, {n: 600011, block: 512}],
    lesson08: [{n: 4099, block: 64, offset: 3}, {n: 65537, block: 512, offset: 8}],
    lesson09: [{n: 4099, block: 64, offset: 3}, {n: 65537, block: 512, offset: 8}],
    lesson14: [{n: 1999, block: 1024}, {n: 63, block: 32}],
    lesson15: [{n: 4099, block: 64, coarsening: 2}, {n: 20011, block: 512, coarsening: 16}],
    lesson16: tiles,
    lesson17: tiles,
    lesson18: tiles,
    lesson19: rectangles,
    lesson20: rectangles,
    lesson21: rectangles,
    lesson22: [{n: 4099, block: 64, type: "half", op: "argmax", offset: 3}, {n: 20011, block: 512, type: "double", op: "variance"}],
    lesson23: [{n: 4099, block: 64, cancel: true, blocks: 7}, {n: 20011, block: 512, tiny: true}],
    lesson24: [{width: 31, height: 65}, {width: 200, height: 7}],
    lesson25: [{rows: 67, columns: 131, block: 64}, {rows: 7, columns: 1000, block: 512}],
    lesson26: [{n: 4099, block: 64, skew: 30}, {n: 65537, block: 512, skew: 100}],
    lesson28: [
        {n: 4099, block: 64, stages: 2, kib_per_stage: 2, blocks_per_sm: 2, offset: 3},
        {n: 65537, block: 512, stages: 8, kib_per_stage: 16, offset: 8},
    ],
    lesson29: [{n: 4099, block: 64, blocks: 5, offset: 3}, {n: 65537, block: 1024, blocks: 8}],
    lesson30: [{n: 4099, block: 64, offset: 3}, {n: 20011, offset: 8, without: "one_block"}, {n: 150001, without: "one_block"}],
    lesson31: [{rows: 67, columns: 131, block: 64}, {rows: 7, columns: 1000, block: 512}, {rows: 1001, columns: 2}, {rows: 70, columns: 7}],
    lesson32: [{n: 4099, block: 64, blocks: 7}, {n: 20011, block: 512}],
    lesson33: [{n: 4099, block: 64, op: "argmax", offset: 3}, {n: 20011, block: 512, op: "min"}],
    lesson35: [{n: 4099, block: 64, cards: 3}, {n: 20011, block: 512, cards: 1}],
};
// What both refuse.
const refused = [
    ["lesson14", "smem_reduction", {n: 2048, block: 512}],
    ["lesson19", "setRowReadCol", {width: 64, height: 64}],
    ["lesson22", "reduce_any", {n: 1000, type: "int", op: "mean"}],
    ["lesson22", "reduce_any", {n: 1000, type: "float", op: "any"}],
    ["lesson28", "reduce10", {n: 1000, kib_per_stage: 1}],
    ["lesson28", "reduce11", {n: 1000, blocks_per_sm: 8}],
    ["lesson30", "one_block", {n: 8193}],
    ["lesson31", "softmax_in_registers", {rows: 1, columns: 1025}],
];

function runs_of(name) {
    const {n, sliders} = playground.lessons[name];
    const all = [first_runs[name] ?? (n ? {n: 1024} : {}), ...runs[name] ?? [{n: 4099, block: 64}, {n: 20011, block: 512}]];
    for (const slider of Object.keys(sliders))
        assert.ok(all.some((run) => slider in run), `no run of ${name} sets ${slider}: write one in lessons_test.mjs`);
    return all;
}

// On one processor, as in a page: blocks that wait for others count how long they waited.
const processor = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1];
function command(program, ...words) {
    return spawnSync("taskset", ["-c", processor, resolve(programs, program), ...words], {encoding: "utf8", maxBuffer: 1 << 26});
}
function words_of(run) {
    return Object.entries(run).filter(([, value]) => value !== false)
        .flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, ...value === true ? [] : [String(value)]]);
}
function printed_by(name, run, kernels) {
    const told = command(name, "--device", "emulator", "--format", "json", ...words_of(run),
        ...kernels.flatMap((kernel) => ["--kernel", kernel]));
    assert.equal(told.status, 0, told.stderr);
    return JSON.parse(told.stdout).kernels;
}
function request_of(lesson, kernel, {n, block, ...options}) { return {lesson, kernel, n, block, options}; }
function shown_in_page(lesson, kernel, run, more) { return engine.run({...request_of(lesson, kernel, run), ...more}); }

// All digits of whole numbers and of texts are printed, and at least eight of other numbers.
function equal_as_printed(shown, printed) {
    const whole = typeof printed === "string" || Number.isInteger(printed);
    return whole ? shown === printed || Number(shown) === printed : Math.abs(shown - printed) <= 1e-7 * Math.abs(printed);
}
async function compare(name, kernel, run, printed, more) {
    const shown = await shown_in_page(name, kernel, run, more);
    const what = `${name} ${kernel} ${words_of(run).join(" ")}`;
    assert.equal(shown.error, null, what);
    assert.ok(Object.keys(printed.counters).length > 5);
    const counted = Object.fromEntries(Object.keys(printed.counters).map((counter) => [counter, shown.counters[counter]]));
    assert.deepEqual(counted, printed.counters, what);
    const launch = ({grid, block}, shared) => printed.grid[0] === 0 ? "what sum() of lesson 30 chooses"
        : {grid, block, ...more === undefined ? {shared} : {}};
    assert.deepEqual(launch(shown, shown.shared), launch(printed, printed.dynamic_shared_bytes), what);
    assert.equal(shown.verified, printed.verified, what);
    for (const which of more === undefined ? ["expected", "actual"] : []) // exercises' programs verify block by block
        assert.ok(equal_as_printed(shown[which], printed[which]), `${what}: ${which} ${shown[which]}, not ${printed[which]}`);
    const {counters, grid, block, shared, verified} = shown;
    if (more === undefined) compared.push({request: request_of(name, kernel, run), result: {counters, grid, block, shared, verified}});
}
const compared = [];
after(() => writeFileSync(runsFile, JSON.stringify(compared)));

for (const name of names.filter((name) => name !== "start")) {
    test(`${name} counts in a page as in the terminal`, async () => {
        const {kernels, missing = {}} = playground.lessons[name];
        const listed = command(name, "--list").stdout.trim().split("\n");
        assert.deepEqual([...Object.keys(kernels), ...Object.keys(missing)].sort(), listed.sort());
        for (const sentence of Object.values(missing)) assert.match(sentence, /^[A-Z].*\.$/);
        for (const {without, ...run} of runs_of(name))
            for (const printed of printed_by(name, run, Object.keys(kernels).filter((kernel) => kernel !== without)))
                await compare(name, printed.name, run, printed);
        for (const kernel of Object.keys(kernels)) {
            const {error, findings} = await shown_in_page(name, kernel, runs_of(name)[0], {check: true});
            assert.deepEqual([error, findings], [null, []], `${name} ${kernel}`);
        }
    });
}

// start.cu has one size and no options.
test("start counts in a page as in the terminal", {skip: !names.includes("start")}, async () => {
    const told = command("emulate", "--counters", "--format", "json", resolve(programs, "start"));
    const {launches: [printed]} = JSON.parse(told.stderr);
    const {expected} = await shown_in_page("start", "square", {}); // start.cu does not print it
    await compare("start", "square", {}, {...printed, verified: true, expected, actual: expected});
});

// Its program has our solution, and so has the PTX in there. It may report more than its exercise's launch has: open exercise A
// gives three other kernels dynamic shared memory.
const exercises = readdirSync(bundles).map((file) => /^(exercise\w+)\.js$/.exec(file)?.[1]).filter((name) => name !== undefined);
for (const name of only.length === 0 ? exercises : []) {
    test(`${name} counts in a page as in the terminal`, async () => {
        require(resolve(bundles, `${name}.js`));
        const program = /[A-Z]$/.test(name) ? name.replace("exercise", "open") : name, ptx_file = `${runsFile}.${name}.ptx`;
        assert.equal(command("ptx_of", resolve(programs, program), ptx_file).status, 0);
        const ptx = readFileSync(ptx_file, "utf8"), {kernels, n} = playground.lessons[name];
        for (const run of n ? [{n: 1000, block: 256}, {n: 70001, block: 64}, {n: 300007, block: 1024}] : [{}])
            for (const printed of printed_by(program, run, Object.keys(kernels))) await compare(name, printed.name, run, printed, {ptx});
        const idle = ptx.replace(/^(\.visible \.entry[^{]*\{)/gm, "$1\nret;\n");
        for (const kernel of Object.keys(kernels)) {
            const shown = await shown_in_page(name, kernel, {n: n && 1000}, {ptx: idle});
            assert.deepEqual([shown.error, shown.verified], [null, false], `${name} ${kernel}, of which nothing is left`);
        }
    });
}

test("times are those that the programs estimate for their own size", () => {
    const quick = ["lesson14", "lesson18", "lesson29"];
    for (const name of names.filter((name) => name !== "start")) {
        const {times} = playground.bundles[name].facts;
        if (times && !quick.includes(name)) continue;
        const told = command(name, "--device", "emulator", "--time-only", "--format", "json");
        if (/no times can be estimated/.test(told.stderr)) return;
        const known = JSON.parse(told.stdout).kernels.filter((kernel) => "time_us_estimated" in kernel)
            .map(({name, block, time_us_estimated: us}) => [name, {[block[0]]: Number(us.toPrecision(4))}]);
        assert.deepEqual(times?.us ?? {}, Object.fromEntries(known), name);
    }
});

test("a run in the page answers the predictions as the program does", async () => {
    let answered = 0;
    for (const name of names) {
        const {counters, facts} = playground.bundles[name].facts, runs = new Map();
        for (const question of facts.predict ?? []) {
            const {kernel, run, counter} = question, what = `${name} ${kernel} ${run}: ${counter}`;
            if (!runs.has(`${kernel} ${run}`)) {
                const told = command(name, "--device", "emulator", "--format", "json", "--kernel", kernel, ...run.split(" "));
                assert.equal(told.status, 0, told.stderr);
                runs.set(`${kernel} ${run}`, [JSON.parse(told.stdout).kernels, await engine.run(prediction.requestOf(question, name))]);
            }
            const [[printed, ...more], shown] = runs.get(`${kernel} ${run}`);
            assert.deepEqual([shown.error, printed.name, more], [null, kernel, []], what);
            const by_program = counter === "blocks" ? printed.grid.reduce((blocks, extent) => blocks * extent)
                : printed.counters[counters.find(({short}) => short === counter).name];
            assert.ok(by_program >= 0, what);
            assert.equal(prediction.answerOf(question, shown, counters), by_program, what);
            answered += 1;
        }
    }
    assert.ok(answered > 20 || only.length > 0, "of them the lessons ask");
});

test("a kernel that does nothing is not verified", async () => {
    for (const name of names) {
        const ptx = playground.bundles[name].facts.ptx.replace(/^(\.visible \.entry[^{]*\{)/gm, "$1\nret;\n");
        for (const kernel of Object.keys(playground.lessons[name].kernels)) {
            const shown = await shown_in_page(name, kernel, {n: playground.lessons[name].n && 1000}, {ptx});
            assert.deepEqual([shown.error, shown.verified], [null, false], `${name} ${kernel}`);
        }
    }
});

test("a page refuses what the program refuses", async () => {
    for (const [name, kernel, run] of refused.filter(([name]) => names.includes(name))) {
        const what = `${name} ${kernel} ${words_of(run).join(" ")}`;
        assert.equal(command(name, "--device", "emulator", "--kernel", kernel, ...words_of(run)).status, 2, what);
        assert.match((await shown_in_page(name, kernel, run)).error, /^[A-Za-z][^\n]*\.$/, what);
    }
});
