// The lessons in their pages, under Node: lesson 03 gives what the command gives.
// Usage: playground_test.mjs FOLDER lesson03 emulate, where `make playground` has written its scripts to FOLDER.

import assert from "node:assert/strict";
import { resolveObjectURL } from "node:buffer";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import test from "node:test";
import { Worker as Thread } from "node:worker_threads";
import { gzipSync } from "node:zlib";

const [folder, lesson, emulate] = process.argv.slice(2).map((path) => resolve(path));
const sources = resolve(new URL("../../..", import.meta.url).pathname);
const require = createRequire(import.meta.url);
const playground = globalThis.playground = require(join(folder, "engine.js"));
require(join(folder, "lesson03.js"));
const engine = playground.engine();
const facts = playground.bundles.lesson03.facts;
const kernels = "lessons/lesson03_first_add_on_load/kernels.cuh";

const scratch = mkdtempSync(join(tmpdir(), "playground"));
process.on("exit", () => rmSync(scratch, { recursive: true }));

// Runs reduce3 under `emulate` with these options. Its exit status is not 0 if something was found.
function emulated(...options) {
    spawnSync(emulate, [...options, "--launch", "0", lesson, "--device", "emulator", "--n", "4097", "--kernel", "reduce3"]);
}
const run = (kernel, n, more = {}) => engine.run({ lesson: "lesson03", kernel, n, block: 256, ...more });

test("counters of lesson 03 equal the command's", async () => {
    for (const n of [1000, 4097, 65536]) { // less than a block, one more than blocks hold, whole blocks
        const printed = JSON.parse(execFileSync(lesson, ["--device", "emulator", "--format", "json", "--n", n],
            { stdio: "pipe" }));
        assert.deepEqual(printed.kernels.map(({ name }) => name), ["reduce2", "reduce3"]);
        for (const { name, grid, block, dynamic_shared_bytes: shared, expected, actual, counters } of printed.kernels) {
            const result = await run(name, n);
            assert.equal(result.error, null);
            assert.deepEqual([result.grid, result.block, result.shared], [grid, block, shared]);
            assert.ok(Object.keys(counters).length > 5);
            for (const [metric, value] of Object.entries(counters))
                assert.equal(result.counters[metric], value, `${metric} of ${name}, n = ${n}`);
            assert.equal(result.warp_instructions, counters["smsp__inst_executed.sum"]);
            assert.deepEqual([result.verified, result.expected, result.actual], [true, expected, actual]);
        }
    }
});

test("a time is what the command estimates", () => {
    const output = join(scratch, "times.json"), { of, us = {} } = facts.times ?? {};
    const run = spawnSync(emulate, ["--time-only", "--format", "json", "--output", output, lesson, "--block", "64", "--n", "2^28"],
        { encoding: "utf8" });
    if (facts.times === undefined) return assert.match(run.stderr, /no times can be estimated/);
    const { launches } = JSON.parse(readFileSync(output, "utf8"));
    assert.equal(of, "268,435,456 elements");
    assert.deepEqual(launches.map(({ kernel }) => kernel), Object.keys(us));
    for (const { kernel, time_us_estimated } of launches) assert.equal(us[kernel][64], Number(time_us_estimated.toPrecision(4)));
});

test("a line costs what --lines prints", async () => {
    const output = join(scratch, "lines.json");
    emulated("--lines", "--format", "json", "--output", output);
    const [{ functions: [printed] }] = JSON.parse(readFileSync(output, "utf8")).lines;
    const costs = (lines) => Object.fromEntries(lines.filter(({ counters }) => counters && Object.keys(counters).length > 0)
        .map(({ line, counters }) => [line, counters]));
    const { lines } = await run("reduce3", 4097, { lines: true });
    assert.ok(lines.length > 5);
    assert.deepEqual(costs(lines), costs(printed.lines));
    for (const { file } of lines) assert.equal(file, kernels);
    for (const { line, text } of printed.lines) assert.equal(facts.sources[kernels].split("\n")[line - 1], text);
});

test("pictures are those of --draw", async () => {
    const { pictures } = await run("reduce3", 4097, { draw: true });
    assert.deepEqual(pictures.map(({ name }) => name), ["banks", "sectors", "tile", "activity"]);
    for (const { name, svg } of pictures) {
        emulated("--draw", name, "--output", scratch);
        const drawn = readFileSync(join(scratch, `reduce3_${name}.svg`), "utf8");
        const plain = (text) => text.replace(/cudaMalloc #\d+/g, "cudaMalloc"); // the command allocates more
        assert.equal(plain(svg), plain(drawn), name);
    }
});

test("steps show what shared memory holds", async () => {
    const { steps, arrays, counters } = await run("reduce3", 128, { block: 64, steps: true });
    assert.deepEqual(arrays, [{ name: "shared", word: 0, words: 64 }]);
    // A block of 64 threads: their first store, and the tree with strides 32 to 1. The last step stores the sum in global memory.
    assert.deepEqual(steps.map(({ barriers }) => barriers), [0, 1, 2, 3, 4, 5, 6, 7]);
    const words = [];
    for (const { writes } of steps.slice(0, 1)) for (const [word, value] of writes) words[word] = value;
    assert.equal(words.length, 64);
    const sum = words.reduce((a, b) => a + b);
    for (const [k, stride] of [32, 16, 8, 4, 2, 1].entries()) {
        const { writes, active, what, file } = steps[k + 1];
        assert.deepEqual([what, file], ["shared store", kernels]);
        assert.deepEqual(active, [stride === 32 ? 0xFFFFFFFF : 2 ** stride - 1, 0]); // lanes below the stride, of warp 0
        assert.deepEqual(writes, words.slice(0, stride).map((value, word) => [word, value + words[word + stride]]));
        for (const [word, value] of writes) words[word] = value;
    }
    assert.equal(words[0], sum);
    // Warp 1 waits at the barrier in the loop, until it exits.
    const barrier = 1 + facts.sources[kernels].split("\n").findLastIndex((line) => line.includes("__syncthreads()"));
    const waits = [[1, 0xFFFFFFFF, barrier]];
    assert.deepEqual(steps.map(({ waiting }) => waiting), [[], waits, waits, waits, waits, waits, waits, []]);
    assert.deepEqual([steps[7].what, steps[7].writes], ["global store", []]);
    assert.deepEqual((await run("reduce3", 128, { block: 64 })).counters, counters);
});

test("the checkers find what is broken, with its line", async () => {
    const checked = await run("reduce3", 4097, { check: true });
    assert.deepEqual([checked.findings, checked.error], [[], null]);
    const without_barriers = facts.ptx.replace(/^.*\bbar(rier)?\.sync.*;$/gm, "");
    const broken = await run("reduce3", 4097, { check: true, ptx: without_barriers });
    assert.equal(broken.error, null);
    const file = join(scratch, "without_barriers.ptx"), output = join(scratch, "findings.json");
    writeFileSync(file, without_barriers);
    emulated("--check", "all", "--format", "json", "--output", output, "--ptx", file);
    const printed = JSON.parse(readFileSync(output, "utf8")).findings;
    assert.ok(printed.some(({ checker }) => checker === "race"));
    const facts_of = ({ kind, parties, count }) =>
        [kind, parties.map(({ where }) => where.replace(/^.*lessons/, "lessons")), count];
    assert.deepEqual(broken.findings.map((one) => [one.check, ...facts_of(one)]),
        printed.map((one) => [one.checker, ...facts_of(one)]));
    for (const { message, file, line } of broken.findings) {
        assert.ok(message.length > 10);
        assert.equal(file, kernels);
        assert.match(facts.sources[kernels].split("\n")[line - 1], /shared\[/);
    }
});

// A lesson of the test's own, whose kernel is the PTX of the request.
playground.bundle("test", function () {
    playground.lesson("test", {
        n: { value: 6 }, sliders: { block: { value: 1 } },
        kernels: {
            k(host, { n, block, address, blocks = 1, cooperative = false }) {
                const results = host.ints(n);
                host.launch("k", { grid: blocks, block, cooperative }, address === undefined ? results : host.u64(address));
                return { verified: true, actual: [...host.read(results)] };
            },
            names(host) { host.launch("no_kernel", { grid: 1, block: 1 }); },
            few(host) { host.launch("k", { grid: 1, block: 1 }); },
            wide(host) { host.launch("k", { grid: 1, block: 1 }, host.u32(1)); },
            launches(host) {
                const one = host.ints(1);
                host.launch("k", { grid: [2, 3], block: 32 }, one);
                host.other_launch("k", { grid: 7, block: 64 }, one);
            },
        },
    });
}, { ptx: "" });

const module = (body) => `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    ld.param.u64 %rd0, [p];
${body}
}
`;
const run_ptx = (ptx, more = {}) => engine.run({ lesson: "test", kernel: "k", ptx, ...more });

test("has at most 3 MB, compressed", () => {
    const sizes = readdirSync(folder).map((name) => gzipSync(readFileSync(join(folder, name))).length);
    assert.ok(sizes.length >= 2);
    assert.ok(sizes.reduce((a, b) => a + b) < 3e6);
});

test("names no path of the machine that made it", () => {
    for (const name of readdirSync(folder))
        assert.doesNotMatch(readFileSync(join(folder, name), "utf8"), new RegExp(`${sources}/|/usr/local/`), name);
});

test("an endless kernel stops, with its line", async () => {
    const { error } = await run_ptx(module("again:\n    bra again;\n"), { limit: 1e6, block: 32 });
    assert.match(error, /stopped after [\d,]+ warp instructions, in k, block \(0,0,0\)[^]*bra again;/);
});

test("what is wrong is said", async () => {
    assert.match((await run_ptx("not PTX")).error, /line 1/);
    assert.match((await run_ptx(module("    ret;\n"), { kernel: "names" })).error, /no kernel no_kernel, only k/);
    assert.match((await run_ptx(module("    ret;\n"), { kernel: "few" })).error, /k has 1 parameters, not 0/);
    assert.match((await run_ptx(module("    ret;\n"), { kernel: "wide" })).error, /parameter 1 of k has 8 bytes, not 4/);
    const outside = await run_ptx(module("    st.global.u32 [%rd0], 1;\n"), { options: { address: 12 } });
    assert.match(outside.error, /st\.global\.u32/);
    const many = await run_ptx(module("    ret;\n"), { options: { cooperative: true, blocks: 4225 } });
    assert.match(many.error, /a cooperative launch has at most 4,224 blocks/); // 132 multiprocessors hold 32 each
    await assert.rejects(engine.run({ lesson: "lesson99", kernel: "k" }), /lesson99 is not in this page/);
});

test("the launch that is shown is the one the lesson is about", async () => {
    const result = await run_ptx(module("    ret;\n"), { kernel: "launches" });
    assert.deepEqual([result.grid, result.block], [[2, 3, 1], [32, 1, 1]]);
    assert.equal(result.warp_instructions, 6 * 2); // 6 blocks of a warp: ld.param and ret
});

test("rounds in every mode, without a processor that does", async () => {
    // 1 + 2^-24 lies in the middle between 1 and the number after it. 2^-126 (1 - 2^-24) is subnormal, and so a zero with .ftz;
    // rounded to the bits of a subnormal number it would be 2^-126.
    const sums = ["rn", "rz", "rm", "rp"].map((mode, k) =>
        `add.${mode}.f32 %f0, 0f3F800000, 0f33800000;\n st.global.f32 [%rd0+${4 * k}], %f0;`);
    const { error, actual } = await run_ptx(module(`${sums.join("\n")}
        mov.f32 %f1, 0f00800000;
        mul.ftz.f32 %f0, %f1, 0f3F7FFFFF;
        st.global.f32 [%rd0+16], %f0;
        mov.f64 %fd0, 0.1;
        cvt.rm.f32.f64 %f0, %fd0;
        st.global.f32 [%rd0+20], %f0;`));
    assert.equal(error, null);
    // 0.1 is 0x3DCCCCCD to the nearest f32, which is above it.
    assert.deepEqual(actual, [0x3F800000, 0x3F800000, 0x3F800000, 0x3F800001, 0, 0x3DCCCCCC]);
});

// A page's Worker, as a thread of Node's.
class Worker {
    constructor(url) {
        this.started = resolveObjectURL(url).text().then((program) => {
            const self = "var self = {postMessage: (data) => port.postMessage(data)};";
            const thread = new Thread(`const port = require("worker_threads").parentPort; ${self}${program}
                port.on("message", (data) => self.onmessage({data}));`, { eval: true });
            thread.on("message", (data) => this.onmessage({ data }));
            thread.on("error", (error) => this.onerror(error));
            return thread;
        });
    }
    postMessage(data) { this.started.then((thread) => thread.postMessage(data)); }
    terminate() {
        this.constructor.ended += 1;
        this.started.then((thread) => thread.terminate());
    }
    static ended = 0;
}

test("runs in a worker, and can be stopped", async () => {
    const here = await run("reduce3", 4097);
    globalThis.Worker = Worker;
    try {
        const page = playground.engine();
        const there = await page.run({ lesson: "lesson03", kernel: "reduce3", n: 4097, block: 256 });
        assert.deepEqual(there.counters, here.counters);
        const endless = page.run({ lesson: "test", kernel: "k", ptx: module("again:\n    bra again;\n"), limit: 1e15 });
        setTimeout(page.stop, 500);
        await assert.rejects(endless, /^Error: stopped$/);
        assert.equal(Worker.ended, 1);
        const after = await page.run({ lesson: "lesson03", kernel: "reduce3", n: 4097, block: 256 });
        assert.deepEqual(after.counters, here.counters);
        page.stop();
    } finally {
        delete globalThis.Worker;
    }
});
