// What main.cu does, for the page. Kernels in global memory overwrite what they sum, so they get a copy of the input.
playground.lesson("lesson11", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduceGmem(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), work = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduceGmem", {grid, block}, work, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduceSmem(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduceSmem<${block}>`, {grid, block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduceGmemUnroll(host, {n, block}) {
            const grid = Math.ceil(n / (4 * block));
            const input = host.random_ints(n), work = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduceGmemUnroll", {grid, block}, work, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduceSmemUnroll(host, {n, block}) {
            const grid = Math.ceil(n / (4 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduceSmemUnroll<${block}>`, {grid, block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
