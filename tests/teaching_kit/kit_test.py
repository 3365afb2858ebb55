#!/usr/bin/python3
"""kit_test.py BUILD CASE: a class of this file. Run with PYTHONPATH=scripts."""

import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from tutorial import ROOT, kit_exam, kit_pages, kit_plan, kit_sheets, prose
from tutorial.kit_html import slides_html
from tutorial.kit_pages import BODY, Code, Items, Picture, Text, answers, deck, predictions, questions, read_page, words_of
from tutorial.lessons import ManifestError, read_lessons
from tutorial.programs import Failure, Programs

BUILD = Path(sys.argv[1]).absolute()
LESSONS = {lesson.number: lesson for lesson in read_lessons()}
WITH_PAGE = [lesson for lesson in LESSONS.values() if lesson.has_page]


def sections_of(number):
    return read_page(LESSONS[number].page)


def page_of(words):
    """A page with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "README.md"
        path.write_text(words, encoding="utf-8")
        return read_page(path)


class Slides(unittest.TestCase):
    def test_follow_the_page(self):
        titles = [slide.title.partition(" (")[0] for slide in deck(LESSONS["03"], sections_of("03"))]
        self.assertEqual(list(dict.fromkeys(titles)), [
            "Lesson 03: First add during the global load", "The idea", "Predict first", "The change", "Run it",
            "Why it is faster", "Your turn", "Check yourself", "Check yourself: answers"])

    def test_of_all_lessons_are_filled_and_not_too_full(self):
        for lesson in WITH_PAGE:
            slides = deck(lesson, read_page(lesson.page))
            for slide in slides:
                with self.subTest(lesson=lesson.number, slide=slide.title):
                    self.assertTrue(slide.blocks)
                    self.assertLessEqual(slide.height, BODY + kit_pages.GAP + 0.02)
                    for block, _, size in slide.blocks:
                        if isinstance(block, Picture):
                            self.assertTrue(block.path.is_file(), block.path)
                        if isinstance(block, Code):
                            longest = max(map(len, block.lines))
                            self.assertLessEqual(longest * kit_pages.CODE_LETTER * size / 72, kit_pages.INNER, block.lines)
            self.assertIn("Predict first", [slide.title for slide in slides])

    def test_quote_each_line_of_a_diff(self):
        lines = [line for block in sections_of("10")["The change"] if isinstance(block, Code) for line in block.lines]
        shown = [line for slide in deck(LESSONS["10"], sections_of("10")) for block, _, _ in slide.blocks
                 if isinstance(block, Code) for line in block.lines]
        self.assertGreater(len(lines), 60)
        self.assertEqual([line for line in lines if line not in shown], [])

    def test_show_the_point_and_note_the_rest(self):
        page = page_of("## Why\n\n**Loads.** There are many. Nobody knows why. 2 x 3 = 6 of them. They look like this:\n\n"
                       "```text\na\n```\n")
        (block, _, _), (code, _, _) = kit_pages.pack("Why", page["Why"])[0].blocks
        self.assertEqual(words_of(block.runs), "Loads. There are many. 2 x 3 = 6 of them. They look like this:")
        self.assertEqual(code.lines, ["a"])
        self.assertEqual(kit_pages.pack("Why", page["Why"])[0].notes, [
            "Loads. There are many. Nobody knows why. 2 x 3 = 6 of them. They look like this:"])

    def test_keep_a_question_with_its_answer(self):
        answer = "An answer that takes its place. " * 20
        item = f"1. Why?\n\n   <details><summary>Answer</summary>\n\n   {answer}\n   </details>\n\n"
        page = page_of("## Check yourself\n\n" + item + item.replace("1.", "2.") + item.replace("1.", "3."))
        asked, *answered = kit_pages.check_yourself(page["Check yourself"])
        self.assertEqual([block.first for block, _, _ in asked.blocks], [1, 2, 3])
        self.assertGreater(len(answered), 1)
        for slide in answered:
            self.assertEqual([type(block) for block, _, _ in slide.blocks][-1], Text, "not a question at the end")

    def test_leave_out_what_is_deeper_and_what_filters_the_output(self):
        page = page_of("## Run it\n\n```console\n$ ./lesson03 | sed -n 1p\na\n```\n\n## Deeper\n\nMore of it.\n")
        text = slides_html(LESSONS["03"], deck(LESSONS["03"], page))
        self.assertIn("<span class=\"prompt\">$ ./lesson03</span>", text)
        self.assertNotIn("sed -n", text)
        self.assertNotIn("Deeper", text)


class Answers(unittest.TestCase):
    def test_are_there_for_each_prediction(self):
        for lesson in WITH_PAGE:
            with self.subTest(lesson=lesson.number):
                sections = read_page(lesson.page)
                asked = predictions(sections)
                self.assertGreaterEqual(len(questions(asked)), 3)
                sheet = kit_sheets.answers_html(lesson, asked, answers(sections))
                self.assertEqual(sheet.count('class="answer"'), len(questions(asked)))

    def test_have_the_numbers_of_the_page(self):
        """A number of three digits or more stands elsewhere on the page, or is derived here."""
        for lesson in WITH_PAGE:
            page = re.sub(r"<summary>The answers to your predictions(?s:.*?)</details>", "",
                          lesson.page.read_text(encoding="utf-8"))
            for answer in (words_of(text.runs) for item in questions(answers(read_page(lesson.page))) for text in item):
                with self.subTest(lesson=lesson.number, answer=answer):
                    derived = re.findall(r"(\d[\d,]*(?: [x/+-] \d[\d,]*)+) = (\d[\d,.]*)", answer)
                    for left, right in derived:
                        value, written = eval(left.replace(",", "").replace("x", "*")), right.replace(",", "").rstrip(".")
                        places = len(written.partition(".")[2])
                        self.assertAlmostEqual(value, float(written), delta=0.5 * 10 ** -places, msg=left)
                    known = page + " ".join(right for _, right in derived)
                    numbers = [number.rstrip(",") for number in re.findall(r"\d[\d,]{2,}", answer)]
                    self.assertEqual([number for number in numbers if number not in known], [])

    def test_derivations_read_well(self):
        for lesson in LESSONS.values():
            teaching = kit_exam.read_teaching(lesson)
            asked = [*teaching["exam"], *([teaching["choice"]] if "choice" in teaching else [])]
            text = [question["why"] for question in asked]
            with self.subTest(lesson=lesson.number):
                self.assertEqual(prose.complaints("teaching.json", "# T\n\n" + "\n\n".join(text)), [])

    def test_are_not_on_the_sheet_of_the_students(self):
        lesson, asked = LESSONS["03"], predictions(sections_of("03"))
        sheet = kit_sheets.predictions_html(lesson, asked)
        self.assertIn("How many blocks does", sheet)
        self.assertNotIn("8,192", sheet)  # 4,194,304 / 512
        self.assertEqual(sheet.count("I predict"), 3)


# 2 x 4 x 64 = 512 ints in 4 blocks of 2 warps. 2 - 1 + 5 = 6 warps add, 2 x 6 + 1 = 13 loads per block, 13 x 4 = 52.
QUESTION = {"kernel": "reduce3", "counter": "shared_load_wavefronts", "draw": {"blocks": ["4"], "block": ["64"]},
            "let": {"n": "2 * blocks * block"}, "run": "--n {n} --block {block}", "why": "The tree.",
            "steps": ["warps = block / 32", "that_add = warps - 1 + 5", "(2 * that_add + 1) * blocks"]}


def asked(**changes):
    return kit_exam.ask({**QUESTION, **changes}, kit_exam.random.Random(1))


class Exams(unittest.TestCase):
    def test_ask_in_words_and_derive_in_numbers(self):
        question = asked()
        self.assertEqual(question.setting, "`reduce3`, 512 ints, 64 threads per block")
        self.assertEqual(question.asked, "How many wavefronts do the shared loads take?")
        self.assertEqual(question.arguments, ["--n", "512", "--block", "64"])
        self.assertEqual(question.steps, ["warps = 64 / 32 = 2", "that add = 2 - 1 + 5 = 6", "(2 x 6 + 1) x 4 = 52"])
        self.assertEqual(question.derived, 52)

    def test_derive_whole_numbers_only(self):
        self.assertEqual(asked(steps=["ceil(n / 500)"]).derived, 2)
        with self.assertRaisesRegex(ManifestError, "n / 500 is 1.024"):
            asked(steps=["n / 500"])

    def test_of_all_lessons_have_five_questions_that_the_seed_draws(self):
        for lesson in LESSONS.values():
            exams = [[question.steps for question in kit_exam.exam(lesson, seed)] for seed in (1, 1, 2, 3, 4)]
            choices = 0 if kit_exam.choice(lesson, 1) is None else 1
            self.assertEqual(len(exams[0]) + choices, kit_exam.QUESTIONS, lesson.number)
            self.assertEqual(exams[0], exams[1])
            self.assertGreater(len({str(exam) for exam in exams}), 2, lesson.number)

    def test_sheets_have_neither_the_key_nor_the_seed(self):
        questions = kit_exam.exam(LESSONS["03"], 987)
        sheet = kit_sheets.exam_html(LESSONS["03"], questions, None)
        key = kit_sheets.key_html(LESSONS["03"], questions, [question.derived for question in questions], None, 987)
        for question in questions:
            self.assertNotIn(f">{question.derived:,}<", sheet)
            self.assertNotIn(question.steps[-1], sheet)
            self.assertIn(f'<p class="key">{question.derived:,}</p>', key)
            self.assertIn(question.steps[-1], key)
        self.assertNotIn("987", sheet)
        self.assertIn("make teaching-kit LESSONS=03 SEED=987", key)

    def test_a_choice_is_shuffled_and_its_key_is_the_first_of_the_file(self):
        lesson, orders = LESSONS["08"], set()
        right, *_ = kit_exam.read_teaching(lesson)["choice"]["choices"]
        for seed in range(9):
            choice = kit_exam.choice(lesson, seed)
            self.assertEqual(choice.choices[choice.right], right)
            orders.add(choice.right)
            sheet, key = kit_sheets.exam_html(lesson, [], choice), kit_sheets.key_html(lesson, [], [], choice, seed)
            for letter, words in choice.choices.items():
                self.assertIn(f"{letter}) {kit_sheets.markdown_html(words)}", sheet)
            self.assertIn(f'<p class="key">{choice.right}</p>', key)
            self.assertNotIn('class="key"', sheet)
        self.assertEqual(orders, set("abcd"))
        self.assertIsNone(kit_exam.choice(LESSONS["17"], 1))


    def test_choices_are_of_each_kind(self):
        kinds = Counter(kit_exam.read_teaching(lesson).get("choice", {}).get("kind") for lesson in LESSONS.values())
        for kind in ("timeline", "floor", "change", "race"):
            self.assertGreaterEqual(kinds[kind], 3, kind)

    def test_a_choice_has_its_picture_or_its_numbered_code(self):
        for number, words in (("06", "docs/figures/live_timeline_reduce6.svg"), ("04", "\n 5  sum += shared[tid ^ 8];\n")):
            for sheet in (kit_sheets.exam_html(LESSONS[number], [], kit_exam.choice(LESSONS[number], 1)),
                          kit_sheets.key_html(LESSONS[number], [], [], kit_exam.choice(LESSONS[number], 1), 1)):
                self.assertIn(words, sheet)
        for lesson in LESSONS.values():
            choice = kit_exam.choice(lesson, 1)
            self.assertTrue(not choice or not choice.picture or (ROOT / "docs/figures" / choice.picture).is_file())


class Counted(unittest.TestCase):
    programs = Programs(BUILD)
    numbers, seeds = ("03", "18"), (1, 2)

    def test_keys_are_what_the_emulator_counts(self):
        for number in self.numbers:
            for seed in self.seeds:
                for question in kit_exam.exam(LESSONS[number], seed):
                    self.assertEqual(kit_exam.count(self.programs, LESSONS[number], question), question.derived)

    def test_a_derivation_that_is_wrong_makes_no_key(self):
        self.assertEqual(kit_exam.count(self.programs, LESSONS["03"], asked()), 52)
        wrong = asked(steps=["2 * blocks"])  # 2 x 4 = 8
        with self.assertRaisesRegex(Failure, "--n 512 --block 64: the emulator counts 52 for shared_load_wavefronts, but .*"
                                             "teaching.json derives 2 x 4 = 8"):
            kit_exam.count(self.programs, LESSONS["03"], wrong)
        self.assertEqual(kit_exam.count(self.programs, LESSONS["03"], asked(counter="blocks", steps=["blocks"])), 4)

    def test_a_run_that_fails_says_why(self):
        with self.assertRaisesRegex(Failure, "lesson03 --kernel reduce33 .* failed: .*reduce33"):
            kit_exam.count(self.programs, LESSONS["03"], asked(kernel="reduce33"))


class AllCounted(Counted):
    numbers, seeds = tuple(LESSONS), (1, 2, 3)


class Plan(unittest.TestCase):
    def test_fits_into_each_session(self):
        plans = kit_plan.read_plans()
        self.assertEqual([len(sessions) for _, sessions in plans], [2, 5, 10])
        for plan, sessions in plans:
            for session in sessions:
                with self.subTest(plan=plan, session=session.number):
                    self.assertEqual(sum(minutes for minutes, _ in session.rows), 90)
                    self.assertGreaterEqual(session.rows[-1][0], 10)  # the discussion

    def test_the_first_session_is_filled_in(self):
        """With the minutes of the plans for two and for five sessions, and of the pages."""
        page = (ROOT / kit_plan.PAGE).read_text(encoding="utf-8")
        filled = kit_plan.rows_of(page[page.index("| minutes | what | with |"):].partition("\n\n")[0], 3)
        for plan, sessions in kit_plan.read_plans()[:2]:
            self.assertEqual([int(row[0]) for row in filled], [minutes for minutes, _ in sessions[0].rows], plan)
        each = " + ".join(str(kit_plan.reading_minutes(LESSONS[number].page)) for number in ("00", "01", "02"))
        self.assertEqual(filled[0][2], f"{each} minutes to read")

    def test_counts_questions_lessons_and_words(self):
        page = self.page("| 1 | [How to read](how_to_read.md), 03, 04 | 1 | 03 | 04 |")
        ((plan, (session,)),) = kit_plan.read_plans(page)
        self.assertEqual(plan, "One sessions")
        # 3 + 3 questions; the minutes of the pages, whose first lines a test compares; 2 x 2; 10; what is left of 60.
        read = sum(prose.minutes(prose.read((ROOT / path).read_text(encoding="utf-8")).core) for path in (
            "docs/how_to_read.md", *(f"lessons/{LESSONS[number].folder.name}/README.md" for number in ("03", "04"))))
        self.assertEqual([minutes for minutes, _ in session.rows], [6, read, 4, 10, 60 - 6 - read - 4 - 10])

    def test_that_does_not_fit_is_an_error(self):
        long = self.page("| 1 | 00, 01, 02, 03, 04, 05, 06, 07 | 1 | 03 | 04 |")
        with self.assertRaisesRegex(ManifestError, "One sessions, session 1: -?\\d+ of 60 minutes are left for 'talk', which "
                                                   "needs 10"):
            kit_plan.read_plans(long)
        with self.assertRaisesRegex(ManifestError, "'some' is no number of minutes"):
            kit_plan.read_plans(long.replace("| 10 | derive |", "| some | derive |"))

    def page(self, row):
        return ("# T\n\n## A session of 60 minutes\n\n| minutes | what |\n|---|---|\n| 1 per question | predict |\n"
                "| 1 per 200 words | read |\n| 2 per lesson | run |\n| 10 | derive |\n| the rest, at least 10 | talk |\n\n"
                f"## One sessions\n\n| a | b | c | d | e |\n|---|---|---|---|---|\n{row}\n")


def teaching_kit(*words):
    return subprocess.run([str(ROOT / "scripts/teaching_kit"), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)


class CommandLine(unittest.TestCase):
    def test_help(self):
        run = teaching_kit("--help")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("exam_key.pdf", run.stdout)

    def test_what_is_wrong_is_said(self):
        for words, message in ((("--lessons", "3"), "there is no lesson 3; did you mean 03?"),
                               (("--lessons", "03 99"), "there is no lesson 99; there are 00, 01"),
                               (("--seed", "x"), "--seed x: a seed is a whole number"),
                               (("--lesson", "03"), "unrecognized arguments: --lesson 03"),
                               (("--lessons", "03", "--build", "/nowhere"), "there is no /nowhere/bin/lesson03; `make")):
            run = teaching_kit(*words)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(message, run.stdout)


class Files(unittest.TestCase):
    """The slow part: everything for a lesson with long diffs and for one with a picture."""

    @classmethod
    def setUpClass(cls):
        sys.path += map(str, ROOT.glob("build/slides/venv/lib/python3*/site-packages"))
        try:
            import pptx
            import weasyprint  # noqa: F401
        except ModuleNotFoundError as error:
            raise unittest.SkipTest(f"{error}") from None
        cls.presentation = staticmethod(pptx.Presentation)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = Path(folder.name)
        cls.ended = teaching_kit("--lessons", "09,19,20", "--seed", "7", "--build", str(BUILD), "--out", str(cls.out))

    def setUp(self):
        self.assertEqual(self.ended.returncode, 0, self.ended.stdout)

    def test_are_all_there(self):
        each = ["exam.pdf", "exam_key.pdf", "predictions.pdf", "predictions_answers.pdf", "slides.pdf", "slides.pptx"]
        self.assertEqual(sorted(str(path.relative_to(self.out)) for path in self.out.rglob("*.*")),
                         sorted([f"lesson{number}/{name}" for number in ("09", "19") for name in each]
                                + ["lesson20/exam.pdf", "lesson20/exam_key.pdf", "plan.pdf"]))  # its page is that of 19
        for path in self.out.rglob("*.pdf"):
            self.assertTrue(path.read_bytes().startswith(b"%PDF-"), path)
        self.assertIn("[ 2/3] lesson19", self.ended.stdout)
        self.assertIn("seed: 7", self.ended.stdout)

    def test_slides_open_and_can_be_edited(self):
        for number in ("09", "19"):
            slides = deck(LESSONS[number], sections_of(number))
            opened = self.presentation(str(self.out / f"lesson{number}/slides.pptx"))
            self.assertEqual([sheet.shapes.title.text_frame.text for sheet in opened.slides], [slide.title for slide in slides])
            for sheet, slide in zip(opened.slides, slides):
                with self.subTest(lesson=number, slide=slide.title):
                    self.assertEqual([shape for shape in sheet.shapes if shape.top < 0 or shape.left < 0
                                      or shape.top + shape.height > opened.slide_height
                                      or shape.left + shape.width > opened.slide_width], [])
                    codes = [block.lines for block, _, _ in slide.blocks if isinstance(block, Code)]
                    texts = {shape.text_frame.text: shape for shape in sheet.shapes if shape.has_text_frame}
                    for lines in codes:
                        shape = texts["\n".join(lines)]
                        fonts = {run.font.name for paragraph in shape.text_frame.paragraphs for run in paragraph.runs}
                        self.assertEqual(fonts, {"Courier New"})
                    self.assertEqual(sum(shape.shape_type == 13 for shape in sheet.shapes),  # 13: a picture
                                     sum(isinstance(block, Picture) for block, _, _ in slide.blocks))
                    notes = sheet.notes_slide.notes_text_frame.text if sheet.has_notes_slide else ""
                    self.assertEqual(notes, "\n\n".join(slide.notes))

    def test_sheets_of_all_lessons_take_a_page(self):
        from tutorial.kit_html import to_pdf

        for number, lesson in LESSONS.items():
            sheet = kit_sheets.exam_html(lesson, kit_exam.exam(lesson, 7), kit_exam.choice(lesson, 7))
            to_pdf(sheet, self.out / f"exam{number}", pages=1)
            if lesson.has_page:
                asked = predictions(sections_of(number))
                to_pdf(kit_sheets.predictions_html(lesson, asked), self.out / f"sheet{number}", pages=1)

    def test_one_that_does_not_fit_is_an_error(self):
        from tutorial.kit_html import to_pdf

        lesson = LESSONS["19"]
        slides = deck(lesson, sections_of("19"))[:2]
        slides[1].blocks = [(Items([[Text([("word " * 2000, "")])]]), 5, 20)]
        with self.assertRaisesRegex(Failure, "slides.pdf: \\d+ pages in place of 2: something does not fit"):
            to_pdf(slides_html(lesson, slides), self.out / "slides.pdf", pages=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], sys.argv[2]])
