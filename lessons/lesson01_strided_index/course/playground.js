// What main.cu does, for the page: a block for each `block` ints.
playground.lesson("lesson01", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce0a(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduce0a", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduce1(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduce1", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
