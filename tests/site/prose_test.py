#!/usr/bin/python3
"""The project's pages read as CONTRIBUTING.md asks for: short sentences, no riddles, American spelling, a lesson in five
minutes."""

import re
import unittest

from tutorial import ROOT, prose
from tutorial.lessons import read_lessons
from tutorial.site_pages import slug

LESSON = "lessons/lesson03_first_add_on_load/README.md"
EXERCISE = "lessons/lesson03_first_add_on_load/exercise.md"


def pages():
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "common/emulator/README.md", ROOT / "docs/site/landing.md",
             *ROOT.glob("docs/*.md"), *ROOT.glob("lessons/*/*.md")]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted(found)}


class Pages(unittest.TestCase):
    def test_read_well(self):
        for path, source in pages().items():
            with self.subTest(page=path):
                complaints = prose.complaints(path, source)
                self.assertEqual(complaints, [], "\n" + "\n".join(complaints))

    def test_link_to_headings_that_are_there(self):
        found = pages()
        anchors = {path: {slug(title) for title in re.findall(r"^#+ (.*)$", source, re.MULTILINE)}
                   for path, source in found.items()}
        terms = re.findall(r"^\*\*(.*?)\.\*\*", found["docs/glossary.md"], re.MULTILINE)
        anchors["docs/glossary.md"] |= {slug(term) for term in terms}
        for path, source in found.items():
            for target, anchor in re.findall(r"\]\(([^()#:\s]*)#([^)\s]+)\)", source):
                where = ((ROOT / path).parent / target).resolve() if target else ROOT / path
                name = str(where.relative_to(ROOT))
                self.assertIn(anchor, anchors.get(name, ()), f"{path}: a link to {target}#{anchor}")

    def test_state_what_a_session_has_to_be_read(self):
        """The plans of teaching.md: the core paths of a session's lessons and pages, in minutes."""
        found = pages()
        lessons = {lesson.number: str(lesson.page.relative_to(ROOT)) for lesson in read_lessons()}
        rows = re.findall(r"^\| \d+ \| (.*?) \| (\d+) \| .* \| .* \|$", found["docs/teaching.md"], re.MULTILINE)
        self.assertEqual(len(rows), 2 + 5 + 10)
        for what, minutes in rows:
            read = [f"docs/{page}" for page in re.findall(r"\]\((\w+\.md)\)", what)]
            read += [lessons[number] for number in re.findall(r"\b\d\d\b", what)]
            total = sum(prose.minutes(prose.read(found[path]).core) for path in dict.fromkeys(read))
            self.assertEqual(int(minutes), total, what)

    def test_american_spelling_of_all_that_is_ours(self):
        kinds = {".md", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".cmake", ".json", ".js", ".css", ".diff", ".sh", ""}
        for folder in ("bench", "common", "cmake", "docs", "lessons", "scripts", "tests"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in kinds and path.is_file() and path.name != "prose.py":
                    text = path.read_text(encoding="utf-8", errors="replace").lower()
                    self.assertEqual([word for word in prose.BRITISH if word in text], [], path.relative_to(ROOT))


class Rules(unittest.TestCase):
    """Each finds what it is for, and no more."""

    def complain(self, text, about, path="README.md"):
        found = prose.complaints(path, f"# T\n\n{text}\n")
        self.assertTrue(any(about in complaint for complaint in found), f"{text}\n{found}")

    def accept(self, text, path="README.md"):
        self.assertEqual(prose.complaints(path, f"# T\n\n{text}\n"), [])

    def test_a_sentence_has_at_most_30_words(self):
        self.accept("word " * 29 + "word. Next.")
        self.complain("word " * 30 + "word.", "31 words, 30 at most")
        self.complain("- word " * 1 + "word " * 30 + "\n- next", "31 words")
        self.accept("32 x 4 = 128 " + "word " * 29 + ".")
        self.accept("`code of many words` " + "word " * 29)
        for outside in ("```text\n{}\n```", "| a |\n|---|\n| {} |", "- {}".replace("{}", "word. " * 40)):
            self.accept(outside.format("word " * 40))

    def test_phrases(self):
        for text in ("The clock is its own affair.", "It is in order, and yet slow.", "One can see it.", "As one knows, it is.",
                     "Somebody reads it.", "Of wavefronts a card counts more.", "Not seen is the cache.",
                     "The kernel is told its size.", "The page speaks of it.", "The harness knows of it.",
                     "Who writes past the end is found.", "Two loads a thread.", "95 a block.", "There is an atomic a warp.",
                     "That is all there is.", "It is for those who wait.",
                     "There are so many blocks so that it waits.", "It waits - nothing happens.", "It waits – long."):
            self.complain(text, "'")
        self.accept("Who waits? One of them. One step. `one can` n - 1. The test checks each warp. Not measured yet.")
        self.accept("It has two loads per thread, and loads 4,096, a warp less. Lane 0 and a warp of one block.")

    def test_reading_time(self):
        words = "word. " * 198  # and the title, 199, and the line itself, at least 4: 203
        self.accept(f"Reading time: 2 minutes.\n\n{words}", "docs/a.md")
        self.complain(words, "no reading time; by its words: Reading time: 1 minute.", "docs/a.md")
        self.complain(f"Reading time: 3 minutes.\n\n{words}", "by its words: Reading time: 2 minutes.", "docs/a.md")
        folded = f"<details><summary>More</summary>\n\n{words}\n</details>"
        self.accept(f"Reading time: 1 minute, and 1 more for the folded parts.\n\n{folded}", "docs/a.md")
        self.complain(f"Reading time: 2 minutes.\n\n{folded}", "by its words: Reading time: 1 minute, and 1 more", "docs/a.md")

    def test_next_link(self):
        home, lesson04 = "[All lessons](../../README.md)", "../lesson04_unroll_last_warp/README.md"
        self.complain(f"{home} · next: [04]({lesson04})", "not to exercise.md", LESSON)
        self.assertNotIn("link below", str(prose.complaints(LESSON, f"{home} · next: [exercise 03](exercise.md)")))
        self.complain(f"{home} · [lesson](README.md)", f"leads to README.md, not to {lesson04}", EXERCISE)
        self.complain(f"{home} · [04]({lesson04}) · [lesson](README.md)", "leads to README.md", EXERCISE)
        self.accept(f"{home} · next: [04]({lesson04})", EXERCISE)


if __name__ == "__main__":
    unittest.main()
