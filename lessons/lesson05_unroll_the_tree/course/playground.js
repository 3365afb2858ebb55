// What main.cu does, for the page: a block for each 2 x `block` ints. reduce5 is compiled for each block size.
playground.lesson("lesson05", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce4: playground.reduction("reduce4", {elements_per_thread: 2}),
        reduce5: playground.reduction("reduce5<block>", {elements_per_thread: 2}),
    },
});
