// What main.cu does, for the page: floats, and a thread has four vectors of 16 bytes. Lesson 22's data.hpp explains the elements.
const operations = {sum: "Sum", min: "Min", argmax: "ArgMax"};

function elements(host, n, op) {
    return Float32Array.from({length: n}, (_, i) => {
        const random = host.random_int(i);
        return (op === "min" ? Math.abs(random) : op === "argmax" ? -Math.abs(random) : random) / 1000;
    });
}

function data(host, {n, offset}, op) {
    const values = elements(host, n, op), input = host.bytes(4 * (offset + n));
    host.write(input, new Uint8Array(values.buffer), 4 * offset);
    return {values, input: host.at(input, 4 * offset)};
}

// \param operations the most that lie between an element and the result
function check(values, op, bytes, operations) {
    const [actual] = new Float32Array(bytes.buffer);
    if (op === "min") {
        const expected = values.reduce((a, b) => b < a ? b : a);
        return {verified: actual === expected, expected, actual};
    }
    if (op === "argmax") {
        const place = (value, index) => `${Number(value.toPrecision(8))} at ${index}`;
        const most = values.reduce((best, value, i) => value > values[best] ? i : best, 0);
        const [expected, found] = [place(values[most], most), place(actual, new BigInt64Array(bytes.buffer, 8, 1)[0])];
        return {verified: expected === found, expected, actual: found};
    }
    let exact = 0n, size = 0; // The elements are multiples of 2^-62.
    for (const value of values) exact += BigInt(value * 2 ** 62), size += Math.abs(value);
    const expected = Number(exact) * 2 ** -62, part = operations * 2 ** -24;
    return {verified: Math.abs(actual - expected) <= part / (1 - part) * size, expected, actual};
}

function grid_for(host, {n, block}, kernel) {
    return Math.min(Math.ceil(n / (16 * block)), host.resident_blocks(kernel, block));
}
function operations_of({n, block}, grid) {
    return 4 * Math.ceil(Math.ceil(n / 4) / (grid * block)) + 2 + 3 + 10 + Math.ceil(grid / block) + 10;
}

playground.lesson("lesson33", {
    n: {value: 65536, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
        op: {choices: Object.keys(operations), value: "sum"},
        offset: {from: 0, to: 64, value: 0},
    },
    missing: {reduce: "The header chooses among five kernels. ./lesson33 --kernel reduce runs it."},
    kernels: {
        reduce_any(host, options) {
            const {n, block, op} = options, kernel = `reduce_any<float, ${operations[op]}<float>>`;
            const {values, input} = data(host, options, op), grid = grid_for(host, options, kernel);
            const bytes = op === "argmax" ? 16 : 4;
            const result = host.bytes(bytes), partials = host.bytes(grid * bytes), blocks_done = host.unsigned(1);
            host.fill(blocks_done, 0);
            host.launch(kernel, {grid, block}, input, result, host.u64(n), partials, blocks_done);
            return check(values, op, host.read(result), operations_of(options, grid));
        },
        two_launches(host, options) {
            const {n, block, op} = options, kernel = `values_of_blocks<float, ${operations[op]}<float>>`;
            const {values, input} = data(host, options, op), grid = grid_for(host, options, kernel);
            const bytes = op === "argmax" ? 16 : 4;
            const result = host.bytes(bytes), partials = host.bytes(grid * bytes);
            host.launch(kernel, {grid, block}, input, host.u64(n), partials);
            host.other_launch(`value_of_values<${operations[op]}<float>>`, {grid: 1, block}, partials, host.u32(grid), result);
            return check(values, op, host.read(result), operations_of(options, grid));
        },
        range_of_blocks(host, options) {
            const {n, block, offset} = options, values = elements(host, n, "sum");
            const place = (factor) => Number((BigInt.asUintN(64, host.seed * factor) >> 20n) % BigInt(n));
            values[place(0x9E3779B97F4A7C15n)] = 2;
            values[place(0xBF58476D1CE4E5B9n)] = -2;
            const all = host.bytes(4 * (offset + n)), input = host.at(all, 4 * offset);
            host.write(all, new Uint8Array(values.buffer), 4 * offset);
            const grid = grid_for(host, options, "range_of_blocks");
            const result = host.bytes(8), partials = host.bytes(grid * 8);
            host.launch("range_of_blocks", {grid, block}, input, host.u64(n), partials);
            host.other_launch("range_of_values", {grid: 1, block}, partials, host.u32(grid), result);
            const text = (least, most) => `${Number(least.toPrecision(8))} to ${Number(most.toPrecision(8))}`;
            const expected = text(values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b)));
            const actual = text(...new Float32Array(host.read(result).buffer));
            return {verified: actual === expected, expected, actual};
        },
    },
});
