// What main.cu does, for the page. The shared memory of reduce7 is static.
playground.lesson("lesson07", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduce6: playground.reduction("reduce6<block>", {elements_per_thread: 2, resident: true}),
        reduce7: playground.reduction("reduce7<block>", {elements_per_thread: 2, shared_ints_per_thread: 0, resident: true}),
    },
});
