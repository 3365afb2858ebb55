// A reader's own kernel, for emulate's page: it is in the request's PTX, and its arguments are as the page's fields have them.
playground.lesson("emulate", {
    kernels: {
        launch(host, {name, grid, block, shared, values}) {
            const make = {"random ints": host.random_ints, "ints": host.ints, "floats": host.floats};
            const numbers = ["u8", "i32", "u32", "u64", "f32", "f64"];
            for (const {kind} of values)
                if (!make[kind] && !numbers.includes(kind)) throw new Error(`This page has no arguments of the type ${kind}.`);
            const given = values.map(({kind, value}) => make[kind] ? make[kind](value) : host[kind](value));
            host.launch(name, {grid, block, shared}, ...given);
            const first = (buffer) => Array.from(host.read(buffer, 0, Math.min(buffer.count, 8)));
            return {buffers: given.map((one) => one.address === undefined ? null : first(one))};
        },
    },
});
