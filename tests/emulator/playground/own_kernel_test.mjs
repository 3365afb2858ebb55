// A reader's own kernel on emulate's page, under Node: the same launch counts what a lesson's page counts.
// Usage: own_kernel_test.mjs FOLDER_OF_BUNDLES

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import test from "node:test";

const [bundles] = process.argv.slice(2);
const require = createRequire(import.meta.url);
globalThis.playground = require(resolve(bundles, "engine.js"));
for (const name of ["lesson03", "emulate"]) require(resolve(bundles, `${name}.js`));
const engine = playground.engine();
const { ptx } = playground.bundles.lesson03.facts;

function launch(ptx, values, more) {
    const options = {name: "_Z7reduce3PKiPim", grid: [2], block: [256], shared: 1024, values, ...more};
    return engine.run({lesson: "emulate", kernel: "launch", ptx, options, lines: true, check: true});
}
// Two blocks of 256 threads sum two ints each: 1,024.
const values = [{kind: "random ints", value: 1024}, {kind: "ints", value: 2}, {kind: "u64", value: 1024}];

test("it counts what the lesson's page counts", async () => {
    const request = {lesson: "lesson03", kernel: "reduce3", n: 1024, block: 256, lines: true, check: true};
    const [lessons, own] = [await engine.run(request), await launch(ptx, values)];
    assert.deepEqual([own.error, own.findings], [null, []]);
    assert.deepEqual(own.counters, lessons.counters);
    assert.deepEqual(own.lines, lessons.lines);
    assert.deepEqual([own.buffers[0].length, own.buffers[1].length, own.buffers[2]], [8, 2, null]);
    assert.equal((own.buffers[1][0] + own.buffers[1][1]) | 0, lessons.actual, "the partial sums");
});

test("an array that is too short is a finding in its line", async () => {
    const { findings: [found] } = await launch(ptx, [{kind: "random ints", value: 1023}, ...values.slice(1)]);
    assert.equal(found.check, "mem");
    const text = playground.bundles.lesson03.facts.sources[found.file].split("\n")[found.line - 1];
    assert.match(text, /sum \+= input\[i \+ blockDim\.x\]/);
});

test("lines are those of the PTX where it has no other", async () => {
    const bare = ptx.replace(/^\s*\.(loc|file).*$/gm, "");
    const { lines } = await launch(bare, values);
    const texts = bare.split("\n");
    for (const { file, line } of lines) {
        assert.equal(file, "");
        assert.match(texts[line - 1], /^\s*[@a-z].*;/, "an instruction");
    }
    assert.ok(lines.length > 20);
});

test("what cannot be launched is said", async () => {
    assert.match((await launch("nonsense", values)).error, /expected '\.version'/);
    assert.match((await launch(ptx, values.slice(1))).error, /has 3 parameters, not 2/);
    assert.match((await launch(ptx, [{kind: "struct", value: 1}, ...values.slice(1)])).error, /type struct\.$/);
    assert.match((await launch(ptx, values, {name: "reduce"})).error, /there is no kernel reduce/);
});
