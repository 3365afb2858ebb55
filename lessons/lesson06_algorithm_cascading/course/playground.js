// What main.cu does, for the page. reduce6 has as many blocks as all multiprocessors hold at once; fewer, if n has no work for
// so many.
playground.lesson("lesson06", {
    n: {value: 65536, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
        elements_per_thread: {from: 1, to: 64, value: 2},
    },
    kernels: {
        reduce5: playground.reduction("reduce5<block>", {elements_per_thread: 2}),
        reduce6: (host, options) =>
            playground.reduction("reduce6<block>", {elements_per_thread: options.elements_per_thread, resident: true})(host, options),
    },
});
