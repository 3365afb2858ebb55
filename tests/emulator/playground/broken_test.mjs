// The kernels that the lessons' pages offer to break, under Node: each breaks as it should, and unbroken it does not.
// Usage: broken_test.mjs FOLDER_OF_BUNDLES

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import test from "node:test";

const [bundles] = process.argv.slice(2);
const require = createRequire(import.meta.url);
globalThis.playground = require(resolve(bundles, "engine.js"));
const names = readdirSync(bundles).map((file) => /^(lesson\d\d)\.js$/.exec(file)?.[1]).filter((name) => name !== undefined);
for (const name of names) require(resolve(bundles, `${name}.js`));
const engine = playground.engine();

// What each is about, in the order of its file: the checker that finds it, and words of the line where. Or the wrong result alone:
// a finding would be another mistake.
const wrong = null;
const found_by = {
    lesson00: [["race", "shared[tid + stride]"], ["sync", "__syncthreads()"], ["mem", "input[i]"]],
    lesson01: [["race", "shared[index + stride]"], ["mem", "shared[index + stride]"]],
    lesson02: [["init", "shared[tid + stride]"], wrong],
    lesson03: [["race", "shared[tid + stride]"], ["mem", "input[i + blockDim.x]"], wrong],
    lesson04: [["race", "shared[tid ^ 16]"], ["race", "shared[tid] = sum"], wrong],
    lesson05: [["race", "shared[tid"], ["race", "shared[tid ^ 16]"], wrong],
    lesson06: [wrong, ["mem", "input[i + block_size]"], ["init", "shared[tid + 128]"]],
    lesson07: [["init", "warp_sums[lane]"], ["sync", "__shfl_down_sync"], wrong],
    lesson09: [["race", "is_last"], ["race", "partial_sums[b]"], ["race", "blocks_done"]],
    lesson16: [["race", "tile["], ["race", "tile["], wrong],
    lesson17: [["race", "tile["], ["mem", "tile[row * 32 + col]"]],
    lesson18: [["race", "tile["], ["init", "tile[col * width + row]"], ["mem", "out[idx]"]],
    lesson19: [["race", "tile["], ["init", "tile[transposed_col"]],
    lesson20: [["race", "tile["], wrong],
    lesson21: [["race", "tile["], ["mem", "out[idx]"]],
    lesson27: [["race", "warp_sums["], ["race", "tiles."], ["race", "sum_before"]],
};

test("every broken kernel is in the table of this test", () => {
    const counts = (of) => Object.fromEntries(Object.entries(of).filter(([, {length}]) => length > 0)
        .map(([name, {length}]) => [name, length]));
    assert.deepEqual(counts(Object.fromEntries(names.map((name) => [name, playground.bundles[name].facts.broken]))),
        counts(found_by));
});

for (const [lesson, expected] of Object.entries(found_by)) {
    const {broken, sources} = playground.bundles[lesson].facts;
    test(`${lesson} breaks as its page says`, async () => {
        assert.equal(new Set(broken.map(({name}) => name)).size, broken.length, "by its name one finds it");
        for (const [k, {kernel, options: {n, block, ...options}, name, sources: instead}] of broken.entries()) {
            const request = {lesson, kernel, n, block, options, check: true, lines: true};
            const what = `${lesson} ${kernel} ${name}`;
            const whole = await engine.run({...request, check: ["mem", "init", "race", "sync", "global-races"]});
            assert.deepEqual([whole.error, whole.verified, whole.findings], [null, true, []], `${what}: unbroken`);
            const result = await engine.run({...request, broken: name});
            const shown = result.findings.map(({check, message, file, line}) => `${check}: ${message} at ${file}:${line}`);
            if (expected[k] === wrong) {
                assert.deepEqual([result.error, result.verified, shown], [null, false, []], what);
                continue;
            }
            const [check, words] = expected[k];
            const found = result.findings.filter((finding) => finding.check === check
                && instead[finding.file]?.split("\n")[finding.line - 1].includes(words));
            assert.ok(found.length > 0, `${what}: ${JSON.stringify([result.error, result.verified, shown])}`);
            assert.ok(found[0].file in sources, "the page shows this file");
        }
    });
}

test("a broken kernel that is not there is an error", async () => {
    const {error} = await engine.run({lesson: "lesson03", kernel: "reduce3", n: 1024, broken: "without a brain"});
    assert.equal(error, "there is no broken kernel 'without a brain'");
});
