// The emulator in WebAssembly, under Node: its counters equal the command's. Usage: playground_test.mjs playground.js lesson03.ptx lesson03

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { gzipSync } from "node:zlib";

const [library, ptxFile, lesson] = process.argv.slice(2);
const createPlayground = createRequire(import.meta.url)(library);
const emulator = await createPlayground();

const error = emulator.cwrap("playground_error", "string", []);
const kernels = emulator.cwrap("playground_kernels", "string", []);
const { _playground_allocate: allocate, _playground_release: release } = emulator;
const launch = emulator.cwrap("playground_launch", "string", ["string", ...Array(7).fill("number"), "array", "number", "number"]);
const plenty = 1e9; // warp instructions

function load(ptx) {
    const bytes = new TextEncoder().encode(ptx);
    const address = emulator._playground_text(bytes.length);
    emulator.HEAPU8.set(bytes, address);
    return emulator._playground_load();
}

function ints(address, count) {
    return new Int32Array(emulator.HEAPU8.buffer, address, count); // anew after each allocation: memory may have grown
}

// Pointers to memory, and a size_t.
function parameters(...values) {
    return new Uint8Array(new BigUint64Array(values.map(BigInt)).buffer);
}

function run(kernel, { grid, block, shared = 0, limit = plenty }, bytes) {
    const counters = launch(kernel, ...grid, ...block, shared, bytes, bytes.length, limit);
    if (counters === null || counters === "") throw new Error(error());
    return JSON.parse(counters);
}

test("counters of lesson 03 equal the command's", () => {
    assert.equal(load(readFileSync(ptxFile, "utf8")), 1, error());
    for (const n of [1000, 4097, 65536]) { // less than a block, one more than blocks hold, whole blocks
        const printed = JSON.parse(execFileSync(lesson, ["--device", "emulator", "--format", "json", "--n", n]));
        assert.deepEqual(printed.kernels.map(({ name }) => name), ["reduce2", "reduce3"]);
        const input = allocate(4 * n), sums = allocate(4 * n);
        ints(input, n).forEach((_, k, all) => { all[k] = k % 7 - 3; });
        const expected = ints(input, n).reduce((sum, value) => sum + value, 0);
        for (const { name, grid, block, dynamic_shared_bytes: shared, counters } of printed.kernels) {
            const kernel = JSON.parse(kernels()).find((one) => one.readable_name.startsWith(`${name}(`));
            assert.deepEqual(kernel.parameters, [0, 8, 16].map((offset) => ({ offset, bytes: 8 })));
            const counted = run(kernel.name, { grid, block, shared }, parameters(input, sums, n));
            assert.ok(Object.keys(counters).length > 5);
            for (const [metric, value] of Object.entries(counters))
                assert.equal(counted[metric], value, `${metric} of ${name}, n = ${n}`);
            assert.equal(ints(sums, grid[0]).reduce((sum, value) => sum + value, 0), expected);
        }
        assert.equal(release(input), 1);
        assert.equal(release(sums), 1);
    }
});

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

test("has at most 3 MB, compressed", () => {
    assert.ok(gzipSync(readFileSync(library)).length < 3e6);
});

test("an endless kernel stops, with its line", () => {
    assert.equal(load(module("again:\n    bra again;\n")), 1, error());
    assert.throws(() => run("k", { grid: [1, 1, 1], block: [32, 1, 1], limit: 1e6 }, parameters(0)),
        /stopped after [\d,]+ warp instructions, in k, block \(0,0,0\)[^]*bra again;/);
});

test("what is wrong is said", () => {
    assert.equal(load("not PTX"), 0);
    assert.match(error(), /line 1/);
    assert.throws(() => run("k", { grid: [1, 1, 1], block: [1, 1, 1] }, parameters(0)), /no PTX is loaded/);
    assert.equal(load(module("    ret;\n")), 1, error());
    assert.throws(() => run("no_kernel", { grid: [1, 1, 1], block: [1, 1, 1] }, parameters(0)), /no_kernel/);
    assert.equal(load(module("    st.global.u32 [%rd0], 1;\n")), 1, error());
    assert.throws(() => run("k", { grid: [1, 1, 1], block: [1, 1, 1] }, parameters(12)), /st\.global\.u32/);
});

test("rounds in every mode, without a processor that does", () => {
    // 1 + 2^-24 lies in the middle between 1 and the number after it. 2^-126 (1 - 2^-24) is subnormal, and so a zero with .ftz;
    // rounded to the bits of a subnormal number it would be 2^-126.
    const sums = ["rn", "rz", "rm", "rp"].map((mode, k) =>
        `add.${mode}.f32 %f0, 0f3F800000, 0f33800000;\n st.global.f32 [%rd0+${4 * k}], %f0;`);
    assert.equal(load(module(`${sums.join("\n")}
        mov.f32 %f1, 0f00800000;
        mul.ftz.f32 %f0, %f1, 0f3F7FFFFF;
        st.global.f32 [%rd0+16], %f0;
        mov.f64 %fd0, 0.1;
        cvt.rm.f32.f64 %f0, %fd0;
        st.global.f32 [%rd0+20], %f0;`)), 1, error());
    const results = allocate(24);
    run("k", { grid: [1, 1, 1], block: [1, 1, 1] }, parameters(results));
    // 0.1 is 0x3DCCCCCD to the nearest f32, which is above it.
    assert.deepEqual([...ints(results, 6)], [0x3F800000, 0x3F800000, 0x3F800000, 0x3F800001, 0, 0x3DCCCCCC]);
});
