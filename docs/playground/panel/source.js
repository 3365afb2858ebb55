// The source, with its costs line by line.

// The columns of `emulate --lines`. Where a line could do with less, `×8` says by which factor.
const wanted = {
    instructions: ["warp_instructions"],
    sectors: ["global_load_sectors", "global_store_sectors", "global_atom_sectors", "global_red_sectors", "bulk_sectors"],
    requests: ["global_load_requests", "global_store_requests"],
    wavefronts: ["shared_load_wavefronts", "shared_store_wavefronts", "copy_wavefronts"],
    divergent: ["divergent_branches"],
};

// [[first, end]]: the functions that hold these lines of a source. A function begins and ends at the left margin.
function functionsWith(numbers, text) {
    const found = new Map();
    for (const number of numbers) {
        let first = number - 1, end = number - 1;
        while (first > 0 && !/^[^\s#}]/.test(text[first])) --first;
        while (first > 0 && /^[^\s#}].*[^;}]$/.test(text[first - 1])) --first; // template, comments
        while (end < text.length - 1 && !text[end].startsWith("}")) ++end;
        found.set(first, end + 1);
    }
    return [...found].sort(([a], [b]) => a - b);
}

// Each file's functions with the costs beside their lines. `notes` are findings, which stand below their line.
function lineTable({lines, findings}, sources, counters) {
    const names = Object.fromEntries(counters.map(({id, name}) => [id, name]));
    const sum = (counted, ids) => ids.reduce((total, id) => total + (counted[names[id]] ?? 0), 0);
    const columns = Object.entries(wanted)
        .map(([title, ids]) => ({title, ids, most: Math.max(...lines.map(line => sum(line.counters, ids)))}))
        .filter(column => column.most > 0);
    const cells = line => columns.map(({title, ids, most}) => {
        const value = line ? sum(line.counters, ids) : 0, excess = value / sum(line?.ideal ?? {}, ids);
        if (value === 0) return make("td");
        const cell = make("td", {class: value > 0.9 * most ? "share most" : "share", "data-label": title}, shown(value));
        if (excess > 1.05 && excess < Infinity) cell.append(make("b", {}, ` ×${Number(excess.toFixed(excess < 9.95 ? 1 : 0))}`));
        cell.style.setProperty("--share", `${Math.round(100 * value / most)}%`);
        return cell;
    });
    const parts = [];
    for (const file of new Set([...lines, ...findings].map(one => one.file).filter(Boolean))) {
        const counted = new Map(lines.filter(line => line.file === file).map(line => [line.line, line]));
        const noted = findings.filter(finding => finding.file === file);
        const numbers = [...new Set([...counted.keys(), ...noted.map(finding => finding.line)])].sort((a, b) => a - b);
        const text = sources[file]?.split("\n");
        const pieces = text ? functionsWith(numbers, text) : numbers.map(line => [line - 1, line]);
        const rows = [];
        for (const [first, end] of pieces) {
            for (let line = first + 1; line <= end; ++line) {
                const here = noted.filter(finding => finding.line === line);
                rows.push(make("tr", {id: here.length ? lineId(file, line) : false, tabindex: here.length ? -1 : false},
                    ...cells(counted.get(line)), make("td", {class: "line"}, String(line)),
                    make("td", {class: "source"}, make("code", {}, text?.[line - 1] ?? ""),
                        ...here.map(finding => make("span", {class: "note"}, `${finding.check}: ${finding.message}`)))));
            }
        }
        parts.push(make("p", {class: "quoted"}, fileName(file)), make("table", {class: "lines"},
            make("thead", {}, make("tr", {}, ...[...columns.map(column => column.title), "line", "source"].map(
                title => make("th", {scope: "col", class: title}, title)))),
            make("tbody", {}, ...rows)));
    }
    return parts;
}

function lineId(file, line) {
    return `playground-${fileName(file)}-${line}`;
}
