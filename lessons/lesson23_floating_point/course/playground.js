// What main.cu does, for the page. data.hpp explains the floats and their exact sum, orders.hpp how far from it each sum may be.
function float_elements(host, {n, cancel, tiny}) {
    const from_0_to_1 = (bits) => Math.fround(Number(bits >> 11n)) * 2 ** -53;
    return Float32Array.from({length: n}, (_, i) => {
        const first = cancel ? Math.min(i, n - 1 - i) : i;
        let value = from_0_to_1(host.random_bits(first));
        if (cancel && first !== n - 1 - first) {
            const bits = host.random_bits(first, ~host.seed);
            const magnitude = Math.fround(1 + from_0_to_1(bits)) * 2 ** Number(bits % 37n);
            const large = bits >> 10n & 1n ? -magnitude : magnitude;
            value = i === first ? large : Math.fround(value - large);
        }
        return tiny ? value * 2 ** -140 : value;
    });
}

// A float is a whole number of units of 2^-149, so their sum is exact.
function units_of(value) { return BigInt(value * 2 ** 149); }
function number_of(units) { return Number(units) * 2 ** -149; }
function nearest_float(units) {
    const rest = BigInt(Math.max(0, units.toString(2).length - 50)), kept = units >> rest; // exact as a number
    const inexact = kept << rest === units ? 0n : 1n; // then it is not halfway between two floats
    return Math.fround(Number(kept | inexact) * 2 ** (Number(rest) - 149));
}

function input_of(host, options) {
    const values = float_elements(host, options), buffer = host.floats(values.length);
    host.write(buffer, values);
    let sum = 0n, magnitude = 0n;
    for (const value of values) {
        sum += units_of(value);
        magnitude += units_of(Math.abs(value));
    }
    return {buffer, sum, magnitude: number_of(magnitude)};
}
function compare({sum}, result, bound) {
    const near = Number.isFinite(result) && Math.abs(number_of(sum - units_of(result))) <= bound;
    return {verified: near, expected: nearest_float(sum), actual: result};
}

function grids_of({n, block, blocks}) { // of each launch
    const grids = [];
    do grids.push(n = Math.min(Math.ceil(n / block), blocks || Infinity)); while (n > 1);
    return grids;
}
function additions_in_block(n, block, grid) { return Math.ceil(n / (grid * block)) - 1 + Math.log2(block); }
function growth(h, u = 2 ** -24) { return Math.expm1(h * Math.log1p(u)); }

function sum_in_tree(host, options, make, [first, next], bound_of, float_of) {
    const {n, block} = options;
    const input = input_of(host, options), grids = grids_of(options), sums = grids.map(make);
    host.launch(first, {grid: grids[0], block}, input.buffer, sums[0], host.u64(n));
    for (let k = 1; k < grids.length; ++k)
        host.other_launch(next, {grid: grids[k], block}, sums[k - 1], sums[k], host.u64(grids[k - 1]));
    const additions = grids.reduce((all, grid, k) => all + additions_in_block(k === 0 ? n : grids[k - 1], block, grid), 0);
    const bound = bound_of(additions, Math.abs(number_of(input.sum)), input.magnitude);
    return compare(input, float_of(host.read(sums[grids.length - 1])), bound);
}

playground.lesson("lesson23", {
    n: {value: 65536, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
        cancel: {flag: true, value: false},
        tiny: {flag: true, value: false},
        blocks: {from: 0, to: 1024, value: 0}, // 0: as many as are useful
    },
    kernels: {
        sum_sequential(host, options) {
            const input = input_of(host, options), result = host.floats(1);
            host.fill(result, 0);
            host.launch("sum_sequential", {grid: 1, block: 1}, input.buffer, result, host.u64(options.n));
            return compare(input, host.read(result)[0], growth(options.n - 1) * input.magnitude);
        },
        sum_tree(host, options) {
            return sum_in_tree(host, options, (count) => host.floats(count), ["sum_tree", "sum_tree"],
                (h, sum, magnitude) => growth(h) * magnitude, ([sum]) => sum);
        },
        sum_atomic(host, options) {
            const {n, block} = options, [grid] = grids_of(options);
            const input = input_of(host, options), result = host.floats(1);
            host.fill(result, 0);
            host.launch("sum_atomic", {grid, block}, input.buffer, result, host.u64(n));
            const h = additions_in_block(n, block, grid) + grid - 1;
            const made_zero = (1 + growth(h)) * grid * 2 * 2 ** -126; // subnormal numbers, by an atomicAdd
            return compare(input, host.read(result)[0], growth(h) * input.magnitude + made_zero);
        },
        sum_kahan(host, options) {
            return sum_in_tree(host, options, (count) => host.floats(2 * count), ["sum_kahan<float>", "sum_kahan<Compensated>"],
                (h, sum, magnitude) => 2 ** -24 * sum + (1 + 2 ** -24) * growth(2 * h) * growth(h) * magnitude,
                ([sum, lost]) => Math.fround(sum + lost));
        },
        sum_in_double(host, options) {
            return sum_in_tree(host, options, (count) => host.doubles(count), ["sum_in_double<float>", "sum_in_double<double>"],
                (h, sum, magnitude) => 2 ** -24 * sum + (1 + 2 ** -24) * growth(h, 2 ** -53) * magnitude + 2 ** -150,
                ([sum]) => Math.fround(sum));
        },
        sum_reproducible(host, options) {
            const {n, block, blocks} = options, shared = block * 9 * 8;
            const most_blocks = host.resident_blocks("sum_reproducible", block, shared);
            const grid = blocks > 0 ? grids_of(options)[0] : Math.min(Math.ceil(n / (16 * block)), most_blocks);
            const input = input_of(host, options), sum = host.words(10), result = host.floats(1);
            host.fill(sum, 0);
            host.launch("sum_reproducible", {grid, block, shared}, input.buffer, sum, host.u64(n));
            host.other_launch("round_sum", {grid: 1, block: 1}, sum, result);
            const nearest = nearest_float(input.sum), [actual] = host.read(result);
            return {verified: actual === nearest, expected: nearest, actual};
        },
        exact_sum(host, options) { // exact_sum.cuh chooses by n. The input starts at a line of 128 bytes: no head.
            const {n} = options, vectors = Math.floor(n / 4);
            const [block, per_thread] = n <= 16384 ? [512, 8] : n < 524288 ? [256, 4] : [512, 4];
            const grid = Math.max(1, Math.min(Math.ceil(vectors / (block * per_thread)), 2 * host.multiprocessors));
            const input = input_of(host, options), meeting = host.words(33), result = host.floats(1);
            host.fill(meeting, 0);
            const parts = host.struct(input.buffer, input.buffer, host.u64(vectors), host.u32(0), host.u32(n % 4));
            host.launch(`exact_sum<float, ${block}, 2, 2>`, {grid, block, shared: block * 16 * 8}, parts, result, meeting);
            const nearest = nearest_float(input.sum), [actual] = host.read(result);
            return {verified: actual === nearest, expected: nearest, actual};
        },
    },
});
