// What main.cu does, for the page: a block for each `block` ints.
playground.lesson("lesson00", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce0: playground.reduction("reduce0"),
        reduce0a: playground.reduction("reduce0a"),
    },
});
