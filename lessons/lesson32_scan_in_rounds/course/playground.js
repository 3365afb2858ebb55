// What main.cu does, for the page. The header's strategy depends on n, and sets its own grid and block.
function inclusive_sums(values) {
    let sum = 0;
    return values.map((value) => sum = sum + value | 0); // wraps at 32 bits
}

playground.lesson("lesson32", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}, blocks: {from: 1, to: 132, value: 132}},
    missing: Object.fromEntries(["inclusive_scan", "one_block", "one_cluster", "rounds", "bulk_rounds"].map(
        (kernel) => [kernel, `The header chooses grid and block. ./lesson32 --kernel ${kernel} runs it.`])),
    kernels: {
        scan_in_rounds(host, {n, block, blocks}) {
            const tiles = Math.ceil(n / block), grid = Math.min(tiles, blocks);
            const input = host.random_ints(n), output = host.ints(n), words = host.words(tiles);
            host.fill(words, 0);
            host.launch("scan_in_rounds", {grid, block}, input, output, host.u64(n), words);
            return host.verify(inclusive_sums(host.read(input)), output);
        },
    },
});
