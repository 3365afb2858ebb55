// What main.cu does, for the page: one block, which sums two ints per thread at most. Kernels that work in place get a copy of
// the input.
function require_one_block(n, block) {
    if (n > 2 * block)
        throw new Error(`A block of ${block} threads sums ${2 * block} ints at most. Choose a larger block or a smaller n.`);
}

playground.lesson("lesson14", {
    n: {value: 2048, most: 2048},
    sliders: {block: {from: 32, to: 1024, value: 1024, powers_of_two: true}},
    kernels: {
        blocked_reduction(host, {n, block}) {
            require_one_block(n, block);
            const input = host.random_ints(n), work = host.random_ints(n), result = host.ints(1);
            host.launch("blocked_reduction", {grid: 1, block}, work, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        strided_reduction(host, {n, block}) {
            require_one_block(n, block);
            const input = host.random_ints(n), work = host.random_ints(n), result = host.ints(1);
            host.launch("strided_reduction", {grid: 1, block}, work, result, host.u64(n));
            return host.verify_sum(input, result);
        },
        smem_reduction(host, {n, block}) {
            require_one_block(n, block);
            const input = host.random_ints(n), result = host.ints(1);
            host.launch("smem_reduction", {grid: 1, block, shared: 4 * block}, input, result, host.u64(n));
            return host.verify_sum(input, result);
        },
    },
});
