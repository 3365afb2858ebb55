// What main.cu does, for the page: reduce2 has a block for each `block` ints, reduce3 for each 2 x `block`.
playground.lesson("lesson03", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce2(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduce2", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduce3(host, {n, block}) {
            const grid = Math.ceil(n / (2 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduce3", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
