// What exercise.cu does, for the page.
playground.of_manifest("exercise03", {reduce3: {elements_per_thread: 4}});
