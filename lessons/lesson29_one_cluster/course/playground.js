// What main.cu does, for the page: the same blocks, which meet in different ways. `more` makes what a kernel needs for that.
function sum_in_one_launch(host, kernel, {n, block, blocks, offset}, cluster, more = () => []) {
    const input = host.random_ints(n, offset), result = host.ints(1);
    if (kernel === "atomic_per_block") host.fill(result, 0);
    host.launch(kernel, {grid: blocks, block, cluster}, input, result, host.u64(n), ...more());
    return host.verify_sum(input, result);
}
function zero(host, buffer) {
    host.fill(buffer, 0);
    return buffer;
}

playground.lesson("lesson29", {
    n: {value: 16384, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 512, powers_of_two: true},
        blocks: {from: 1, to: 16, value: 16},
        offset: {from: 0, to: 64, value: 0},
    },
    kernels: {
        two_launches(host, {n, block, blocks, offset}) {
            const input = host.random_ints(n, offset), sums = host.ints(blocks), result = host.ints(1);
            host.launch("block_sums", {grid: blocks, block}, input, sums, host.u64(n));
            host.other_launch("block_sums", {grid: 1, block}, sums, result, host.u64(blocks));
            return host.verify_sum(input, result);
        },
        last_block(host, options) {
            return sum_in_one_launch(host, "last_block", options, undefined,
                () => [host.ints(options.blocks), zero(host, host.unsigned(1))]);
        },
        atomic_per_block(host, options) {
            return sum_in_one_launch(host, "atomic_per_block", options);
        },
        reduce12(host, options) {
            return sum_in_one_launch(host, "reduce12", options, options.blocks);
        },
        reduce12a(host, options) {
            return sum_in_one_launch(host, "reduce12a", options, options.blocks);
        },
        counted_sum(host, options) {
            return sum_in_one_launch(host, "counted_sum", options, undefined, () => [zero(host, host.words(1))]);
        },
    },
});
