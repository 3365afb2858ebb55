// What main.cu does, for the page: one block, with a thread for each int of a square tile.
// Of kernels that read as they store: thread i gets i back.
function thread_numbers(width) { return Array.from({length: width * width}, (_, i) => i); }
// Of kernels that store by rows and read by columns.
function transposed(width) { return Array.from({length: width * width}, (_, i) => i % width * width + Math.floor(i / width)); }

playground.lesson("lesson16", {
    sliders: {width: {from: 1, to: 32, value: 32}, padding: {from: 0, to: 33, value: 0}},
    kernels: {
        setRowReadRow(host, {width}) {
            const out = host.ints(width * width);
            host.launch("setRowReadRow", {grid: 1, block: [width, width]}, out);
            return host.verify(thread_numbers(width), out);
        },
        setColReadCol(host, {width}) {
            const out = host.ints(width * width);
            host.launch("setColReadCol", {grid: 1, block: [width, width]}, out);
            return host.verify(thread_numbers(width), out);
        },
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
    },
});
