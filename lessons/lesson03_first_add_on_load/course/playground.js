// What main.cu does, for the page: reduce2 has a block for each `block` ints, reduce3 for each 2 x `block`.
playground.lesson("lesson03", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce2: playground.reduction("reduce2"),
        reduce3: playground.reduction("reduce3", {elements_per_thread: 2}),
    },
});
