// The kernels that the lessons' pages offer to break, under Node: each breaks as it should, and unbroken it does not. And the
// solutions that the exercises' pages offer to run: each is right.
// Usage: broken_test.mjs FOLDER_OF_BUNDLES

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import test from "node:test";

const [bundles] = process.argv.slice(2);
const require = createRequire(import.meta.url);
globalThis.playground = require(resolve(bundles, "engine.js"));
const names = readdirSync(bundles).map((file) => /^((?:lesson|exercise)\d\d)\.js$/.exec(file)?.[1]).filter((name) => name !== undefined);
for (const name of names) require(resolve(bundles, `${name}.js`));
const engine = playground.engine();

const lessons = names.filter((name) => playground.bundles[name].facts.broken?.length > 0);

test("there are broken kernels", () => assert.ok(lessons.length >= 16, `${lessons}`));

for (const lesson of lessons) {
    const {broken, sources} = playground.bundles[lesson].facts;
    test(`${lesson} breaks as its page says`, async () => {
        assert.equal(new Set(broken.map(({name}) => name)).size, broken.length, "by its name one finds it");
        for (const {kernel, options: {n, block, ...options}, name, expected, sources: instead} of broken) {
            const request = {lesson, kernel, n, block, options, check: true, lines: true};
            const what = `${lesson} ${kernel} ${name}`;
            const whole = await engine.run({...request, check: ["mem", "init", "race", "sync", "global-races"]});
            assert.deepEqual([whole.error, whole.verified, whole.findings], [null, true, []], `${what}: unbroken`);
            const result = await engine.run({...request, broken: name});
            const shown = result.findings.map(({check, message, file, line}) => `${check}: ${message} at ${file}:${line}`);
            if (expected === "wrong result") { // and no finding: that would be another mistake
                assert.deepEqual([result.error, result.verified, shown], [null, false, []], what);
                continue;
            }
            const [, check, words] = /^(\w+): (.+)$/.exec(expected);
            const found = result.findings.filter((finding) => finding.check === check
                && instead[finding.file]?.split("\n")[finding.line - 1].includes(words));
            assert.ok(found.length > 0, `${what}: ${JSON.stringify([result.error, result.verified, shown])}`);
            assert.ok(found[0].file in sources, "the page shows this file");
        }
    });
}

// 24 of the 25 files course/solution.cuh: lesson 15's kernel is a template, and does not say for which values.
const solved = names.filter((name) => playground.bundles[name].facts.solution);

test("there are solutions", () => assert.equal(solved.length, 24, `${solved}`));

for (const lesson of solved) {
    const {kernels, ptx, sources} = playground.bundles[lesson].facts.solution;
    test(`${lesson} runs the exercise's solution`, async () => {
        for (const kernel of kernels) {
            const result = await engine.run({lesson, kernel, ptx, check: true, lines: true});
            assert.deepEqual([result.error, result.verified, result.findings], [null, true, []], kernel);
            assert.ok(result.lines.some(({file}) => file in sources), "by line");
        }
    });
}

test("a broken kernel that is not there is an error", async () => {
    const {error} = await engine.run({lesson: "lesson03", kernel: "reduce3", n: 1024, broken: "without a brain"});
    assert.equal(error, "there is no broken kernel 'without a brain'");
});
