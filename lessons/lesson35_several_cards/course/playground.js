// What main.cu does on card 0, for the page: there the inputs of all cards are in one memory.
function sum_cards(host, {n, block, cards}) {
    const inputs = Array.from({length: cards}, () => host.ints(n)), output = host.ints(n), sums = new Int32Array(n);
    inputs.forEach((input, card) => {
        const ints = Int32Array.from({length: n}, (_, i) => host.random_int(card * n + i));
        ints.forEach((value, i) => { sums[i] += value; });
        host.write(input, ints);
    });
    const none = host.u64(0), of_cards = (given) => Array.from({length: 8}, (_, card) => given(card) ?? none);
    const pointers = [(card) => inputs[card], (card) => card === 0 ? output : none, () => none].flatMap(of_cards);
    const blocks = Math.max(1, Math.ceil(Math.floor(n / 4) / block));
    const grid = Math.min(blocks, host.resident_blocks("sum_cards", block));
    host.launch("sum_cards", {grid, block}, host.struct(host.i32(cards), host.i32(0), ...pointers), host.u64(n));
    return host.verify(sums, output);
}
playground.lesson("lesson35", {
    n: {value: 4096, most: 131072},
    sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}, cards: {from: 1, to: 4, value: 4}},
    missing: Object.fromEntries(["through_host", "one_shot", "two_steps", "two_steps_pull", "nccl"].map(
        (kernel) => [kernel, `A page has a single card. ./lesson35 --kernel ${kernel} runs it.`])),
    kernels: {peer_copies: sum_cards, peer_loads: sum_cards},
});
