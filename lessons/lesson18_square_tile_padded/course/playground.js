// What main.cu does, for the page: one block, with a thread for each int of a square tile.
// Of kernels that store by rows and read by columns.
function transposed(width) { return Array.from({length: width * width}, (_, i) => i % width * width + Math.floor(i / width)); }

playground.lesson("lesson18", {
    sliders: {width: {from: 1, to: 32, value: 32}, padding: {from: 0, to: 33, value: 1}},
    kernels: {
        setRowReadCol(host, {width}) {
            const out = host.ints(width * width);
            host.launch("setRowReadCol", {grid: 1, block: [width, width]}, out);
            return host.verify(transposed(width), out);
        },
        setRowReadColPad(host, {width, padding}) {
            const out = host.ints(width * width);
            host.launch("setRowReadColPad", {grid: 1, block: [width, width]}, out, host.u32(padding));
            return host.verify(transposed(width), out);
        },
        setRowReadColDynPad(host, {width, padding}) {
            const out = host.ints(width * width);
            const shared = 4 * width * (width + padding);
            host.launch("setRowReadColDynPad", {grid: 1, block: [width, width], shared}, out, host.u32(padding));
            return host.verify(transposed(width), out);
        },
    },
});
