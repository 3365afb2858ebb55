// What the page asks of the server: scripts/tutorial/serve/app.py answers.

export class Refused extends Error {
    constructor(status, answer) {
        super(answer.error);
        Object.assign(this, {status, answer});
    }
}

async function send(method, path, body, signal) {
    const request = {method, signal, ...body && {body: JSON.stringify(body), headers: {"Content-Type": "application/json"}}};
    const response = await fetch(`/api/${path}`, request).catch(error => {
        if (error.name === "AbortError") throw error;
        const why = "The server does not answer. Is make serve still running? Your text is kept in this browser.";
        throw new Refused(0, {error: why});
    });
    if (response.ok) return response;
    const answer = await response.json().catch(() => ({error: `the server answered ${response.status}`}));
    throw new Refused(response.status, answer);
}

export async function ask(method, path, body, signal) {
    return (await send(method, path, body, signal)).json();
}

// Its answer line by line, as they come.
export async function* lines(path, body, signal) {
    const response = await send("POST", path, body, signal);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
        const {value, done} = await reader.read();
        if (done) return;
        const whole = (rest + value).split("\n");
        rest = whole.pop();
        for (const line of whole.filter(Boolean)) yield JSON.parse(line);
    }
}
