"""The sheets to print: predictions and their answers, an exam and its key, the course plan. Each of them is HTML."""

import html

from tutorial import ROOT
from tutorial.kit_html import SHEETS, block_html, markdown_html, page, runs_html
from tutorial.kit_pages import Items, questions

NAME = '<table class="name"><tr><td>Name</td><td style="width:45%"></td><td>Date</td><td style="width:20%"></td></tr></table>'
EXAM_NOTE = ("Counters are those of the first launch, as the emulator counts them. A sector has 32 bytes, a warp has 32 "
             "threads, an int has 4 bytes, and shared memory has 32 banks of 4 bytes. Write down how you derive each number.")


def heading(lesson, what):
    return f"<h1>Lesson {lesson.number}: {html.escape(lesson.title)}</h1><h2>{what}</h2>"


def fill(*labels):
    return "".join(f'<div class="fill"><span>{label}</span></div>' for label in labels)


# ---- predictions ----


def predictions_html(lesson, asked):
    """asked: what the page has under *Predict first*. The answers are not on this sheet."""
    body = [heading(lesson, "Predict first"), NAME, "<p>Answer on paper, before you run anything. Then run <code>make "
            f"{lesson.name} &amp;&amp; ./{lesson.name}</code>, and write down what it printed.</p>"]
    for block in asked:
        if not isinstance(block, Items):
            body.append(block_html(block))
            continue
        for index, item in enumerate(block.items):
            body.append(block_html(Items([item], (block.first or 1) + index)))
            body.append(fill("I predict", "because", "the run says"))
    body.append("<h2>What I did not expect, and why it is so</h2>" + fill("", "", ""))
    return page(SHEETS, f"Lesson {lesson.number}: predictions", "".join(body))


def answers_html(lesson, asked, answered):
    body = [heading(lesson, "Predict first: answers"), *(block_html(block) for block in asked if not isinstance(block, Items))]
    for number, (item, answer) in enumerate(zip(questions(asked), questions(answered), strict=True), 1):
        body.append(block_html(Items([item], number)))
        body += [f'<p class="answer">{runs_html(block.runs)}</p>' for block in answer]
    body.append('<p class="small">The section Why of the lesson\'s page derives these numbers.</p>')
    return page(SHEETS, f"Lesson {lesson.number}: answers", "".join(body))


# ---- exam ----


def asked_html(number, question):
    ptx = " Count on PTX, as the table does." if question.asks_for_ptx else ""
    return (f'<p class="question"><b>{number}.</b> {markdown_html(question.setting)}.<br/>'
            f"{markdown_html(question.asked + ptx)}</p>")


def choice_html(number, choice):
    asked = f'<p class="question"><b>{number}.</b> {markdown_html(choice.asked)}</p>'
    lines = "\n".join(f"{line_number:2}  {html.escape(line)}" for line_number, line in enumerate(choice.code, 1))
    code = f"<pre>{lines}</pre>" if lines else ""
    choices = "".join(f"<p>{letter}) {markdown_html(words)}</p>" for letter, words in choice.choices.items())
    if not choice.picture:
        return asked + code + choices
    picture = (ROOT / "docs/figures" / choice.picture).as_uri()
    return f'<table class="beside"><tr><td>{asked}{code}{choices}</td><td><img src="{picture}"/></td></tr></table>'


def exam_html(lesson, asked, choice):
    """Neither the key nor the seed, from which anybody could make the key."""
    body = [heading(lesson, "Exam"), NAME, f"<p>{EXAM_NOTE}</p>"]
    is_tall = choice and (choice.picture or choice.code)
    lines = f'<div class="tall">{fill("Derivation", "Answer")}</div>' if is_tall else fill("Derivation", "", "Answer")
    body += [asked_html(number, question) + lines for number, question in enumerate(asked, 1)]
    body += [choice_html(len(asked) + 1, choice)] if choice else []
    return page(SHEETS, f"Lesson {lesson.number}: exam", "".join(body))


def key_html(lesson, asked, counted, choice, seed):
    body = [heading(lesson, "Exam: key")]
    for number, (question, count) in enumerate(zip(asked, counted), 1):
        steps = "\n".join(html.escape(step) for step in question.steps)
        command = html.escape(f"./{lesson.name} --device emulator --kernel {question.kernel} {' '.join(question.arguments)}")
        body.append(f'<div class="together">{asked_html(number, question)}<p class="key">{count:,}</p>'
                    f"<p>{markdown_html(question.why)}</p><pre>{steps}</pre>"
                    f'<p class="small">Counted by <code>{command}</code></p></div>')
    if choice:
        body.append(f'<div class="together">{choice_html(len(asked) + 1, choice)}<p class="key">{choice.right}</p>'
                    f"<p>{markdown_html(choice.why)}</p></div>")
    again = f'make teaching-kit LESSONS={lesson.number} SEED={seed}'
    body.append(f'<p class="small">Seed {seed}: <code>{again}</code> makes this exam again.</p>')
    return page(SHEETS, f"Lesson {lesson.number}: key", "".join(body))


# ---- plan ----


def plan_html(plans):
    """A column for each row of a session's table."""
    activities = [what for _, what in plans[0][1][0].rows]
    letters = "abcdefghij"[:len(activities)]
    legend = "".join(f"<li>{markdown_html(what)}</li>" for what in activities)
    body = [f'<h1>Course plan</h1><p>Minutes of each session:</p><ol style="list-style-type:lower-alpha">{legend}</ol>'
            "<p>The reading is 200 words per minute, without the folded parts of the pages. The other minutes are a plan, not a "
            "measurement.</p>"]
    for plan, sessions in plans:
        head = ["", "lessons and pages", *letters, "all", "in class", "at home"]
        rows = [[session.number, session.what, *(str(minutes) for minutes, _ in session.rows),
                 str(sum(minutes for minutes, _ in session.rows)), session.in_class, session.at_home] for session in sessions]
        body.append(f'<div class="together"><h2>{html.escape(plan)}</h2><table>{plan_row(head, "th")}'
                    f"{''.join(plan_row(row, 'td') for row in rows)}</table></div>")
    return page(SHEETS, "Course plan", "".join(body))


def plan_row(cells, tag):
    last = len(cells) - 2  # what stands in class and at home is text
    cells = [f'<{tag}{" class=number" if 2 <= index < last else ""}>{markdown_html(cell)}</{tag}>'
             for index, cell in enumerate(cells)]
    return f"<tr>{''.join(cells)}</tr>"
