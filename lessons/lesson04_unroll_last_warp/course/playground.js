// What main.cu does, for the page: a block for each 2 x `block` ints.
playground.lesson("lesson04", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce3(host, {n, block}) {
            const grid = Math.ceil(n / (2 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduce3", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduce4(host, {n, block}) {
            const grid = Math.ceil(n / (2 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduce4", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
