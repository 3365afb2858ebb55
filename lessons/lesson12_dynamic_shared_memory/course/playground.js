// What main.cu does, for the page. Static shared memory is sized where the kernel is compiled, dynamic shared memory here.
playground.lesson("lesson12", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduceSmem(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduceSmem<${block}>`, {grid, block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduceSmemDyn(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduceSmemDyn", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduceSmemUnroll(host, {n, block}) {
            const grid = Math.ceil(n / (4 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduceSmemUnroll<${block}>`, {grid, block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduceSmemUnrollDyn(host, {n, block}) {
            const grid = Math.ceil(n / (4 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch("reduceSmemUnrollDyn", {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
