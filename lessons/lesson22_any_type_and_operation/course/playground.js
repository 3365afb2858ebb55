// What main.cu does, for the page: one kernel template, and a thread has four vectors of 16 bytes. data.hpp explains the elements
// of each operation, and how far rounding may take a result from the exact one.
const types = {
    int: {T: "int", A: "int", array: Int32Array, bytes: 4},
    unsigned: {T: "unsigned int", A: "unsigned int", array: Uint32Array, bytes: 4},
    longlong: {T: "long long", A: "long long", array: BigInt64Array, bytes: 8},
    float: {T: "float", A: "float", array: Float32Array, bytes: 4, unit: 2 ** -24, shift: 16},
    double: {T: "double", A: "double", array: Float64Array, bytes: 8, unit: 2 ** -53, shift: 2 ** 20},
    half: {T: "__half", A: "float", array: Float32Array, bytes: 2, unit: 2 ** -24, shift: 16}, // accumulated in float
};
const templates = {sum: "Sum", product: "Product", min: "Min", max: "Max", argmax: "ArgMax", all: "All", any: "Any",
    mean: "MeanAndVariance", variance: "MeanAndVariance"};

function elements(host, n, type, op) {
    const {array, shift, T} = types[type], is_integer = shift === undefined, is_of_moments = templates[op] === "MeanAndVariance";
    const odd_one = Number((BigInt.asUintN(64, host.seed * 0x9E3779B97F4A7C15n) >> 20n) % BigInt(n)); // if the seed is even
    const is_odd = (i) => host.seed % 2n === 0n && i === odd_one, distance = Math.ceil(n / 64);
    const element = (i) => {
        const random = host.random_int(i);
        if (op === "all") return is_odd(i) ? 0 : random;
        if (op === "any") return is_odd(i) ? random : 0;
        if (op === "product" && is_integer) return 2 * random + 1;
        if (op === "product") return Math.sign(random) * (i % distance !== 0 ? 1 : i / distance % 4 === 0 ? 0.5 : 2);
        const number = op === "min" ? Math.abs(random) : op === "max" || op === "argmax" ? -Math.abs(random) : random;
        return is_integer ? number : (is_of_moments ? shift : 0) + number / 1000;
    };
    return array.from({length: n}, (_, i) => {
        if (type === "longlong") return BigInt(element(i)) * (op === "product" ? 1n : 2n ** 52n + 1n);
        return T === "__half" ? half(element(i)) : element(i);
    });
}
// The nearest half: 11 bits, for normal numbers only.
function half(value) {
    const ulp = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 10), even = 1.5 * 2 ** 52;
    return (value / ulp + even - even) * ulp; // the sum is rounded to a whole number
}
function half_bits(value) {
    const exponent = Math.floor(Math.log2(Math.abs(value)));
    return (value < 0 ? 0x8000 : 0) + (exponent + 15) * 1024 + Math.abs(value) * 2 ** (10 - exponent) - 1024;
}

// \param operations the most that lie between an element and the result
function check(values, type, op, bytes, operations) {
    const {array, unit} = types[type], count = values.length, result = new array(bytes.buffer)[0];
    const exactly = (expected, actual = result) => ({verified: expected === actual, expected, actual});
    const within = (expected, actual, bound) => ({verified: Math.abs(actual - expected) <= bound, expected, actual});
    const sum_of = (of) => values.reduce((sum, value) => sum + of(value), 0);
    const exact_sum = (scale) => { // the elements are multiples of 2^-scale
        let sum = 0n;
        for (const value of values) sum += BigInt(value * 2 ** scale);
        return Number(sum) * 2 ** -scale;
    };
    switch (op) {
    case "min": return exactly(values.reduce((a, b) => b < a ? b : a));
    case "max": return exactly(values.reduce((a, b) => b > a ? b : a));
    case "all": return exactly(values.every((value) => value !== 0) ? 1 : 0);
    case "any": return exactly(values.some((value) => value !== 0) ? 1 : 0);
    case "argmax": {
        const expected = values.reduce((best, value, i) => value > values[best] ? i : best, 0);
        const [index] = new BigInt64Array(bytes.buffer, 8, 1);
        const place = (value, index) => `${type === "half" || type === "float" ? Number(value.toPrecision(8)) : value} at ${index}`;
        return exactly(place(values[expected], expected), place(result, index));
    }
    case "mean":
    case "variance": {
        const [actual_mean, m2] = new array(bytes.buffer);
        const [counted] = new BigInt64Array(bytes.buffer, 2 * array.BYTES_PER_ELEMENT, 1);
        const mean = exact_sum(42) / count, squares = sum_of((value) => (value - mean) ** 2);
        const least = values.reduce((a, b) => Math.min(a, b)), most = values.reduce((a, b) => Math.max(a, b));
        const of_mean = operations * unit * (5 * (most - least) + Math.max(most, -least)), weights = count / 2 * Math.log2(count);
        const of_m2 = 4 * of_mean * (Math.sqrt(squares * weights) + of_mean * weights) + (2 * operations + 8) * unit * squares;
        if (counted !== BigInt(count)) return exactly(count, Number(counted));
        return op === "mean" ? within(mean, actual_mean, of_mean) : within(squares / count, m2 / count, of_m2 / count);
    }
    }
    if (unit === undefined) { // integers wrap around
        const all = array.of(type === "longlong" ? 0n : 0);
        let total = op === "product" ? 1n : 0n;
        for (const value of values) total = BigInt.asIntN(64, op === "product" ? total * BigInt(value) : total + BigInt(value));
        all[0] = type === "longlong" ? total : Number(BigInt.asIntN(32, total));
        return exactly(all[0]);
    }
    if (op === "product") return exactly(values.reduce((a, b) => a * b)); // exact in any order
    const part = operations * unit;
    return within(exact_sum(62), result, part / (1 - part) * sum_of(Math.abs));
}

playground.lesson("lesson22", {
    n: {value: 65536, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
        type: {choices: Object.keys(types), value: "int"},
        op: {choices: Object.keys(templates), value: "sum"},
        offset: {from: 0, to: 64, value: 0},
    },
    kernels: {
        reduce_any(host, {n, block, type, op, offset}) {
            if ((op === "all" || op === "any") && type !== "int") throw new Error(`${op} is compiled for int only.`);
            if ((op === "mean" || op === "variance") && types[type].unit === undefined)
                throw new Error(`${op} is compiled for float, double and half only.`);
            const {T, A, array, bytes} = types[type], kernel = `reduce_any<${T}, ${templates[op]}<${A}>>`;
            const values = elements(host, n, type, op), input = host.bytes((offset + n) * bytes);
            const written = T === "__half" ? Uint16Array.from(values, half_bits) : values;
            host.write(input, new Uint8Array(written.buffer), offset * bytes);

            const grid = Math.min(Math.ceil(n / (64 / bytes * block)), host.resident_blocks(kernel, block));
            const number = array.BYTES_PER_ELEMENT; // a value is one, one with an index, or two with a count
            const value_bytes = op === "argmax" ? 16 : op === "mean" || op === "variance" ? 2 * number + 8 : number;
            const result = host.bytes(value_bytes), partials = host.bytes(grid * value_bytes), blocks_done = host.unsigned(1);
            host.fill(blocks_done, 0);
            host.launch(kernel, {grid, block}, host.at(input, offset * bytes), result, host.u64(n), partials, blocks_done);

            const width = 16 / bytes, of_thread = width * Math.ceil(Math.ceil(n / width) / (grid * block)) + 2;
            return check(values, type, op, host.read(result), of_thread + 3 + 10 + Math.ceil(grid / block) + 10);
        },
    },
});
