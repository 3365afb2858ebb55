// What main.cu does, for the page: a block for each 2 x `block` ints.
playground.lesson("lesson04", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce3: playground.reduction("reduce3", {elements_per_thread: 2}),
        reduce4: playground.reduction("reduce4", {elements_per_thread: 2}),
    },
});
