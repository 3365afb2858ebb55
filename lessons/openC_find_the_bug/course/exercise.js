// What main.cu does, for the page.
playground.of_manifest("exerciseC", {
    sum_tree: {}, sum_two_loads: {elements_per_thread: 2}, sum_last_warp: {},
    sum_warps: {shared_ints_per_thread: 0}, sum_two_levels: {shared_ints_per_thread: 0},
});
