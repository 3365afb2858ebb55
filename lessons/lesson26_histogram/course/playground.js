// What main.cu does, for the page. A thread counts 16 ints at least, in a grid that the card holds at once. The kernels differ in
// who shares a histogram.
function skewed_ints(host, n, skew) {
    const input = host.random_ints(n);
    if (skew > 0) // in 100 are 0, by other random numbers
        host.write(input, host.read(input).map((value, i) => (host.random_int(i, ~host.seed) + 1000) % 100 < skew ? 0 : value));
    return input;
}
function count(host, kernel, {n, block, skew}, shared = 0) {
    const grid = Math.min(Math.ceil(n / (16 * block)), host.resident_blocks(kernel, block, shared));
    const input = skewed_ints(host, n, skew), histogram = host.ints(256);
    host.fill(histogram, 0);
    host.launch(kernel, {grid, block, shared}, input, histogram, host.u64(n));
    const expected = new Int32Array(256);
    for (const value of host.read(input)) ++expected[value & 255];
    return host.verify(expected, histogram);
}

playground.lesson("lesson26", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}, skew: {from: 0, to: 100, value: 0}},
    kernels: {
        histogram_global: (host, options) => count(host, "histogram_global", options),
        histogram_shared: (host, options) => count(host, "histogram_shared", options),
        histogram_private: (host, options) => count(host, "histogram_private", options, options.block / 32 * 256 * 4),
        histogram_vectors: (host, options) => count(host, "histogram_vectors<8>", options),
    },
});
