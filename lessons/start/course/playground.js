// What start.cu does, for the page: a thread for each number. These numbers are not those of start.cu, and square has the
// same counters with any.
playground.lesson("start", {
    n: {value: 1048576, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        square(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), output = host.ints(n);
            host.launch("square", {grid, block}, input, output, host.i32(n));
            return host.verify(host.read(input).map((x) => x * x), output);
        },
    },
});
