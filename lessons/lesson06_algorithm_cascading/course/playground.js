// What main.cu does, for the page. reduce6 has as many blocks as all multiprocessors hold at once; fewer, if n has no work for
// so many.
playground.lesson("lesson06", {
    n: {value: 65536, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
        elements_per_thread: {from: 1, to: 64, value: 2},
    },
    kernels: {
        reduce5(host, {n, block}) {
            const grid = Math.ceil(n / (2 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduce5<${block}>`, {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduce6(host, {n, block, elements_per_thread}) {
            const most_blocks = host.resident_blocks(`reduce6<${block}>`, block, 4 * block);
            const grid = Math.min(Math.ceil(n / (elements_per_thread * block)), most_blocks);
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduce6<${block}>`, {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
