// What main.cu does, for the page. Static shared memory is sized where the kernel is compiled, dynamic shared memory here.
playground.lesson("lesson12", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduceSmem: playground.reduction("reduceSmem<block>", {shared_ints_per_thread: 0}),
        reduceSmemDyn: playground.reduction("reduceSmemDyn"),
        reduceSmemUnroll: playground.reduction("reduceSmemUnroll<block>", {elements_per_thread: 4, shared_ints_per_thread: 0}),
        reduceSmemUnrollDyn: playground.reduction("reduceSmemUnrollDyn", {elements_per_thread: 4}),
    },
});
