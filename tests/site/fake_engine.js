// An engine for the tests of the panel: no emulator, so that its numbers, its time and its errors are what a test wants.
// `fake` has: milliseconds until a run ends; took, error, findings, actual, waiting: what it returns; without: a fact that the lesson lacks; requests: those that came.
// A page sets them first in `setting`.
"use strict";

var fake = {milliseconds: 0, requests: [], ...window.setting};

var playground = {
    lessons: {lesson03: {
        n: {value: 65536, most: 1048576},
        sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}, padding: {from: 0, to: 33, value: 1},
                  type: {choices: ["int", "half"], value: "int"}, early_exit: {flag: true, value: false}},
        missing: {reduce_over_a_link: "A page has no link."},
        kernels: {reduce_with_a_long_name: null, reduce2: null, reduce3: null, reduce_of_a_later_lesson: null},
    }, emulate: {kernels: {launch: null}}},
    bundles: {lesson03: {facts: {...fakeFacts, [fake.without]: null}}, emulate: {facts: fakeFacts}},
    engine: () => ({
        run: request => new Promise((resolve, reject) => {
            fake.requests.push(request);
            const timer = setTimeout(() => resolve(fakeRun(request)), fake.milliseconds);
            fake.stop = () => {
                clearTimeout(timer);
                reject(new Error("stopped"));
            };
        }),
        stop: () => fake.stop(),
    }),
};

// What lesson 03's page derives, for whole blocks: a tree of 12 warps if a block has 256 threads.
function fakeRun({kernel, n, block, options, lines, draw, check, steps, broken}) {
    if (kernel === "launch") {
        const name = Object.fromEntries(fakeFacts.counters.map(one => [one.id, one.name]));
        return {counters: {}, error: null, grid: options.grid, block: options.block, warp_instructions: 1234,
                lines: [{file: "", line: 4, counters: {[name.warp_instructions]: 16}}], buffers: [[5, -7], null],
                findings: [{check: "race", message: "it races", file: "", line: 4}]};
    }
    const elements = kernel === "reduce2" ? 1 : 2, blocks = Math.ceil(n / (elements * block));
    let tree = 0;
    for (let stride = block / 2; stride >= 1; stride /= 2) tree += Math.ceil(stride / 32);
    const ids = {global_load_sectors: Math.ceil(n / 8), global_load_requests: Math.ceil(n / 32), global_store_sectors: blocks,
                 global_store_requests: blocks, shared_load_wavefronts: blocks * (2 * tree + 1),
                 shared_store_wavefronts: blocks * (tree + block / 32), shared_load_bank_conflicts: kernel === "reduce2" ? 16 : 2,
                 shared_store_bank_conflicts: kernel === "reduce2" ? 0 : 7, warp_instructions: 40 * blocks,
                 thread_instructions: kernel === "reduce2" ? 1600 : 100, divergent_branches: kernel === "reduce2" ? 6 : 0};
    const counters = Object.fromEntries(fakeFacts.counters.map(({id, name}) => [name, ids[id] ?? 0]));
    const name = Object.fromEntries(fakeFacts.counters.map(one => [one.id, one.name]));
    const metric = Object.fromEntries(fakeFacts.counters.map(({id, name}) => [id, name]));
    const at = part => ({file: "kernels.cuh", line: fakeFacts.text.findIndex(line => line.includes(part)) + 1});
    return {
        counters, verified: fake.actual === undefined && !broken, expected: 829743, error: fake.error ?? null,
        actual: broken ? 7 : fake.actual ?? 829743,
        grid: [blocks, 1, 1], block: [block, 1, 1], milliseconds: fake.took ?? 0,
        lines: lines ? [
            {...at("int sum ="), counters: {[metric.warp_instructions]: 16, [metric.global_load_sectors]: 1000}},
            {...at("sum += input"), counters: {[metric.warp_instructions]: 8, [metric.global_load_sectors]: 500},
             ideal: {[metric.global_load_sectors]: 200}},
            {...at("shared[tid] +="), counters: {[metric.warp_instructions]: 12, [metric.shared_load_wavefronts]: 3200}},
        ] : [],
        pictures: draw ? Object.entries(fakeFacts.pictures).map(([name, svg]) => ({name, svg})) : [],
        // A tree in a block of 64: each word is the sum of so many ones. Warp 1 stores, and then it waits.
        steps: steps ? [["shared[tid] = sum", 0, 64], ["shared[tid] +=", 1, 32], ["shared[tid] +=", 2, 16]].map(
            ([part, barriers, lanes], k) => ({
                ...at(part), what: "shared store", barriers,
                active: [lanes > 16 ? 0xffffffff : 0xffff, lanes > 32 ? 0xffffffff : 0],
                waiting: fake.waiting ?? (lanes > 32 ? [] : [[1, 0xffffffff, at("__syncthreads").line]]),
                writes: Array.from({length: lanes}, (_, word) => [word, 2 ** k]),
            })) : [],
        findings: (broken ? [{check: "race", message: "it races"}] : check ? fake.findings ?? [] : [])
            .map(finding => ({...at("shared[tid] +="), ...finding})),
    };
}
