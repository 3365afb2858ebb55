// "Predict first": a field for each question that a number answers.

// "--n 4194304 --block 256": {n: 4194304, block: 256}
function choicesOf(run) {
    const found = [...run.matchAll(/--([\w-]+) (\S+)/g)];
    return Object.fromEntries(found.map(([, name, value]) => [name.replaceAll("-", "_"), isNaN(value) ? value : Number(value)]));
}

// Its field, and what a run says to the number in there.
function prediction({kernel, run, counter}, {name, facts, engine}) {
    const guess = make("input", {type: "text", inputmode: "numeric", autocomplete: "off"});
    const answer = make("p", {role: "status"});
    const form = make("form", {class: "predict"},
        make("label", {}, make("span", {}, make("code", {}, `${kernel} ${run}`), `: ${counter}`), guess),
        make("button", {type: "submit"}, "Check"), answer);
    form.addEventListener("submit", async event => {
        event.preventDefault();
        const guessed = parseInt(guess.value.replace(/[,.\s]/g, ""), 10);
        if (isNaN(guessed)) {
            answer.textContent = "Type a number.";
            return;
        }
        answer.textContent = "Running …";
        const {n, block, ...options} = choicesOf(run);
        const result = await engine.run({lesson: name, kernel, n, block, options}).catch(error => ({error: error.message}));
        const counted = result.error ? 0 : counter === "blocks" ? volume(result.grid)
            : result.counters[facts.counters.find(one => one.short === counter).name];
        answer.textContent = result.error ?? (counted === guessed ? `Yes: the run counts ${shown(counted)}.`
            : `No: the run counts ${counted > guessed ? "more" : "fewer"} than ${shown(guessed)}.`);
    });
    return form;
}

// The manifest has `predict`: which question, which run answers it, and which counter.
async function addPredictions(place, dataset) {
    const loaded = await load(dataset), questions = place.querySelectorAll("li");
    for (const one of loaded.facts.facts?.predict ?? []) questions[one.question - 1].append(prediction(one, loaded));
}
