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
        naive_reduction: playground.total("naive_reduction"),
        warp_reduction: playground.total("warp_reduction"),
        block_reduction: playground.total("block_reduction"),
        segmented_blocked: playground.total("segmented_blocked", {elements_per_thread: 2, in_place: true}),
        segmented_strided: playground.total("segmented_strided", {elements_per_thread: 2, in_place: true}),
        segmented_smem: playground.total("segmented_smem", {elements_per_thread: 2, shared_ints_per_thread: 1}),
        coarse_reduction: (host, options) => playground.total(`coarse_reduction<${options.coarsening}>`,
            {elements_per_thread: 2 * options.coarsening, shared_ints_per_thread: 1})(host, options),
    },
});
