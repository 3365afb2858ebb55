// What main.cu does, for the page. The input starts `offset` ints into its allocation. A thread of reduce8 has two vectors
// at least.
playground.lesson("lesson08", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}, offset: {from: 0, to: 64, value: 0}},
    kernels: {
        reduce7: playground.reduction("reduce7<block>", {elements_per_thread: 2, shared_ints_per_thread: 0, resident: true}),
        reduce8: playground.reduction("reduce8<block>", {elements_per_thread: 8, shared_ints_per_thread: 0, resident: true}),
    },
});
