// "Predict first": a field for each question that a number answers.

// "--n 4194304 --block 256": {n: 4194304, block: 256}
function choicesOf(run) {
    const found = [...run.matchAll(/--([\w-]+) (\S+)/g)];
    return Object.fromEntries(found.map(([, name, value]) => [name.replaceAll("-", "_"), isNaN(value) ? value : Number(value)]));
}

// The run that answers a question of this lesson, as the engine takes it.
function requestOf({kernel, run}, lesson) {
    const {n, block, ...options} = choicesOf(run);
    return {lesson, kernel, n, block, options};
}

// The number in what it returns that is asked for.
function answerOf({counter}, result, counters) {
    return counter === "blocks" ? volume(result.grid) : result.counters[counters.find(one => one.short === counter).name];
}

// Its field, and what a run says to the number in there.
function prediction(question, {name, facts, engine}) {
    const guess = make("input", {type: "text", inputmode: "numeric", autocomplete: "off"});
    const answer = make("p", {role: "status"});
    const form = make("form", {class: "predict"},
        make("label", {}, make("span", {}, make("code", {}, `${question.kernel} ${question.run}`), `: ${question.counter}`), guess),
        make("button", {type: "submit"}, "Check"), answer);
    form.addEventListener("submit", async event => {
        event.preventDefault();
        const guessed = parseInt(guess.value.replace(/[,.\s]/g, ""), 10);
        if (isNaN(guessed)) {
            answer.textContent = "Type a number.";
            return;
        }
        answer.textContent = "Running …";
        const result = await engine.run(requestOf(question, name)).catch(error => ({error: error.message}));
        const counted = result.error ? 0 : answerOf(question, result, facts.counters);
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
