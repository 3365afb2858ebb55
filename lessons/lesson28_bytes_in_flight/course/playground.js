// What main.cu does, for the page. A block of reduce10 and reduce11 has a ring of stages in shared memory.
function ring_of({block, stages, kib_per_stage, blocks_per_sm}, kernel, host) {
    const stage_bytes = 1024 * kib_per_stage, shared = stages * stage_bytes, wanted = blocks_per_sm * host.multiprocessors;
    if (stage_bytes % (16 * block) !== 0)
        throw new Error(`A stage needs a multiple of ${block / 64} KiB: 16 bytes for each thread.`);
    if (host.resident_blocks(kernel, block, shared) < wanted)
        throw new Error(`So many blocks do not fit on a multiprocessor, with ${shared / 1024} KiB of shared memory each.`);
    return {stage_bytes, shared, wanted};
}

playground.lesson("lesson28", {
    n: {value: 65536, most: 1048576},
    sliders: {
        block: {from: 32, to: 1024, value: 256, powers_of_two: true},
        stages: {choices: [2, 3, 4, 6, 8], value: 4},
        kib_per_stage: {from: 1, to: 64, value: 32, powers_of_two: true},
        blocks_per_sm: {from: 1, to: 8, value: 1},
        offset: {from: 0, to: 64, value: 0},
    },
    kernels: {
        reduce8: playground.reduction("reduce8<block>", {elements_per_thread: 8, shared_ints_per_thread: 0, resident: true}),
        reduce10(host, options) {
            const {n, block, stages, offset} = options, kernel = `reduce10<${block}, ${stages}>`;
            const {stage_bytes, shared, wanted} = ring_of(options, kernel, host);
            const grid = Math.min(Math.ceil(n / (stage_bytes / 4)), wanted);
            const input = host.random_ints(n, offset), sums = host.ints(grid);
            host.launch(kernel, {grid, block, shared}, input, sums, host.u64(n), host.u32(stage_bytes / 16 / block));
            return host.verify_sum(input, sums);
        },
        reduce11(host, options) {
            const {n, block, stages, offset} = options, kernel = `reduce11<${block}>`;
            const {stage_bytes, shared, wanted} = ring_of(options, kernel, host);
            const grid = Math.min(Math.ceil(n / (stage_bytes / 4)), wanted);
            const input = host.random_ints(n, offset), sums = host.ints(grid);
            host.launch(kernel, {grid, block, shared}, input, sums, host.u64(n), host.u32(stage_bytes), host.u32(stages));
            return host.verify_sum(input, sums);
        },
    },
});
