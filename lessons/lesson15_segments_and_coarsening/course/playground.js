// What main.cu does, for the page. Each kernel adds to a result of 0. Those that work in place get a copy of the input. The
// first four are those of lesson 13.
playground.lesson("lesson15", {
    n: {value: 65536, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
        coarsening: {from: 1, to: 16, value: 4, powers_of_two: true},
    },
    kernels: {
        sequential_reduction(host, {n}) {
            const input = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch("sequential_reduction", {grid: 1, block: 1}, input, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        naive_reduction(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch("naive_reduction", {grid, block}, input, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        warp_reduction(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch("warp_reduction", {grid, block}, input, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        block_reduction(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch("block_reduction", {grid, block}, input, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        segmented_blocked(host, {n, block}) {
            const grid = Math.ceil(n / (2 * block));
            const input = host.random_ints(n), work = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch("segmented_blocked", {grid, block}, work, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        segmented_strided(host, {n, block}) {
            const grid = Math.ceil(n / (2 * block));
            const input = host.random_ints(n), work = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch("segmented_strided", {grid, block}, work, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        segmented_smem(host, {n, block}) {
            const grid = Math.ceil(n / (2 * block));
            const input = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch("segmented_smem", {grid, block, shared: 4 * block}, input, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        coarse_reduction(host, {n, block, coarsening}) {
            const grid = Math.ceil(n / (2 * coarsening * block));
            const input = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            host.launch(`coarse_reduction<${coarsening}>`, {grid, block, shared: 4 * block}, input, result, host.u64(n));
            return host.verify_sum(input, result);
        },
    },
});
