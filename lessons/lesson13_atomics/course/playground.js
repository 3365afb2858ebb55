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
        naive_reduction: playground.total("naive_reduction"),
        warp_reduction: playground.total("warp_reduction"),
        block_reduction: playground.total("block_reduction"),
    },
});
