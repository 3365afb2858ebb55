// What main.cu does, for the page. A thread of reduce9 has four vectors, and the last block sums what the blocks left.
playground.lesson("lesson09", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}, offset: {from: 0, to: 64, value: 0}},
    kernels: {
        reduce8: playground.reduction("reduce8<block>", {elements_per_thread: 8, shared_ints_per_thread: 0, resident: true}),
        reduce9(host, {n, block, offset}) {
            const grid = Math.min(Math.ceil(n / (16 * block)), host.resident_blocks(`reduce9<${block}>`, block));
            const input = host.random_ints(n, offset), result = host.ints(1), sums = host.ints(grid);
            const blocks_done = host.unsigned(1);
            host.fill(blocks_done, 0);
            host.launch(`reduce9<${block}>`, {grid, block}, input, result, host.u64(n), sums, blocks_done);
            return host.verify_sum(input, result);
        },
    },
});
