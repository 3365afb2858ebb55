// What main.cu does, for the page: one block, with a thread for each int of the tile.
function require_one_block(width, height) {
    if (width * height > 1024)
        throw new Error(`A block has at most 1024 threads, not ${width * height}. Choose a smaller width or height.`);
}
// Of kernels that store by rows and read by columns.
function transposed(width, height) {
    return Array.from({length: width * height}, (_, i) => i % height * width + Math.floor(i / height));
}

playground.lesson("lesson21", {
    sliders: {width: {from: 1, to: 64, value: 32}, height: {from: 1, to: 64, value: 16}, padding: {from: 0, to: 33, value: 2}},
    kernels: {
        setRowReadCol(host, {width, height}) {
            require_one_block(width, height);
            const out = host.ints(width * height);
            host.launch("setRowReadCol", {grid: 1, block: [width, height]}, out);
            return host.verify(transposed(width, height), out);
        },
        setRowReadColPad(host, {width, height, padding}) {
            require_one_block(width, height);
            const out = host.ints(width * height);
            host.launch("setRowReadColPad", {grid: 1, block: [width, height]}, out, host.u32(padding));
            return host.verify(transposed(width, height), out);
        },
        setRowReadColDynPad(host, {width, height, padding}) {
            require_one_block(width, height);
            const out = host.ints(width * height);
            const shared = 4 * height * (width + padding);
            host.launch("setRowReadColDynPad", {grid: 1, block: [width, height], shared}, out, host.u32(padding));
            return host.verify(transposed(width, height), out);
        },
    },
});
