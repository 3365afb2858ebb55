// What main.cu does without the link, for the page: there the host and the card have one memory.
playground.lesson("lesson34", {
    n: {value: 4096, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    missing: Object.fromEntries(["pageable", "file", "pinned", "two_streams"].map(
        (kernel) => [kernel, `A page has no link to copy over. ./lesson34 --kernel ${kernel} runs it.`]).concat([
        ["queue_tiles", "It lists calls of a host, which a page cannot make. Its check makes them, and so does ./lesson34 --kernel queue_tiles."]])),
    kernels: {
        in_place(host, {n, block}) {
            const input = host.random_ints(n), result = host.ints(1);
            host.fill(result, 0);
            const most = host.resident_blocks("add_sum", block);
            host.launch("add_sum", {grid: Math.min(Math.ceil(n / (4 * block)), most), block}, input, host.u64(n), result);
            return host.verify_sum(input, result);
        },
    },
});
