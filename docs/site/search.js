// The search box. It looks through searchData (search_data.js, made by scripts/tutorial/site_search.py), which is fetched when
// the box is first used: by a script element, as that also works in a page that was opened from a file.
"use strict";

const mostResults = 12;
const kindWeight = {page: 1, kernel: 0.6, term: 0.6};
const stopWords = new Set(("a an and are as at be by can do does for from how i if in is it me my of on or should that the this to "
    + "we what when where which who why will with you").split(" "));

// ---- what is looked for, and where it is found ----

function escaped(word) {
    return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// A word begins where no letter or digit stands before it: `syncthreads` is found in __syncthreads.
function beginningWith(words) {
    return new RegExp(`(?<![a-z0-9])(?:${words.map(escaped).join("|")})`, "gi");
}

// Without "how do I", unless that is all.
function wordsOf(query) {
    const words = query.toLowerCase().split(/\s+/).map(word => word.replace(/^[^\w]+|[^\w]+$/g, "") || word).filter(Boolean);
    const telling = words.filter(word => !stopWords.has(word));
    return telling.length ? telling : words;
}

// `coalescing` shall find `coalesced` as well.
function stem(word) {
    return word.replace(/^([a-z]{4,}?)(?:ies|ings?|ed|es|s)$/, "$1");
}

function count(pattern, text) {
    return (text.match(pattern) || []).length;
}

// How much an entry is about a word: more if it stands in the heading than in the text, and least in code; more for
// the word itself than for its stem.
function relevance(entry, word) {
    const hits = text => count(word.beginning, text) + 2 * count(word.whole, text);
    const inText = hits(entry.text) + 0.05 * hits(entry.code);
    const inTitle = count(word.beginning, entry.title) ? 2 + Math.min(1, count(word.whole, entry.title)) : 0;
    const inPage = count(word.beginning, entry.page) ? 1 : 0;
    return inText / (inText + 2 + entry.text.length / 1000) + inTitle + inPage;
}

// The best entries first: of those that have at least half as many of the words as the one that has most.
function find(query) {
    const words = wordsOf(query).map(word => ({
        beginning: beginningWith([stem(word)]),
        whole: new RegExp(`(?<![a-z0-9_])${escaped(word)}(?![a-z0-9_])`, "gi"),
    }));
    const found = searchData.map(entry => ({entry, parts: words.map(word => relevance(entry, word))}));
    const weights = words.map((_, i) => Math.log(1 + found.length / (1 + found.filter(one => one.parts[i]).length)));
    for (const one of found) {
        one.matched = one.parts.filter(Boolean).length;
        one.score = one.parts.reduce((sum, part, i) => sum + part * weights[i], 0) * weightOf(one.entry, query) * one.matched ** 2;
    }
    const most = Math.max(1, ...found.map(one => one.matched));
    return found.filter(one => one.matched >= most / 2).sort((a, b) => b.score - a.score).map(one => one.entry);
}

// Who types a kernel's name wants the kernel; who asks what a term is wants the term; who types the beginning of a title
// may want what is called so.
function weightOf(entry, query) {
    if (/[_\d]|[a-z][A-Z]/.test(query) && entry.title === query) {
        return 10;
    }
    const asked = wordsOf(query).join(" "), title = entry.title.toLowerCase();
    if (entry.kind === "term" && title === asked) {
        return 2;
    }
    const isCalledSo = title.startsWith(asked);
    return (isCalledSo ? 1.4 : 1) * kindWeight[entry.kind];
}

// ---- how it is shown ----

function element(tag, className, ...children) {
    const made = document.createElement(tag);
    made.className = className;
    made.append(...children);
    return made;
}

function marked(text, pattern) {
    const parts = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
        parts.push(text.slice(end, match.index), element("mark", "", match[0]));
        end = match.index + match[0].length;
    }
    return [...parts, text.slice(end)];
}

// Some words before the first hit, and what follows.
function snippet(text, pattern) {
    const hit = Math.max(0, text.search(pattern));
    const begin = hit < 60 ? 0 : text.indexOf(" ", hit - 60) + 1;
    const space = text.indexOf(" ", hit + 130);
    const end = space < 0 ? text.length : space;
    return (begin ? "… " : "") + text.slice(Math.min(begin, hit), end) + (end < text.length ? " …" : "");
}

function option(entry, pattern, index) {
    const link = element("a", "", element("span", "found-title", ...marked(entry.title, pattern)));
    if (entry.page !== entry.title) {
        link.append(element("span", "found-page", entry.page));
    }
    const text = [entry.text, entry.code].find(one => one.search(pattern) >= 0) || entry.text;
    link.append(element("span", "found-text", ...marked(snippet(text, pattern), pattern)));
    link.href = entry.url;
    link.id = `search-result-${index}`;
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    return link;
}

function startSearch() {
    const field = document.getElementById("search-field");
    const panel = document.getElementById("search-panel");
    const status = document.getElementById("search-status");
    const results = document.getElementById("search-results");
    let active = 0;

    function fetchData() {
        if (!document.getElementById("search-data")) {
            const script = document.createElement("script");
            script.id = "search-data";
            script.src = "search_data.js";
            script.onload = show;
            document.head.append(script);
        }
    }

    function open(isOpen) {
        panel.hidden = !isOpen;
        panel.style.top = `${field.getBoundingClientRect().bottom + 8}px`;
        field.setAttribute("aria-expanded", isOpen && results.children.length > 0);
    }

    function activate(index) {
        const links = results.children;
        active = (index + links.length) % links.length;
        [...links].forEach((link, i) => link.setAttribute("aria-selected", i === active));
        field.setAttribute("aria-activedescendant", links[active].id);
        links[active].scrollIntoView({block: "nearest"});
    }

    function show() {
        const query = field.value.trim();
        field.removeAttribute("aria-activedescendant");
        results.replaceChildren();
        if (query.length < 2 || typeof searchData === "undefined") {
            open(false);
            return;
        }
        const found = find(query);
        const pattern = beginningWith(wordsOf(query).map(stem));
        results.append(...found.slice(0, mostResults).map((entry, i) => option(entry, pattern, i)));
        status.textContent = !found.length ? `Nothing found for ‘${query}’.`
            : found.length > mostResults ? `The best ${mostResults} of ${found.length} places`
            : found.length > 1 ? `${found.length} places` : "1 place";
        open(true);
        if (found.length) {
            activate(0);
        }
    }

    field.addEventListener("focus", () => {
        fetchData();
        show();
    });
    field.addEventListener("input", show);
    field.addEventListener("keydown", event => {
        const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
        if (event.key === "Escape") {
            field.value = "";
            open(false);
            field.blur();
        } else if (!panel.hidden && results.children.length && step) {
            event.preventDefault();
            activate(active + step);
        } else if (!panel.hidden && results.children.length && event.key === "Enter") {
            event.preventDefault();
            results.children[active].click();
        }
    });
    results.addEventListener("click", () => open(false));
    document.addEventListener("pointerdown", event => {
        if (!event.target.closest("#search")) {
            open(false);
        }
    });
    document.addEventListener("keydown", event => {
        const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
        if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            field.focus();
        }
    });
}

document.addEventListener("DOMContentLoaded", startSearch);
