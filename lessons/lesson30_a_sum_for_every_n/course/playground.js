// What main.cu and sum.cuh do, for the page. The strategy depends on n, and sets its own grid and block.
function data(host, {n, offset}) {
    const input = host.random_ints(n, offset), result = host.ints(1), meeting = host.words(2);
    host.fill(meeting, 0);
    const head = Math.min((32 - input.address / 4 % 32) % 32, n); // up to a line of 128 bytes
    const vectors = Math.floor((n - head) / 4);
    const parts = host.struct(input, host.at(input, head), host.u64(vectors), host.u32(head), host.u32((n - head) % 4));
    return {input, result, meeting, vectors, parts};
}

function one_block(host, options) {
    const {n} = options, {input, result} = data(host, options);
    if (n > 8192) throw new Error("One block sums 8192 ints at most. Choose a smaller n.");
    const block = Math.min(256 * 2 ** Math.max(0, Math.ceil(Math.log2(n / 1024))), 1024);
    host.launch(`sum_one_block<${block}, ${n <= 4096 ? 4 : 8}>`, {grid: 1, block}, input, result, host.u32(n));
    return host.verify_sum(input, result);
}
function one_cluster(host, options) {
    const {input, result, parts} = data(host, options), block = options.n <= 65536 ? 512 : 1024;
    host.launch(`sum_one_cluster<${block}, 8, 4>`, {grid: 8, block, cluster: 8}, parts, result);
    return host.verify_sum(input, result);
}
function one_launch(host, options) {
    const {input, result, meeting, vectors, parts} = data(host, options);
    const grid = Math.max(1, Math.min(Math.ceil(vectors / 512), 4 * host.multiprocessors));
    host.launch("sum_one_launch<512, 4, 4>", {grid, block: 512}, parts, result, meeting);
    return host.verify_sum(input, result);
}
function bulk_copies(host, options) {
    const {input, result, meeting, vectors, parts} = data(host, options), stages = 3;
    const grid = Math.max(1, Math.min(Math.ceil(vectors / 4096), host.multiprocessors));
    host.launch("sum_bulk_copies<256, 4096>", {grid, block: 256, shared: stages * 4096 * 16},
        parts, result, meeting, host.u32(stages));
    return host.verify_sum(input, result);
}

playground.lesson("lesson30", {
    n: {value: 8192, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 512, powers_of_two: true}, offset: {from: 0, to: 64, value: 0}},
    kernels: {
        sum(host, options) {
            const strategy = options.n <= 8192 ? one_block : options.n <= 131072 ? one_cluster : one_launch;
            return strategy(host, options);
        },
        one_launch, // what it gains over this one shows the choice
        sum_zeroed(host, options) { // the workspace is zero: a cluster would save nothing
            const strategy = options.n <= 8192 ? one_block : one_launch;
            return strategy(host, options);
        },
        one_block,
        one_cluster,
        bulk_copies,
        small_sum(host, {n, block, offset}) {
            const input = host.random_ints(n, offset), result = host.ints(1), sum_and_count = host.words(1);
            host.fill(sum_and_count, 0);
            host.launch("small_sum", {grid: 8, block, cluster: 8}, input, result, host.u64(n), sum_and_count);
            return host.verify_sum(input, result);
        },
    },
});
