"""The page of scripts/grade: a single file. Every text on it is a student's, and is escaped."""

import html

STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #1a7f37; --bad: #cf222e; --faint: #8882; }
@media (prefers-color-scheme: dark) { :root { --good: #57ab5a; --bad: #f47067; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: left; vertical-align: top; }
td.points { text-align: right; font-variant-numeric: tabular-nums; }
.all { color: var(--good); } .none { color: var(--bad); }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }
pre.again { background: var(--faint); margin-top: .4rem; padding: .3rem .5rem; }
"""


def page(grades, numbers, unknown, options, printable, missing=0):
    def text(value):
        return html.escape(printable(str(value)))

    def points(value, most):
        kind = "all" if value == most else "none" if value == 0 else "some"
        return f'<td class="points {kind}">{value}</td>'

    def total(entry):
        """For what was not submitted or not graded, 0 would be wrong."""
        sign = "?" if entry.trouble else "–" if not entry.submitted else None
        return f'<td class="points">{sign}</td>' if sign else points(entry.total, best)

    def row(cells):
        return "<tr>" + "".join(cells) + "</tr>"

    def table(heads, rows):
        first = row(f"<th>{head}</th>" for head in heads)
        return "\n".join(["<div><table>", f"<thead>{first}</thead>", "<tbody>", *rows, "</tbody>", "</table></div>"])

    def message(entry):
        shown = f"<pre>{text(entry.message)}</pre>" if entry.message else ""
        shown += f"score: {int(entry.score):,}" if entry.score else ""
        return shown + (f'<pre class="again">{text(entry.again)}</pre>' if entry.again else "")

    best = sum(options.points.values())
    of_student = {}
    for entry in grades:
        of_student.setdefault(entry.student, []).append(entry)
    def sums_of(student, entries):
        of_exercise = {entry.exercise: entry for entry in entries}
        cells = [total(of_exercise[number]) if number in of_exercise else "<td></td>" for number in numbers]
        return row([f"<th>{text(student)}</th>", *cells,
                    points(sum(entry.total for entry in entries), best * len(entries))])

    sums = [sums_of(student, entries) for student, entries in of_student.items()]
    details = [row([f"<th>{text(entry.student)}</th>", f"<td>{text(entry.exercise)}</td>",
                    *(points(value, options.points[name]) for name, value in entry.points.items()),
                    f"<td>{'could not be graded' if entry.trouble else text(entry.failed)}</td>",
                    f"<td>{message(entry)}</td>"]) for entry in grades]
    parts = [
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">', "<title>Grades</title>", f"<style>{STYLE}</style>",
        "</head>", "<body>", "<h1>Grades</h1>",
        "<p>" + ", ".join(f"{name}: {most}" for name, most in options.points.items()) + f" points. "
        f"Seed {options.seed}: with it everybody gets the same points again, on any machine.</p>",
        *([f"<p>Not finished: {missing} grades are missing.</p>"] if missing else []),
        table(["student", *map(text, numbers), "sum"], sums),
        "<p>–: not submitted. ?: could not be graded, which says nothing of the submission; grade it again, as with "
        "<code>--student</code>.</p>",
        "<h2>In detail</h2>",
        "<p>Below a message: the command that repeats the failing case, in the root of the course, once "
        "<code>make emulate</code> and the lesson are built.</p>",
        table(["student", "exercise", *options.points, "failed", "why"], details)]
    if unknown:
        parts += ["<h2>Not looked at</h2>", "<ul>", *(f"<li>{text(name)}</li>" for name in unknown), "</ul>"]
    return "\n".join([*parts, "</body>", "</html>", ""])
