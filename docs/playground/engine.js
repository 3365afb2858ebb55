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
// `make playground` appends the emulator, as playground.emulator. It bundles each lesson's playground.js (or a call of
// playground.of_manifest() in its place), PTX and facts as
// playground.bundle("lesson03", function (facts) { …playground.js… }, {ptx, sources, …} = facts). An exercise whose launch is not
// its lesson's has exercise.js, and no PTX: a run brings the reader's.
"use strict";

function make_playground() {
    const lessons = {}; // by name: what playground.lesson() was given: {sliders, n, kernels}
    const bundles = {}; // by name: {script, facts}

    function lesson(name, parts) { lessons[name] = parts; }

    // The launch of a kernel that leaves one partial sum per block, as harness::Lesson::add_reduction() has it: `elements_per_thread`;
    // `in_place`: it overwrites what it sums; ints of dynamic shared memory per thread; `resident`: no more blocks than all
    // multiprocessors hold at once; `most_blocks`. <block> in the name stands for the block size that a template is compiled for.
    function reduction(name, {elements_per_thread = 1, in_place = false, shared_ints_per_thread = in_place ? 0 : 1,
                              resident = false, most_blocks = Infinity} = {}) {
        return (host, {n, block, offset = 0}) => {
            const kernel = name.replace("<block>", `<${block}>`), shared = 4 * shared_ints_per_thread * block;
            const needed = Math.min(Math.ceil(n / (elements_per_thread * block)), most_blocks);
            const grid = resident ? Math.min(needed, host.resident_blocks(kernel, block, shared)) : needed;
            const input = host.random_ints(n, offset), work = in_place ? host.random_ints(n, offset) : input;
            const sums = host.ints(grid);
            host.launch(kernel, {grid, block, shared}, work, sums, host.u64(n));
            return host.verify_sum(input, sums);
        };
    }

    // The launch of a kernel that adds to a result of 0: all of its blocks to the same one. The options are those of reduction().
    function total(name, {elements_per_thread = 1, in_place = false, shared_ints_per_thread = 0} = {}) {
        return (host, {n, block}) => {
            const grid = Math.ceil(n / (elements_per_thread * block)), shared = 4 * shared_ints_per_thread * block;
            const input = host.random_ints(n), work = in_place ? host.random_ints(n) : input, result = host.ints(1);
            host.fill(result, 0);
            host.launch(name, {grid, block, shared}, work, result, host.u64(n));
            return host.verify_sum(input, result);
        };
    }

    // The launch of a kernel of one block with a thread for each int of a tile, as harness::measure_tile() has it. It stores its
    // threads' numbers by rows, and reads them by columns; or `same_order`: thread i gets i back. `padded`: it takes the ints after
    // each row; `dynamic`: its tile is dynamic shared memory.
    function tile(name, {same_order = false, padded = false, dynamic = false} = {}) {
        return (host, {width, height = width, padding}) => {
            const threads = width * height, shared = dynamic ? 4 * height * (width + (padded ? padding : 0)) : 0;
            if (threads > 1024)
                throw new Error(`A block has at most 1024 threads, not ${threads}. Choose a smaller width or height.`);
            const out = host.ints(threads);
            host.launch(name, {grid: 1, block: [width, height], shared}, out, ...padded ? [host.u32(padding)] : []);
            const transposed = (i) => i % height * width + Math.floor(i / height);
            return host.verify(Array.from({length: threads}, (_, i) => same_order ? i : transposed(i)), out);
        };
    }

    // A lesson of such kernels alone: its manifest's `playground` has for the name of each its options. `sizes`: those of tiles
    // have a width, a padding that starts with this one, and a height unless they are square.
    function of_manifest(name, {tile: sizes, ...kernels}) {
        const launches = (launch) => Object.fromEntries(Object.entries(kernels).map(
            ([kernel, options]) => [kernel.replace("<block>", ""), launch(kernel, options)]));
        if (!sizes) {
            lesson(name, {
                n: {value: 65536, most: 1048576},
                sliders: {block: {from: 32, to: 1024, value: 256, powers_of_two: true}},
                kernels: launches(reduction),
            });
            return;
        }
        const most = sizes.square ? 32 : 64;
        lesson(name, {
            sliders: {
                width: {from: 1, to: most, value: 32},
                ...sizes.square ? {} : {height: {from: 1, to: most, value: 16}},
                padding: {from: 0, to: 33, value: sizes.padding},
            },
            kernels: launches(tile),
        });
    }

    function bundle(name, script, facts) {
        bundles[name] = {script, facts};
        script(facts);
    }

    // The emulator's C functions (common/emulator/playground/playground.cpp), with JavaScript's types. Those that fail throw.
    function emulator_interface(module) {
        const error = module.cwrap("playground_error", "string", []);
        function checked(result) {
            if (!result) throw new Error(error());
            return result;
        }
        function text(name, ...types) {
            const call = module.cwrap(name, "string", types);
            return (...values) => JSON.parse(checked(call(...values)));
        }
        const begin = module.cwrap("playground_begin", "number", ["string"]);
        const place = module.cwrap("playground_place", "number", ["string"]);
        const variable = module.cwrap("playground_variable", "number", ["string"]);
        return {
            memory: () => module.HEAPU8, // anew after each allocation: it may have grown
            begin: (wanted) => checked(begin(JSON.stringify(wanted))),
            reserve: (first, end) => checked(module._playground_reserve(first, end)),
            load(ptx, first = 0) { // where its variables begin
                const bytes = new TextEncoder().encode(ptx);
                const address = checked(module._playground_text(bytes.length));
                module.HEAPU8.set(bytes, address);
                checked(module._playground_load(first));
            },
            kernels: text("playground_kernels"),
            kernel: text("playground_kernel", "string"),
            launch: text("playground_launch", "string", "array", "number"),
            findings: text("playground_findings"),
            variable: (name) => checked(variable(name)),
            allocate: (bytes) => checked(module._playground_allocate(bytes)),
            holds: module._playground_holds,
            place: (allocation) => checked(place(JSON.stringify(allocation))),
            written: module._playground_written,
            release: module._playground_release,
            resident_blocks: module._playground_resident_blocks,
            random_ints: module._playground_random_ints,
            random_bits: module._playground_random_bits,
        };
    }

    const types = {
        u8: {bytes: 1, array: Uint8Array}, u16: {bytes: 2, array: Uint16Array}, i32: {bytes: 4, array: Int32Array},
        u32: {bytes: 4, array: Uint32Array}, f32: {bytes: 4, array: Float32Array}, f64: {bytes: 8, array: Float64Array},
        i64: {bytes: 8, array: BigInt64Array}, u64: {bytes: 8, array: BigUint64Array},
    };

    // What a lesson's host part may call: `host`. One for each run.
    function make_host(emulator, request, result) {
        const kernels = emulator.kernels();
        const allocated = [];
        const seed = 42n, poison = 0xA5, multiprocessors = 132; // as in common/harness and on the emulated device
        let scratch = 0;

        // ---- device memory ----

        function buffer(type, count) {
            const bytes = types[type].bytes * count, address = emulator.allocate(bytes);
            emulator.memory().fill(poison, address, address + bytes);
            allocated.push(address);
            return {type, count, address};
        }
        // A pointer to one of a buffer's elements.
        function at(buffer, element) {
            return {...buffer, address: buffer.address + element * types[buffer.type].bytes, count: buffer.count - element};
        }
        function view({type, address, count}) { return new types[type].array(emulator.memory().buffer, address, count); }
        function written({type, address, count}) { emulator.written(address, count * types[type].bytes); }
        function write(buffer, values, first = 0) {
            view(buffer).set(values, first);
            written({...at(buffer, first), count: values.length});
        }
        function fill(buffer, byte) { // as cudaMemset
            emulator.memory().fill(byte, buffer.address, buffer.address + buffer.count * types[buffer.type].bytes);
            written(buffer);
        }
        function read(buffer, first = 0, count = buffer.count - first) { return view(buffer).slice(first, first + count); }
        function as(type, buffer) {
            return {type, address: buffer.address, count: buffer.count * types[buffer.type].bytes / types[type].bytes};
        }

        // ---- the lessons' data ----

        function halves_of(seed) { return [Number(BigInt.asUintN(32, seed)), Number(BigInt.asUintN(32, seed >> 32n))]; }
        // `offset` poisoned ints, and `count` random ones. It points to these. `sum` is theirs.
        function random_ints(count, offset = 0) {
            const result = at(buffer("i32", offset + count), offset);
            emulator.random_ints(result.address, count, ...halves_of(seed), 0);
            written(result);
            return {...result, sum: sum(view(result))};
        }
        // One of a sequence: harness::random_int() and random_bits().
        function random_int(index, sequence = seed) {
            scratch ||= buffer("u64", 1).address;
            emulator.random_ints(scratch, 1, ...halves_of(sequence), index);
            return view({type: "i32", address: scratch, count: 1})[0];
        }
        function random_bits(index, sequence = seed) {
            scratch ||= buffer("u64", 1).address;
            emulator.random_bits(scratch, 1, ...halves_of(sequence), index);
            return view({type: "u64", address: scratch, count: 1})[0];
        }

        // ---- arguments of kernels ----

        function argument(type, value) {
            const bytes = new Uint8Array(types[type].bytes);
            new types[type].array(bytes.buffer)[0] = type === "u64" || type === "i64" ? BigInt(value) : value;
            return {argument: bytes};
        }
        function bytes_of(value) {
            if (value?.argument) return value.argument;
            if (value?.address !== undefined) return argument("u64", value.address).argument;
            throw new Error("an argument is a buffer, host.u32(…), host.i32(…), host.u64(…), host.f32(…) or host.struct(…)");
        }
        // Members of a struct that a kernel takes by value.
        function struct(...members) {
            const all = [];
            let largest = 1;
            const align = (size) => { while (all.length % size !== 0) all.push(0); };
            for (const bytes of members.map(bytes_of)) {
                align(bytes.length);
                all.push(...bytes);
                largest = Math.max(largest, bytes.length);
            }
            align(largest);
            return {argument: new Uint8Array(all)};
        }
        function parameters(kernel, values) {
            const given = values.map(bytes_of), wanted = kernel.parameters;
            if (given.length !== wanted.length)
                throw new Error(`${kernel.readable_name} has ${wanted.length} parameters, not ${given.length}`);
            const last = wanted[wanted.length - 1];
            const all = new Uint8Array(last ? last.offset + last.bytes : 0);
            wanted.forEach(({offset, bytes}, k) => {
                if (given[k].length !== bytes)
                    throw new Error(`parameter ${k + 1} of ${kernel.readable_name} has ${bytes} bytes, not ${given[k].length}`);
                all.set(given[k], offset);
            });
            return all;
        }

        // ---- launches ----

        // "reduce5<256>" of nvcc's "reduce5<256u>" and "reduce5<(unsigned int)256>"
        function source_name({short_name}) {
            return short_name.replace(/\(\w[\w ]*\)(?=\d)/g, "").replace(/\b(\d+)u?l*\b/g, "$1").replace(/\s+/g, "");
        }
        // By its name in PTX, or as in the source: "reduce5<256>", or "reduce5" if there is only one.
        function kernel_named(name) {
            const wanted = name.replace(/\s+/g, "");
            const is_exact = (kernel) => kernel.name === name || `::${source_name(kernel)}`.endsWith(`::${wanted}`);
            const is_template = (kernel) => `::${source_name(kernel)}`.includes(`::${wanted}<`);
            const exact = kernels.filter(is_exact), found = exact.length > 0 ? exact : kernels.filter(is_template);
            if (found.length === 1) return {...found[0], ...emulator.kernel(found[0].name)};
            throw new Error(found.length === 0 ? `there is no kernel ${name}, only ${kernels.map(source_name).join(", ")}`
                : `${name} may be ${found.map(source_name).join(" or ")}`);
        }
        function extents(size) {
            const [x, y = 1, z = 1] = Array.isArray(size) ? size : [size];
            return [x, y, z];
        }
        function start(selected, name, {grid, block, shared = 0, cluster, cooperative = false, takes_turns = false, call_stack_bytes}, values) {
            const kernel = kernel_named(name), bytes = parameters(kernel, values);
            const configuration = {grid: extents(grid), block: extents(block), shared};
            const record = emulator.launch(JSON.stringify({...configuration, kernel: kernel.name, cooperative, takes_turns, selected,
                call_stack_bytes, limit: request.limit ?? 3e8, ...(cluster ? {cluster: extents(cluster)} : {})}), bytes, bytes.length);
            if (selected) Object.assign(result, configuration, observed(record));
            if (record.error) throw new Error(record.error);
        }
        // Blocks that are on the device at once, as harness::resident_blocks().
        function resident_blocks(name, block, shared = 0) {
            return multiprocessors * emulator.resident_blocks(block, kernel_named(name).static_shared_bytes + shared);
        }

        // ---- results ----

        function sum(values) {
            let total = 0;
            for (const value of values) total = (total + value) | 0; // wraps at 32 bits
            return total;
        }
        // Compares each element. `expected` is an array, `actual` a buffer or an array. Returns the first wrong one, or the last,
        // as the harness's compare_elements().
        function verify(expected, actual) {
            const values = actual.address === undefined ? actual : view(actual);
            const wrong = expected.findIndex((value, k) => value !== values[k] && !Object.is(value, values[k]));
            const place = wrong < 0 ? expected.length - 1 : wrong;
            return {verified: wrong < 0, expected: expected[place], actual: values[place]};
        }
        // The partial sums have to add up to the input's sum.
        function verify_sum(input, sums) {
            const actual = sum(view(sums));
            return {verified: actual === input.sum, expected: input.sum, actual};
        }

        return {
            bytes: (count) => buffer("u8", count),
            halves: (count) => buffer("u16", count),
            ints: (count) => buffer("i32", count),
            unsigned: (count) => buffer("u32", count),
            floats: (count) => buffer("f32", count),
            doubles: (count) => buffer("f64", count),
            words: (count) => buffer("u64", count),
            signed_words: (count) => buffer("i64", count),
            variable: (name, type, count) => ({type, count, address: emulator.variable(name)}),
            at, write, fill, read,
            read_ints: (buffer) => read(as("i32", buffer)),
            read_floats: (buffer) => read(as("f32", buffer)),
            seed, random_ints, random_int, random_bits,
            u8: (value) => argument("u8", value),
            i32: (value) => argument("i32", value),
            u32: (value) => argument("u32", value),
            i64: (value) => argument("i64", value),
            u64: (value) => argument("u64", value),
            f32: (value) => argument("f32", value),
            f64: (value) => argument("f64", value),
            struct,
            multiprocessors, resident_blocks,
            // The last launch() is the one that the lesson is about, whose counters the run shows. The checkers watch all.
            launch: (name, configuration, ...values) => start(true, name, configuration, values),
            other_launch: (name, configuration, ...values) => start(false, name, configuration, values),
            sum, verify, verify_sum,
            release: () => allocated.splice(0).forEach(emulator.release),
        };
    }

    // A launch's record, for the page.
    function observed({counters = {}, lines = [], pictures = [], steps = [], arrays = [], steps_left_out = 0}) {
        return {
            counters, steps, arrays, steps_left_out,
            pictures: pictures.filter(({svg}) => svg !== ""), // a kernel may have nothing to draw
            lines: lines.flatMap(({path, function: name, lines}) =>
                lines.map(({line, counted, ideal}) => ({file: path, line, function: name, counters: counted, ideal}))),
        };
    }
    function finding_shown({checker, message, parties, ...more}) {
        const [, file = "", line = 0] = /^(.*):(\d+)$/.exec(parties[0]?.where ?? "") ?? [];
        return {check: checker, message, file, line: Number(line), parties, ...more};
    }

    // What a request leaves out.
    function with_defaults(lesson, {n = lesson.n?.value, block, options = {}, ...request}) {
        const values = Object.fromEntries(Object.entries(lesson.sliders ?? {}).map(([name, {value}]) => [name, value]));
        const given = {...(n === undefined ? {} : {n}), ...(block === undefined ? {} : {block}), ...options};
        return {...request, parameters: {...values, ...given}};
    }
    const checkers = ["mem", "init", "race", "sync"];
    function broken_kernel(facts, wanted) {
        const found = (facts.broken ?? []).find(({name}) => name === wanted);
        if (!found) throw new Error(`there is no broken kernel '${wanted}'`);
        return found;
    }
    function all_or(wanted, all) { return wanted === true ? all : wanted || []; }

    // One run: what engine.run() returns. A request has lesson, kernel and, where the defaults do not do, n, block and options. It
    // asks for lines, steps, draw and check (true, or some kinds of pictures and checkers), with `line` for the pictures. `ptx`
    // takes the place of the lesson's, and so does `broken`, the name of one of its broken kernels. `limit` ends a kernel after
    // that many warp instructions. In PTX that is not the lesson's `check: true` also finds races between blocks.
    function run_lesson(emulator, lesson, facts, given) {
        const start = Date.now(), request = with_defaults(lesson, given);
        const result = {counters: {}, verified: false, expected: null, actual: null, grid: null, block: null, shared: 0,
            lines: [], pictures: [], steps: [], arrays: [], findings: [], error: null, warp_instructions: 0};
        let host = null;
        try {
            const draw = all_or(request.draw, ["banks", "sectors", "tile", "activity"]);
            const broken = request.broken ? broken_kernel(facts, request.broken) : {};
            const ptx = request.ptx ?? broken.ptx ?? facts.ptx;
            emulator.begin({lines: Boolean(request.lines), steps: Boolean(request.steps), draw, line: request.line ?? 0,
                check: all_or(request.check, facts.ptx === ptx ? checkers : [...checkers, "global-races"]),
                sources: draw.length > 0 ? {...facts.sources, ...broken.sources} : {}});
            if (lesson.load) lesson.load(emulator, request.kernel, ptx);
            else emulator.load(ptx);
            host = make_host(emulator, request, result);
            const kernel = lesson.kernels[request.kernel];
            if (!kernel) throw new Error(lesson.missing?.[request.kernel] ?? `${request.lesson} has no kernel ${request.kernel}`);
            Object.assign(result, kernel(host, request.parameters));
        } catch (error) {
            if (error instanceof WebAssembly.RuntimeError) throw error; // the emulator itself failed
            result.error = error.message;
        }
        if (host) host.release();
        result.findings = emulator.findings().map(finding_shown)
            .sort((a, b) => checkers.indexOf(a.check) - checkers.indexOf(b.check)); // as `emulate --check` prints them
        result.warp_instructions = result.counters["smsp__inst_executed.sum"] ?? 0;
        return {...result, milliseconds: Date.now() - start};
    }

    // In the worker: each message is a request.
    function serve(worker) {
        const started = playground.emulator()().then(emulator_interface);
        worker.onmessage = async ({data}) => {
            try {
                worker.postMessage(run_lesson(await started, lessons[data.lesson], bundles[data.lesson].facts, data));
            } catch (error) {
                worker.postMessage({failed: `the emulator failed: ${error.message}`});
            }
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
            worker.onmessage = ({data}) => data.failed ? stop(data.failed) : finish("resolve", data);
            worker.onerror = (event) => stop(event.message);
        }
        function finish(how, value) {
            const waiting = running;
            running = null;
            if (waiting) waiting[how](value);
        }
        function stop(why = "stopped") {
            if (worker) worker.terminate();
            worker = null;
            finish("reject", new Error(why));
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
        return {run, stop: () => stop()};
    }

    const playground = {lessons, bundles, lesson, reduction, total, tile, of_manifest, bundle, engine, serve, emulator: null};
    return playground;
}

var playground = make_playground();

if (typeof module !== "undefined") module.exports = playground;
