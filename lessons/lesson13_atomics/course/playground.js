// What main.cu does, for the page. Each kernel adds to a result of 0, with a thread for each int.
playground.lesson("lesson13", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        sequential_reduction(host, {n}) {
            const input = host.random_ints(n), result = host.ints(1);
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
    },
});
