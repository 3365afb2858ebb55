// What main.cu does with `fewest`, for the page.
playground.of_manifest("exerciseA", {"fewest<block>": {elements_per_thread: 16, most_blocks: 64, shared_ints_per_thread: 0}});
