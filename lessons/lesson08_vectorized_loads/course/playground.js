// What main.cu does, for the page. The input starts `offset` ints into its allocation. A thread of reduce8 has two vectors
// at least.
playground.lesson("lesson08", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}, offset: {from: 0, to: 64, value: 0}},
    kernels: {
        reduce7(host, {n, block, offset}) {
            const grid = Math.min(Math.ceil(n / (2 * block)), host.resident_blocks(`reduce7<${block}>`, block));
            const input = host.random_ints(n, offset), sums = host.ints(grid);
            host.launch(`reduce7<${block}>`, {grid, block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduce8(host, {n, block, offset}) {
            const grid = Math.min(Math.ceil(n / (8 * block)), host.resident_blocks(`reduce8<${block}>`, block));
            const input = host.random_ints(n, offset), sums = host.ints(grid);
            host.launch(`reduce8<${block}>`, {grid, block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
