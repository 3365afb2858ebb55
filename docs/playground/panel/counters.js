// What a run counted: the table of the lessons' programs.

// As the terminal's: rounded to even where both sides are equally near, which toFixed does not.
function rounded(value, digits) {
    const scaled = value * 10 ** digits, below = Math.floor(scaled);
    const isTie = Number.isInteger(value * 16) && scaled - below === 0.5;
    return (isTie ? (below + below % 2) / 10 ** digits : value).toFixed(digits);
}

// "x 0.50", "new", "gone"; empty, so that what moves stands out.
function change(first, second) {
    if (first === second) return "";
    if (first === 0) return "new";
    if (second === 0) return "gone";
    const ratio = second / first;
    return `x ${ratio < 0.1 ? Number(rounded(ratio, 1 - Math.floor(Math.log10(ratio)))) : rounded(ratio, 2)}`;
}

function volume([x, y = 1, z = 1]) {
    return x * y * z;
}

// The rows of the lessons' own tables: {label, cells, moved} or a heading {label}.
function rowsOf(results, counters) {
    const rows = results[0].verified === null ? [] : [
        {label: "verified", cells: results.map(result => result.verified ? "yes" : "NO")},
        {label: "result", cells: results.map(result => shown(result.actual))},
    ];
    const add = (label, numbers) => rows.push(
        {label, cells: numbers.map(shown), change: numbers.length === 2 ? change(...numbers) : "", isCount: true});
    add("blocks", results.map(result => volume(result.grid)));
    add("threads per block", results.map(result => volume(result.block)));
    const groups = new Map(); // all labels of a group side by side
    for (const counter of counters.filter(one => one.row)) groups.set(counter.row, [...groups.get(counter.row) ?? [], counter]);
    for (const [group, members] of groups) {
        const used = members.filter(one => !one.rare || results.some(result => result.counters[one.name]));
        if (used.length) rows.push({label: group + (members[0].exact ? "" : " (PTX)")});
        for (const {label, name} of used) add(label, results.map(result => result.counters[name] ?? 0));
    }
    return rows;
}

// "84.1", "1,210"
function microseconds(time) {
    return time < 99.95 ? time.toFixed(1) : shown(Math.round(time));
}

// How long an H200 would take: the terminal's first rows of --changed. The times `us`, by kernel and block size, are from when the
// page was made: `of` so many elements, for kernels as the lesson has them, and for its options' first values. Options that are
// `given` are sizes, as n is.
function timeRows(results, {of, given, us}, sliders) {
    const isUsual = ({options}) => Object.entries(options).every(
        ([name, value]) => given.includes(name) || `${value}` === `${sliders[name].value}`);
    const found = results.map(one => isUsual(one.request) ? us[one.name]?.[one.block[0]] : undefined);
    const {n} = results[0].request;
    return [{label: "an H200 would take [us] (estimate)"},
            {label: `for ${of}`, cells: found.map(time => time ? microseconds(time) : "-"),
             change: found.length === 2 && found.every(Boolean) ? change(...found) : ""},
            {label: n ? `counted for ${shown(n)} elements` : "counted"}];
}

// Of two kernels, rows that moved are marked, and the others dim.
function counterTable(names, rows) {
    const heads = [...names, ...names.length === 2 ? ["change"] : []];
    const body = rows.map(({label, cells, change}) => {
        if (!cells) return make("tr", {class: "group"}, make("th", {scope: "rowgroup", colspan: 1 + heads.length}, label));
        const moved = cells.some(cell => cell !== cells[0]) ? "moved" : "same";
        const shownCells = [...cells, change ?? ""].slice(0, heads.length);
        return make("tr", {class: names.length === 2 && label !== "verified" ? moved : ""}, make("th", {scope: "row"}, label),
            ...shownCells.map(cell => make("td", {class: cell === "NO" ? "wrong" : ""}, cell)));
    });
    return make("table", {class: "counters"},
        make("thead", {}, make("tr", {}, make("td"), ...heads.map(name => make("th", {scope: "col"}, ...breakable(name))))),
        make("tbody", {}, ...body));
}
