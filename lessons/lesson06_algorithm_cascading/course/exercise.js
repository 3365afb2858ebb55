// What exercise.cu does, for the page.
playground.of_manifest("exercise06", {"reduce6<block>": {elements_per_thread: 4, resident: true}});
