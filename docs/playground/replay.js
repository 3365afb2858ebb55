// The launches that `emulate --export` recorded, in the page that it writes. `facts` has them as session/replay_recorder.hpp says:
// {launches, modules, pieces, sources}. Each gets the memory that it had, at the same addresses, so that pointers are right.
const {launches, modules, pieces} = facts;
// Without namespaces, and cut: a library's names have hundreds of letters.
function short(name) {
    const bare = name.replace(/^(?:[\w() ]+::)+/, "");
    return bare.length > 40 ? `${bare.slice(0, 39)}…` : bare;
}
const named = ({name, launch}) => launches.length === 1 ? short(name) : `launch ${launch}: ${short(name)}`;
const all_memory = launches.flatMap(({memory}) => memory);
const first = Math.min(...all_memory.map(({address}) => address));
const end = Math.max(...all_memory.map(({address, bytes}) => address + bytes));

const placed = []; // addresses of the run before

function bytes_of(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; ++k) bytes[k] = text.charCodeAt(k);
    return bytes;
}
const decoded = []; // pieces, once they were needed
function piece_of(number) { return decoded[number] ??= bytes_of(pieces[number]); }

// Writes what an allocation held to memory from `address` on.
function write(memory, address, contents) {
    for (const [piece, number] of contents) {
        for (let k = 0; k < Math.abs(number); ++k) {
            const bytes = piece_of(number < 0 ? piece : piece + k);
            memory.set(bytes, address);
            address += bytes.length;
        }
    }
}

// Tells the checkers which of an allocation's bytes were written: those between the others.
function tell(emulator, {address, bytes, unwritten}) {
    let from = 0;
    for (const [place, count] of [...unwritten, [bytes, 0]]) {
        if (place > from) emulator.written(address + from, place - from);
        from = place + count;
    }
}

// The PTX of the launch, or in its place a reader's, whose variables lie elsewhere.
function load(emulator, {module, module_address, memory}, own) {
    placed.splice(0).forEach(emulator.release);
    if (own === undefined) emulator.load(modules[module], module_address);
    else emulator.load(own);
    for (const {variable, unwritten, contents, ...allocation} of memory) {
        if (contents.length === 0) continue;
        const {bytes} = allocation, address = variable === undefined ? allocation.address : emulator.variable(variable);
        if (own === undefined && address !== allocation.address)
            throw new Error(`${variable} has no place in this page: write the page again`); // something lay in between
        if (variable === undefined) {
            emulator.place(allocation);
            placed.push(address);
        } else if (!emulator.holds(address, bytes)) {
            throw new Error(`${variable} has ${bytes} bytes in the program, and fewer in this PTX`);
        }
        write(emulator.memory(), address, contents);
        if (variable === undefined) tell(emulator, {address, bytes, unwritten});
    }
}

playground.lesson("replay", {
    load(emulator, name, own) {
        if (all_memory.length > 0) emulator.reserve(first, end);
        load(emulator, launches.find((launch) => named(launch) === name), own);
    },
    kernels: Object.fromEntries(launches.map((launch) => [named(launch), (host) => {
        const {kernel, parameters, ...configuration} = launch;
        host.launch(kernel, configuration, ...parameters.map((bytes) => ({argument: bytes_of(bytes)})));
        return {verified: null, actual: null}; // there is nothing to compare with
    }])),
});
