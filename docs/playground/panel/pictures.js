// The pictures of `emulate --draw`.

// A picture as an image of its own: its style sheet stays there, and it follows the page into the dark as the page's figures do.
async function imageOf({name, svg}) {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    const words = ["title", "desc"].map(tag => parsed.querySelector(tag)?.textContent).filter(Boolean).join(": ");
    const image = make("img", {alt: words || name, src: "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg)});
    await image.decode().catch(() => {}); // so that the page does not jump
    return image;
}
