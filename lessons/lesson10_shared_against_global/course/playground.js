// What main.cu does, for the page. Kernels in global memory overwrite what they sum, so they get a copy of the input.
playground.lesson("lesson10", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        reduceNeighboredGmem: playground.reduction("reduceNeighboredGmem", {in_place: true}),
        reduceNeighboredSmem: playground.reduction("reduceNeighboredSmem<block>", {shared_ints_per_thread: 0}),
        reduceGmem: playground.reduction("reduceGmem", {in_place: true}),
        reduceSmem: playground.reduction("reduceSmem<block>", {shared_ints_per_thread: 0}),
    },
});
