// The pages of `emulate --export`, under Node: each launch counts, costs by line and breaks as the command says.
// Usage: export_test.mjs emulate exported lesson03

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import test from "node:test";
import { runInThisContext } from "node:vm";

const [emulate, exported, lesson] = process.argv.slice(2).map((path) => resolve(path));
const scratch = mkdtempSync(join(tmpdir(), "export"));
process.on("exit", () => rmSync(scratch, { recursive: true }));
globalThis.require = createRequire(import.meta.url);
globalThis.__dirname = scratch;
globalThis.document = { addEventListener() {} };

// On one processor, as in a page: blocks that wait for others count how long they waited.
const processor = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1];
function emulated(options, ...command) {
    return spawnSync("taskset", ["-c", processor, emulate, ...options, ...command], { encoding: "utf8", maxBuffer: 1 << 26 });
}
function report(options, ...command) {
    const file = join(scratch, "report.json");
    emulated([...options, "--format", "json", "--output", file], ...command);
    return JSON.parse(readFileSync(file, "utf8"));
}
// The page's engine, and what is in the page.
function page(options, ...command) {
    const file = join(scratch, "page.html");
    rmSync(file, { force: true });
    const said = emulated(["--export", file, ...options], ...command).stderr;
    const html = readFileSync(file, "utf8");
    const [, scripts] = /<script>\n([^]*?)\n<\/script>/.exec(html);
    runInThisContext(scripts);
    const { facts } = playground.bundles.replay, names = Object.keys(playground.lessons.replay.kernels), engine = playground.engine();
    const run = (launch, more) => engine.run({ lesson: "replay", kernel: names[launch], lines: true, draw: true, check: true, ...more });
    return { html, said, facts, names, run };
}
const facts_of = ({ kind, message, parties, count }) =>
    [kind, message.replace(/0x\w{6,}/g, "0x…"), parties.map(({ block, thread, where }) => [block, thread, where.replace(/^.*\//, "")]), count];

const whole = page([], exported);
const { launches } = report(["--counters", "--check", "all"], exported);

test("each launch counts what the command counts", async () => {
    assert.deepEqual(launches.map(({ kernel }) => kernel),
        ["sum_rows", "as_often_as_launched", "write_padded", "copy_padded", "in_step", "neighbors", "copy_padded"]);
    assert.deepEqual(whole.names, launches.map(({ kernel }, number) => `launch ${number}: ${kernel}`));
    for (const round of [1, 2]) { // the second finds the memory as the first did, whatever ran between
        for (const [number, { counters, grid, block, dynamic_shared_bytes: shared }] of launches.entries()) {
            const result = await whole.run(number);
            assert.deepEqual([result.error, result.findings], [null, []], whole.names[number]);
            assert.deepEqual(result.counters, counters, `${whole.names[number]}, round ${round}`);
            assert.deepEqual([result.grid, result.block, result.shared], [grid, block, shared]);
        }
    }
});

test("a line costs what the command prints", async () => {
    for (const number of launches.keys()) {
        const { lines: [{ functions }] } = report(["--lines", "--launch", number], exported);
        const printed = Object.fromEntries(functions.flatMap((one) => one.lines)
            .filter(({ counters }) => counters && Object.keys(counters).length > 0)
            .map(({ line, counters }) => [line, counters]));
        const result = await whole.run(number);
        const costs = result.lines.filter(({ counters }) => Object.keys(counters).length > 0);
        assert.deepEqual(Object.fromEntries(costs.map(({ line, counters }) => [line, counters])), printed, whole.names[number]);
    }
});

test("findings are the command's", async () => {
    const { findings } = report(["--check", "all"], exported, "wrong");
    const wrong = page([], exported, "wrong");
    const result = await wrong.run(0);
    assert.deepEqual([...new Set(findings.map(({ checker }) => checker))], ["mem", "init", "race"]);
    assert.deepEqual(result.findings.map(facts_of), findings.map(facts_of));
});

test("a page says nothing of this machine's folders", () => {
    assert.doesNotMatch(whole.html, new RegExp(resolve(new URL("../../..", import.meta.url).pathname)));
    assert.deepEqual(Object.keys(whole.facts.sources), ["exported.cu"]);
    assert.match(whole.html, /__global__ void sum_rows/);
});

test("pictures are those of --draw", async () => {
    const { pictures } = await whole.run(0);
    assert.deepEqual(pictures.map(({ name }) => name), ["sectors", "activity"]);
    for (const { name, svg } of pictures) {
        emulated(["--draw", name, "--launch", "0", "--output", scratch], exported);
        assert.equal(svg, readFileSync(join(scratch, `sum_rows_${name}.svg`), "utf8"), name);
    }
});

test("a lesson runs as well, and only the launches that were chosen", async () => {
    const words = [lesson, "--device", "emulator", "--n", "4097"];
    const { said, html, names, run } = page(["--kernel", "reduce3", "--launch", "2"], ...words);
    assert.deepEqual(names, ["reduce3"]);
    assert.match(said, /page\.html: 1 launch, \d\.\d MB\n/);
    assert.ok(html.length < 4e6);
    const { launches: [{ counters }] } = report(["--counters", "--launch", "2"], ...words);
    assert.deepEqual((await run(0)).counters, counters);
});

test("PTX of the reader's takes the place of the recorded", async () => {
    const { facts, run } = whole;
    const ptx = facts.modules[0].replace(/^\s*\.global .*launches_before/m, ".global .align 4 .b8 one_more[70000];\n$&");
    assert.notEqual(ptx, facts.modules[0]);
    const own = await run(0, { ptx });
    assert.deepEqual([own.counters, own.findings], [launches[0].counters, []]); // with the program's weights
    const [found] = (await run(1, { ptx })).findings; // the program stored where its own variable lies
    assert.match(found.message, /illegal 4-byte load from global memory/);
    assert.match((await run(0, { ptx: ptx.replaceAll("weights", "w") })).error, /the PTX has no variable weights/);
});

test("what no page can run is said", () => {
    const file = join(scratch, "none.html");
    const refused = (wanted, ...command) => {
        const { status, stderr } = emulated(["--export", file], ...command);
        assert.equal(status, 125);
        assert.match(stderr, wanted);
        assert.ok(!existsSync(file), "it wrote a page");
    };
    refused(/--export: allocate\(int\*\*\) calls malloc or new, which/, exported, "malloc");
    refused(/--export: cudaHostRegister #1, 4,096 bytes: a page has room for 1 GiB/, exported, "registered");
    refused(/--export: the launches find more than 32 MiB/, exported, "large");
    refused(/--export: more than 100 launches/, exported, "many");
    refused(/never called the CUDA runtime/, "/bin/true");
});
