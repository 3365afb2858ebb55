// What exercise.cu does, for the page. All elements are below 0, so that no 0 in place of an element that does not exist goes
// unnoticed.
function maxima(name) {
    return (host, {n, block}) => {
        const grid = Math.ceil(n / block), input = host.ints(n), found = host.ints(grid);
        const elements = Int32Array.from({length: n}, (_, i) => host.random_int(i) - 1001);
        host.write(input, elements);
        host.launch(name, {grid, block, shared: 4 * block}, input, found, host.u64(n));
        const of_block = (k) => Math.max(...elements.subarray(k * block, (k + 1) * block));
        return host.verify(Array.from({length: grid}, (_, k) => of_block(k)), found);
    };
}

playground.lesson("exercise00", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {reduce0: maxima("reduce0"), reduce0a: maxima("reduce0a")},
});
