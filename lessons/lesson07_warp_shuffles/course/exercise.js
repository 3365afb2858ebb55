// What exercise.cu does, for the page: each thread leaves the sum of its block.
playground.lesson("exercise07", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce7(host, {n, block}) {
            const input = host.random_ints(n), sums = host.ints(n), elements = host.read_ints(input);
            host.launch(`reduce7<${block}>`, {grid: Math.ceil(n / block), block}, input, sums, host.u64(n));
            const expected = [];
            for (let first = 0; first < n; first += block) {
                const of_block = elements.subarray(first, first + block);
                expected.push(...Array(of_block.length).fill(host.sum(of_block)));
            }
            return host.verify(expected, sums);
        },
    },
});
