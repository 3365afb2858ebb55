// What main.cu does, for the page.
playground.lesson("exerciseB", {
    sliders: {},
    kernels: {
        setRowReadColPlaced(host) {
            const width = 24, height = 40, out = host.ints(width * height);
            host.launch("setRowReadColPlaced", {grid: 1, block: width * height}, out);
            return host.verify(Array.from({length: width * height}, (_, i) => i % height * width + Math.floor(i / height)), out);
        },
    },
});
