"""The course plan, from docs/teaching.md and the lessons' pages: what a session takes, minute by minute."""

import re
from dataclasses import dataclass
from functools import cache

from tutorial import ROOT, prose
from tutorial.kit_pages import predictions, questions, read_page
from tutorial.lessons import ManifestError, read_lessons
from tutorial.recorded_tables import cells_of

PAGE = "docs/teaching.md"


@dataclass
class Session:
    plan: str  # Five sessions
    number: str
    what: str  # Markdown, as the two after it
    in_class: str
    at_home: str
    rows: list  # (minutes, what)


def read_plans(page=None):
    """[(plan, its sessions)]. \\throws ManifestError if one does not fit its minutes"""
    page = page or (ROOT / PAGE).read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page + "\n", re.MULTILINE))
    title = next((title for title in sections if re.fullmatch(r"A session of \d+ minutes", title)), None)
    if not title:
        raise ManifestError(f"{PAGE}: there is no section 'A session of … minutes'")
    length, activities = int(re.search(r"\d+", title).group()), rows_of(sections[title], 2)
    lessons = {lesson.number: lesson for lesson in read_lessons()}
    plans = []
    for plan, text in sections.items():
        rows = rows_of(text, 5) if re.fullmatch(r"\w+ sessions", plan) else []
        if rows:
            plans.append((plan, [session_of(plan, row, length, activities, lessons) for row in rows]))
    return plans


def rows_of(text, columns):
    rows = [cells_of(line) for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows[2:] if len(row) == columns]


def session_of(plan, row, length, activities, lessons):
    number, what, _, in_class, at_home = row
    taught = [lessons[number] for number in re.findall(r"\b\d\d\b", what)]
    pages = list(dict.fromkeys(lesson.page for lesson in taught))
    asked = sum(map(predicted, pages))
    pages += [ROOT / "docs" / name for name in re.findall(r"\]\((\w+\.md)\)", what)]
    reading = sum(reading_minutes(page) for page in pages)
    rows, left = [], length
    for amount, activity in activities:
        minutes = minutes_of(amount, asked, len(taught), reading, left)
        least = re.search(r"at least (\d+)", amount)
        if minutes < int(least.group(1) if least else 0):
            raise ManifestError(f"{PAGE}, {plan}, session {number}: {minutes} of {length} minutes are left for "
                                f"'{activity}', which needs {least.group(1)}")
        left -= minutes
        rows.append((minutes, activity))
    if left:
        raise ManifestError(f"{PAGE}: a session has {length} minutes, and these rows {length - left}")
    return Session(plan, number, what, in_class, at_home, rows)


@cache
def predicted(page):
    return len(questions(predictions(read_page(page))))


@cache
def reading_minutes(page):
    return prose.minutes(prose.read(page.read_text(encoding="utf-8")).core)


def minutes_of(amount, asked, lessons, reading, left):
    """Of '2 per lesson', '1 per question', '1 per 200 words', '10', or 'the rest, at least 10'."""
    if amount.startswith("the rest"):
        return left
    if amount == f"1 per {prose.WORDS_PER_MINUTE} words":
        return reading
    match = re.fullmatch(r"(\d+)(?: per (lesson|question))?", amount)
    if not match:
        raise ManifestError(f"{PAGE}: '{amount}' is no number of minutes; write 10, 2 per lesson, 1 per question, "
                            f"1 per {prose.WORDS_PER_MINUTE} words, or: the rest, at least 10")
    return int(match.group(1)) * {None: 1, "lesson": lessons, "question": asked}[match.group(2)]
