// What main.cu and softmax.cuh do, for the page: rows of up to 1,024 floats, which start at whole vectors of 4 if columns is a
// multiple of 4.

// The rows of lesson 25's data.hpp, which a careless softmax gets wrong: around -1000, 0 and 1000 in turn, with -inf here and there,
// a row of -inf only, and one with a NaN.
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
// `launch` gets input and output. `bound`: how far a result may be from the right one, relative to it; the page derives it
function softmax(host, {rows, columns}, launch, bound = (80 + 10 * 32) * 2 ** -24) {
    const values = logits(host.read(host.random_ints(rows * columns)), columns);
    const input = host.floats(rows * columns), output = host.floats(rows * columns);
    host.write(input, values);
    launch(input, output);

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
function by_header(launch) {
    return (host, options) => softmax(host, options, (input, output) =>
        launch(host, options, host.struct(input, output, host.u64(0), host.u64(options.rows), host.u64(options.columns))));
}

// A part of a warp, or all of it: [the most vectors of a row, lanes, vectors per lane].
const aligned = [[1, 1, 1], [2, 2, 1], [4, 4, 1], [8, 8, 1], [16, 8, 2], [32, 16, 2], [64, 16, 4], [128, 32, 4], [256, 32, 8]];
const with_edges = [[16, 16, 1], [32, 16, 2], [64, 32, 2], [128, 32, 4], [256, 32, 8]];
function lanes(host, {rows, columns}, matrix) {
    if (columns > 1024) throw new Error("A warp has rows of up to 1024. Choose fewer columns.");
    const vectors = Math.ceil(columns / 4);
    const fits = ([most]) => vectors <= most;
    let lanes = 0, arguments_ = "";
    if (columns % 4 === 0) {
        const [, of_row, per_lane] = aligned.find(fits);
        [lanes, arguments_] = [of_row, `4, ${of_row}, ${per_lane}, false`];
    } else if (columns <= 32) {
        lanes = 2 ** Math.max(0, Math.ceil(Math.log2(columns / 4)));
        arguments_ = `1, ${lanes}, 4, false`;
    } else {
        const [, of_row, per_lane] = with_edges.find(fits);
        [lanes, arguments_] = [of_row, `4, ${of_row}, ${per_lane}, true`];
    }
    const grid = Math.ceil(rows / (128 / lanes));
    host.launch(`rows_by_lanes<float, ${arguments_}, 128>`, {grid, block: 128}, matrix, host.u32(columns));
}
function thread(host, {rows, columns}, matrix) {
    host.launch(`rows_by_thread<float, ${columns}, 256>`, {grid: Math.ceil(rows / (256 * 4 / columns)), block: 256}, matrix);
}
function blocks(host, {rows, columns}, matrix, cluster) {
    const block = 32 * Math.ceil(columns / (1024 * cluster)), grid = rows * cluster;
    host.launch("rows_by_block<float, 4>", {grid, block, cluster}, matrix, host.u32(columns), host.u32(cluster));
}
function whole_grid(host, {rows}, matrix) { // a row is a single piece, so it has one block
    const parts = host.words(rows), pieces = host.struct(host.u32(1), host.u64(1)), size = {grid: rows, block: 256};
    host.other_launch("parts_of_rows<float, 4>", size, matrix, pieces, parts);
    host.launch("quotients_of_rows<float, 4>", size, matrix, pieces, parts);
}

playground.lesson("lesson31", {
    sliders: {
        rows: {from: 1, to: 1024, value: 256},
        columns: {from: 1, to: 1024, value: 256},
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
    },
    kernels: {
        softmax_online: (host, options) => softmax(host, options,
            (input, output) => host.launch("softmax_online", {grid: options.rows, block: options.block}, input, output,
                host.u64(options.columns)),
            1.01 * 7 * (Math.ceil(options.columns / options.block) + 11) * 2 ** -24),
        softmax_in_registers(host, options) {
            if (options.columns > 1024) throw new Error("A warp has rows of up to 1024. Choose fewer columns.");
            const grid = Math.ceil(32 * options.rows / options.block);
            return softmax(host, options, (input, output) => host.launch("softmax_in_registers",
                {grid, block: options.block}, input, output, host.u64(options.rows), host.u64(options.columns)));
        },
        softmax: by_header((host, options, matrix) =>
            (options.columns <= 2 ? thread : options.columns <= 1024 ? lanes : blocks)(host, options, matrix, 1)),
        lanes: by_header(lanes),
        block: by_header((host, options, matrix) => blocks(host, options, matrix, 1)),
        cluster: by_header((host, options, matrix) => blocks(host, options, matrix, 2)),
        grid: by_header(whole_grid),
    },
});
