// What main.cu does, for the page: one block, which sums two ints per thread at most. Kernels that work in place get a copy of
// the input.
function in_one_block(kernel, {in_place = false, shared_ints_per_thread = 0}) {
    return (host, {n, block}) => {
        if (n > 2 * block)
            throw new Error(`A block of ${block} threads sums ${2 * block} ints at most. Choose a larger block or a smaller n.`);
        const input = host.random_ints(n), work = in_place ? host.random_ints(n) : input, result = host.ints(1);
        host.launch(kernel, {grid: 1, block, shared: 4 * shared_ints_per_thread * block}, work, result, host.u64(n));
        return host.verify_sum(input, result);
    };
}

playground.lesson("lesson14", {
    n: {value: 2048, most: 2048},
    sliders: {block: {from: 32, to: 1024, value: 1024, powers_of_two: true}},
    kernels: {
        blocked_reduction: in_one_block("blocked_reduction", {in_place: true}),
        strided_reduction: in_one_block("strided_reduction", {in_place: true}),
        smem_reduction: in_one_block("smem_reduction", {shared_ints_per_thread: 1}),
    },
});
