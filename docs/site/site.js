// The frame of each page: light or dark, the menu, copy buttons, and where in the page's contents the reader is.
"use strict";

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (localStorage.getItem("mode") ?? (prefersDark.matches ? "dark" : "light")) === "dark";

function showMode() {
    document.documentElement.classList.toggle("dark-mode", isDark());
    document.documentElement.classList.toggle("light-mode", !isDark());
}

// What the reader chose holds until it is what the system prefers.
function otherMode() {
    const wanted = isDark() ? "light" : "dark";
    if ((wanted === "dark") === prefersDark.matches) localStorage.removeItem("mode");
    else localStorage.setItem("mode", wanted);
    showMode();
}

function startMenu() {
    const menu = document.getElementById("menu"), button = document.getElementById("menu-button");
    const here = location.pathname.split("/").pop() || "index.html";
    const current = [...menu.querySelectorAll("a")].find(link => link.getAttribute("href") === here);
    current?.setAttribute("aria-current", "page");
    const part = current?.closest("details");
    if (part) part.open = true;
    const showCurrent = () => current && menu.scrollTo(0, current.offsetTop - menu.clientHeight / 2);
    showCurrent();
    const open = isOpen => {
        menu.classList.toggle("open", isOpen);
        button.setAttribute("aria-expanded", isOpen);
        showCurrent();
    };
    button.addEventListener("click", () => open(!menu.classList.contains("open")));
    document.addEventListener("keydown", event => { if (event.key === "Escape") open(false); });
    document.addEventListener("pointerdown", event => { if (!event.target.closest("#top")) open(false); });
}

// Of a terminal the commands, of everything else the text.
function textOf(block) {
    const commands = [...block.querySelectorAll("b.command")].map(command => command.textContent);
    return commands.length ? commands.join("\n") : block.textContent.trimEnd();
}

function addCopyButton(block) {
    const button = document.createElement("button"), frame = document.createElement("div");
    frame.className = block.matches(".console") ? "copied console-frame" : "copied";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(textOf(block));
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1000);
    });
    block.replaceWith(frame);
    frame.append(block, button);
}

function followContents() {
    const links = [...document.querySelectorAll(".toc a")];
    const heading = link => document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const mark = () => {
        const passed = links.filter(link => heading(link).getBoundingClientRect().top < 100);
        for (const link of links) link.classList.toggle("active", link === (passed.at(-1) ?? links[0]));
    };
    addEventListener("scroll", mark, {passive: true});
    mark();
}

showMode();
prefersDark.addEventListener("change", showMode);
document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("mode-button").addEventListener("click", otherMode);
    startMenu();
    if (navigator.clipboard) document.querySelectorAll(".fragment").forEach(addCopyButton);
    followContents();
});
