// Runs a lesson's kernels in the page, on the emulator as WebAssembly: what main.cu does, without a terminal.
//
//     const engine = playground.engine();
//     const result = await engine.run({lesson: "lesson03", kernel: "reduce3", n: 65536, block: 256});
//     result.counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]; // 8192
//
// A run happens in a worker, so that the page stays usable and engine.stop() can end it. A page opened from file:// may not start
// a worker from a file, so its program is the text of make_playground() and of what was bundled. Under Node, which has no Worker,
// runs happen in the calling thread.
//
// `make playground` appends the emulator, as playground.emulator. It bundles each lesson's playground.js, PTX and facts as
// playground.bundle("lesson03", function () { …playground.js… }, {ptx, sources, …}).
"use strict";

function make_playground() {
    const lessons = {}; // by name: what playground.lesson() was given: {sliders, n, kernels}
    const bundles = {}; // by name: {script, facts}

    function lesson(name, parts) { lessons[name] = parts; }

    function bundle(name, script, facts) {
        bundles[name] = {script, facts};
        script();
    }

    // The emulator's C functions (common/emulator/playground/playground.cpp), for JavaScript's types.
    function emulator_interface(module) {
        const text = new TextEncoder();
        const c = {
            module,
            error: module.cwrap("playground_error", "string", []),
            kernels_json: module.cwrap("playground_kernels", "string", []),
            launch_json: module.cwrap("playground_launch", "string", ["string", ...Array(7).fill("number"), "array", "number", "number"]),
        };
        c.checked = (result) => {
            if (!result) throw new Error(c.error());
            return result;
        };
        c.load = (ptx) => {
            const bytes = text.encode(ptx);
            module.HEAPU8.set(bytes, c.checked(module._playground_text(bytes.length)));
            c.checked(module._playground_load());
        };
        c.kernels = () => JSON.parse(c.checked(c.kernels_json()));
        c.allocate = (bytes) => c.checked(module._playground_allocate(bytes));
        c.release = (address) => module._playground_release(address);
        c.bytes = (address, count) => module.HEAPU8.subarray(address, address + count); // anew after each allocation
        return c;
    }

    // What a lesson's host part may call: `host`. One for each run.
    function make_host(emulator, request, result) {
        const kernels = emulator.kernels();
        const allocated = [];
        const seed = 42, poison = 0xA5; // as in common/harness
        const types = {
            i32: {bytes: 4, array: Int32Array}, u32: {bytes: 4, array: Uint32Array}, f32: {bytes: 4, array: Float32Array},
            f64: {bytes: 8, array: Float64Array}, u64: {bytes: 8, array: BigUint64Array}, i64: {bytes: 8, array: BigInt64Array},
            u16: {bytes: 2, array: Uint16Array}, u8: {bytes: 1, array: Uint8Array},
        };

        function buffer(type, count) {
            const bytes = types[type].bytes * count;
            const address = emulator.allocate(bytes);
            emulator.bytes(address, bytes).fill(poison);
            allocated.push(address);
            return {type, count, bytes, address: BigInt(address)};
        }
        // Its elements, from `first` on. A view of device memory: take it anew after each allocation.
        function view(buffer, first = 0, count = buffer.count - first) {
            const {bytes, array} = types[buffer.type];
            return new array(emulator.module.HEAPU8.buffer, Number(buffer.address) + first * bytes, count);
        }
        function argument(type, value) {
            const bytes = new Uint8Array(types[type].bytes);
            new types[type].array(bytes.buffer)[0] = types[type].bytes === 8 && type !== "f64" ? BigInt(value) : value;
            return {argument: bytes};
        }
        function bytes_of(value) {
            if (value && value.argument) return value.argument;
            if (value && value.address !== undefined) return argument("u64", value.address).argument;
            throw new Error("a kernel's argument has to be a buffer or host.u32(…), host.i32(…), host.u64(…), host.f32(…)");
        }
        // Members of a struct that a kernel takes by value.
        function struct(...members) {
            const all = [];
            let largest = 1;
            for (const bytes of members.map(bytes_of)) {
                while (all.length % bytes.length !== 0) all.push(0);
                all.push(...bytes);
                largest = Math.max(largest, bytes.length);
            }
            while (all.length % largest !== 0) all.push(0);
            return {argument: new Uint8Array(all)};
        }
        // A pointer to an element of a buffer.
        function at(buffer, element) {
            return {...buffer, address: buffer.address + BigInt(element * types[buffer.type].bytes), count: buffer.count - element};
        }

        // "reduce5<256>" of "void reduce5<256u>(int const*, int*, unsigned long)"
        function short_name(readable) {
            let depth = 0, end = readable.length;
            const name = readable.replace(/\(anonymous namespace\)::/g, "");
            for (end = 0; end < name.length && (depth > 0 || name[end] !== "("); ++end)
                depth += {"<": 1, ">": -1}[name[end]] ?? 0;
            return name.slice(0, end).replace(/^void /, "").replace(/\b(\d+)u?l*\b/g, "$1").replace(/\s+/g, "");
        }
        // By its name in PTX, or as in the source: "reduce5<256>", or "reduce5" if it is the only one.
        function kernel_named(name) {
            const wanted = name.replace(/\s+/g, "");
            const found = kernels.filter((one) => one.name === name || short_name(one.readable_name) === wanted);
            const fitting = found.length > 0 ? found : kernels.filter((one) => short_name(one.readable_name).startsWith(`${wanted}<`));
            if (fitting.length === 1) return fitting[0];
            throw new Error(fitting.length === 0
                ? `there is no kernel ${name}; there are ${kernels.map((one) => short_name(one.readable_name)).join(", ")}`
                : `${name} is one of ${fitting.map((one) => short_name(one.readable_name)).join(", ")}`);
        }
        function extents(size) {
            const [x, y = 1, z = 1] = Array.isArray(size) ? size : [size];
            return [x, y, z];
        }
        function parameters(kernel, values) {
            const given = values.map(bytes_of);
            if (given.length !== kernel.parameters.length)
                throw new Error(`${kernel.readable_name} has ${kernel.parameters.length} parameters, not ${given.length}`);
            const last = kernel.parameters[kernel.parameters.length - 1];
            const all = new Uint8Array(last ? last.offset + last.bytes : 0);
            kernel.parameters.forEach(({offset, bytes}, k) => {
                if (given[k].length !== bytes)
                    throw new Error(`parameter ${k + 1} of ${kernel.readable_name} has ${bytes} bytes, not ${given[k].length}`);
                all.set(given[k], offset);
            });
            return all;
        }
        function start(name, {grid, block, shared = 0}, values) {
            const kernel = kernel_named(name);
            const bytes = parameters(kernel, values);
            const configuration = {grid: extents(grid), block: extents(block), shared};
            const counters = emulator.launch_json(kernel.name, ...configuration.grid, ...configuration.block, shared,
                bytes, bytes.length, request.limit ?? 1e9);
            return {...configuration, counters: JSON.parse(emulator.checked(counters))};
        }
        // The launch that the lesson is about: the last of them is the one whose counters are shown.
        function launch(name, configuration, ...values) { Object.assign(result, start(name, configuration, values)); }
        function other_launch(name, configuration, ...values) { start(name, configuration, values); }

        function sum(values) {
            let total = 0;
            for (const value of values) total = (total + value) | 0; // wraps at 32 bits
            return total;
        }
        // The harness's SplitMix64 until the emulator brings it along.
        function random_ints(count) {
            const result = buffer("i32", count), values = view(result), mask = (1n << 64n) - 1n;
            for (let k = 0; k < count; ++k) {
                let bits = (BigInt(seed) + BigInt(k + 1) * 0x9E3779B97F4A7C15n) & mask;
                bits = ((bits ^ (bits >> 30n)) * 0xBF58476D1CE4E5B9n) & mask;
                bits = ((bits ^ (bits >> 27n)) * 0x94D049BB133111EBn) & mask;
                const below_2000 = Number((((bits ^ (bits >> 31n)) >> 32n) * 2000n) >> 32n);
                values[k] = below_2000 < 1000 ? below_2000 - 1000 : below_2000 - 999;
            }
            result.sum = sum(values);
            return result;
        }
        // Compares each element; `expected` is an array.
        function verify(expected, actual) {
            const values = Array.isArray(actual) || ArrayBuffer.isView(actual) ? actual : view(actual);
            for (let k = 0; k < expected.length; ++k)
                if (!Object.is(expected[k], values[k]) && expected[k] !== values[k])
                    return {verified: false, expected: expected[k], actual: values[k], first_wrong: k};
            return {verified: true, expected: expected[0], actual: values[0]};
        }
        // The partial sums have to add up to the input's sum.
        function verify_sum(input, sums) {
            const actual = sum(view(sums));
            return {verified: actual === input.sum, expected: input.sum, actual};
        }

        return {
            ints: (count) => buffer("i32", count), unsigned: (count) => buffer("u32", count), floats: (count) => buffer("f32", count),
            doubles: (count) => buffer("f64", count), words: (count) => buffer("u64", count), bytes: (count) => buffer("u8", count),
            random_ints, at, struct,
            i32: (value) => argument("i32", value), u32: (value) => argument("u32", value), u64: (value) => argument("u64", value),
            f32: (value) => argument("f32", value), f64: (value) => argument("f64", value), u8: (value) => argument("u8", value),
            write: (buffer, values, first = 0) => view(buffer, first, values.length).set(values),
            fill: (buffer, byte) => emulator.bytes(Number(buffer.address), buffer.bytes).fill(byte), // cudaMemset
            read: (buffer, first, count) => view(buffer, first, count).slice(),
            read_ints: (buffer, first, count) => view({...buffer, type: "i32", count: buffer.bytes / 4}, first, count).slice(),
            read_floats: (buffer, first, count) => view({...buffer, type: "f32", count: buffer.bytes / 4}, first, count).slice(),
            launch, other_launch, sum, verify, verify_sum,
            release: () => allocated.splice(0).forEach(emulator.release),
        };
    }

    // One run: what engine.run() returns.
    function run_lesson(emulator, lesson, facts, request) {
        const start = Date.now();
        const result = {counters: {}, verified: false, expected: null, actual: null, grid: null, block: null, shared: 0,
            lines: [], pictures: [], findings: [], error: null, warp_instructions: 0};
        let host = null;
        try {
            emulator.load(request.ptx ?? facts.ptx);
            host = make_host(emulator, request, result);
            const kernel = lesson.kernels[request.kernel];
            if (!kernel) throw new Error(`${request.lesson} has no kernel ${request.kernel}`);
            Object.assign(result, kernel(host, {n: request.n, block: request.block, ...request.options}));
        } catch (error) {
            result.error = error.message;
        }
        if (host) host.release();
        result.warp_instructions = result.counters["smsp__inst_executed.sum"] ?? 0;
        return {...result, milliseconds: Date.now() - start};
    }

    // In the worker: each message is a request.
    function serve(worker) {
        const started = playground.emulator()().then(emulator_interface);
        worker.onmessage = async ({data}) => {
            const {facts} = bundles[data.lesson];
            worker.postMessage(run_lesson(await started, lessons[data.lesson], facts, data));
        };
    }

    function worker_program() {
        const lessons_of_page = Object.entries(bundles).map(([name, {script, facts}]) =>
            `playground.bundle(${JSON.stringify(name)}, ${script}, ${JSON.stringify(facts)});\n`);
        return `"use strict"; var playground = (${make_playground})();\nplayground.emulator = ${playground.emulator};\n` +
            `${lessons_of_page.join("")}playground.serve(self);`;
    }

    function engine() {
        let worker = null, known = null, running = null, here = null;

        function start() {
            known = new Set(Object.keys(bundles));
            worker = new Worker(URL.createObjectURL(new Blob([worker_program()], {type: "text/javascript"})));
            worker.onmessage = ({data}) => finish("resolve", data);
            worker.onerror = (event) => finish("reject", new Error(event.message));
        }
        function finish(how, value) {
            const waiting = running;
            running = null;
            if (waiting) waiting[how](value);
        }
        function stop() {
            if (worker) worker.terminate();
            worker = null;
            finish("reject", new Error("stopped"));
        }
        // What a run returns is made in run_lesson(). A run that has not ended is stopped by the next.
        async function run(request) {
            if (!playground.emulator) throw new Error("the emulator is not in this page: make playground");
            if (!bundles[request.lesson]) throw new Error(`${request.lesson} is not in this page`);
            if (typeof Worker === "undefined") {
                here ??= emulator_interface(await playground.emulator()());
                return run_lesson(here, lessons[request.lesson], bundles[request.lesson].facts, request);
            }
            if (running || (worker && !known.has(request.lesson))) stop();
            if (!worker) start();
            return new Promise((resolve, reject) => {
                running = {resolve, reject};
                worker.postMessage(request);
            });
        }
        return {run, stop};
    }

    const playground = {lessons, bundles, lesson, bundle, engine, serve, emulator: null};
    return playground;
}

var playground = make_playground();

if (typeof module !== "undefined") module.exports = playground;
