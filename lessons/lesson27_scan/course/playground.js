// What main.cu does, for the page. A kernel that scans tiles scans the input's first, which is what is counted; then their sums,
// until there is one tile. Then it adds these from the top down.
function inclusive_sums(values) {
    let sum = 0;
    return values.map((value) => sum = sum + value | 0); // wraps at 32 bits
}
function scan_tiles(host, kernel, {n, block}, shared) {
    const sizes = [n]; // of the output, of the sums of its tiles, ...
    do sizes.push(Math.ceil(sizes[sizes.length - 1] / block)); while (sizes[sizes.length - 1] > 1);
    const input = host.random_ints(n), levels = sizes.map((size) => host.ints(size));
    const scan = (launch, level, from) => launch(kernel, {grid: sizes[level + 1], block, shared},
        from, levels[level], host.u64(sizes[level]), levels[level + 1]);

    scan(host.launch, 0, input);
    for (let level = 1; level + 1 < sizes.length; ++level) scan(host.other_launch, level, levels[level]);
    for (let level = sizes.length - 3; level >= 0; --level)
        host.other_launch("add_tile_sums", {grid: sizes[level + 1], block},
            levels[level], host.u64(sizes[level]), levels[level + 1]);
    return host.verify(inclusive_sums(host.read(input)), levels[0]);
}

playground.lesson("lesson27", {
    n: {value: 65536, most: 1048576},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
    kernels: {
        scan_hillis_steele(host, {n, block}) {
            return scan_tiles(host, "scan_hillis_steele", {n, block}, 4 * block);
        },
        scan_blelloch(host, {n, block}) {
            return scan_tiles(host, "scan_blelloch", {n, block}, 4 * block);
        },
        scan_blelloch_padded(host, {n, block}) {
            return scan_tiles(host, "scan_blelloch_padded", {n, block}, 4 * (block + block / 32));
        },
        scan_warps(host, {n, block}) {
            return scan_tiles(host, "scan_warps", {n, block}, 0);
        },
        scan_lookback(host, {n, block}) {
            const grid = Math.ceil(n / block);
            const input = host.random_ints(n), output = host.ints(n), sums = host.ints(grid), prefixes = host.ints(grid);
            const next_and_status = host.unsigned(1 + grid);
            host.fill(next_and_status, 0);
            host.launch("scan_lookback", {grid, block}, input, output, host.u64(n),
                host.struct(next_and_status, host.at(next_and_status, 1), sums, prefixes));
            return host.verify(inclusive_sums(host.read(input)), output);
        },
        scan_lookback_wide(host, {n, block}) {
            const grid = Math.ceil(n / (32 * block));
            const input = host.random_ints(n), output = host.ints(n), words_and_next = host.words(grid + 1);
            host.fill(words_and_next, 0);
            host.launch("scan_lookback_wide", {grid, block}, input, output, host.u64(n),
                host.struct(host.at(words_and_next, grid), words_and_next));
            return host.verify(inclusive_sums(host.read(input)), output);
        },
    },
});
