// What main.cu does, for the page: a block of 32 x 8 threads for each tile of 32 x 32 ints. Those with sectors are larger.
function move_matrix(host, kernel, {width, height}) {
    const wide = kernel === "transposeSectors", past = height % 8 === 0 ? 0 : 7; // ints past a sector, at most
    const grid = wide ? [Math.ceil((height + past) / 64), Math.ceil(width / 64)] : [Math.ceil(width / 32), Math.ceil(height / 32)];
    const block = wide ? [64, 8] : [32, 8];
    const input = host.random_ints(width * height), output = host.ints(width * height);
    host.launch(kernel, {grid, block}, input, output, host.u32(width), host.u32(height));
    return [host.read(input), output];
}
function transpose(host, kernel, {width, height}) {
    const [matrix, output] = move_matrix(host, kernel, {width, height});
    return host.verify(matrix.map((_, i) => matrix[i % height * width + Math.floor(i / height)]), output);
}

playground.lesson("lesson24", {
    sliders: {width: {from: 1, to: 1024, value: 256}, height: {from: 1, to: 1024, value: 256}},
    kernels: {
        copy: (host, size) => host.verify(...move_matrix(host, "copy", size)),
        transposeNaive: (host, size) => transpose(host, "transposeNaive", size),
        transposeTiled: (host, size) => transpose(host, "transposeTiled", size),
        transposePadded: (host, size) => transpose(host, "transposePadded", size),
        transposeSwizzled: (host, size) => transpose(host, "transposeSwizzled", size),
        transposeSectors: (host, size) => transpose(host, "transposeSectors", size),
    },
});
