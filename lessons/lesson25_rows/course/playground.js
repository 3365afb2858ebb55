// What main.cu does, for the page: a thread, a warp or a block for each row of sums; a block for each row of a softmax.
function sum_rows(host, kernel, threads_per_row, {rows, columns, block}) {
    const input = host.random_ints(rows * columns), sums = host.ints(rows);
    const grid = Math.ceil(rows / (block / threads_per_row));
    host.launch(kernel, {grid, block}, input, sums, host.u64(rows), host.u64(columns));
    const expected = new Int32Array(rows);
    host.read(input).forEach((value, i) => expected[Math.floor(i / columns)] += value);
    return host.verify(expected, sums);
}

// The rows of data.hpp that a careless softmax gets wrong: around -1000, 0 and 1000 in turn, with -inf here and there, a row of
// -inf only, and one with a NaN.
function logits(ints, columns) {
    return Float32Array.from(ints, (drawn, i) => {
        const row = Math.floor(i / columns);
        if (row % 64 === 63 && i % columns === row % columns) return NaN;
        return drawn % 16 === 0 || row % 64 === 62 ? -Infinity : drawn / 64 + 1000 * (row % 3 - 1);
    });
}
function softmax_of(row) {
    const max = row.reduce((a, b) => b > a ? b : a, -Infinity); // skips a NaN
    const powers = Array.from(row, (value) => Math.exp(value - max)), sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => Math.fround(power / sum));
}
function softmax(host, kernel, {rows, columns, block}) {
    const values = logits(host.read(host.random_ints(rows * columns)), columns);
    const input = host.floats(rows * columns), output = host.floats(rows * columns);
    host.write(input, values);
    host.launch(kernel, {grid: rows, block}, input, output, host.u64(columns));

    const bound = 1.01 * 7 * (Math.ceil(columns / block) + 11) * 2 ** -24; // the page derives it
    const smallest = 2 ** -126; // normal float
    const results = host.read(output);
    let near = 0;
    for (let first = 0; first < values.length; first += columns)
        softmax_of(values.subarray(first, first + columns)).forEach((expected, i) => {
            const actual = results[first + i];
            if (Number.isNaN(expected) ? Number.isNaN(actual) : Math.abs(actual - expected) <= bound * expected + smallest) ++near;
        });
    return {verified: near === values.length, expected: values.length, actual: near};
}

playground.lesson("lesson25", {
    sliders: {
        rows: {from: 1, to: 1024, value: 256},
        columns: {from: 1, to: 1024, value: 256},
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
    },
    kernels: {
        rows_by_thread: (host, options) => sum_rows(host, "rows_by_thread", 1, options),
        rows_by_warp: (host, options) => sum_rows(host, "rows_by_warp", 32, options),
        rows_by_block: (host, options) => sum_rows(host, "rows_by_block", options.block, options),
        softmax_three_passes: (host, options) => softmax(host, "softmax_three_passes", options),
        softmax_online: (host, options) => softmax(host, "softmax_online", options),
    },
});
