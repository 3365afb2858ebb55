// What main.cu does, for the page. The shared memory of reduce7 is static.
playground.lesson("lesson07", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce6(host, {n, block}) {
            const grid = Math.min(Math.ceil(n / (2 * block)), host.resident_blocks(`reduce6<${block}>`, block, 4 * block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduce6<${block}>`, {grid, block, shared: 4 * block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
        reduce7(host, {n, block}) {
            const grid = Math.min(Math.ceil(n / (2 * block)), host.resident_blocks(`reduce7<${block}>`, block));
            const input = host.random_ints(n), sums = host.ints(grid);
            host.launch(`reduce7<${block}>`, {grid, block}, input, sums, host.u64(n));
            return host.verify_sum(input, sums);
        },
    },
});
