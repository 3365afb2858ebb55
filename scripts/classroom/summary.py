"""summary.py GRADES: prints the table of the points as Markdown, from the folder that scripts/grade has written.

Exit status: 0 if the student has all points, otherwise 1.
"""

import csv
import sys
from pathlib import Path


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main():
    grades = Path(sys.argv[1])
    possible = next(row for row in rows(grades / "canvas.csv") if row["Student"] == "Points Possible")
    graded = rows(grades / "grades.csv")
    print("| exercise | points | of |\n|---|---|---|")
    for row in graded:
        print(f"| {row['exercise']} | {row['points'] or '?'} | {possible['Exercise ' + row['exercise']]} |")
    for row in graded:
        if row["failed"]:
            again = ["", f"It happens again with: {row['again']}"] if row["again"] else []
            text = [f"{row['failed']}: {row['message']}", *again]
            print(f"\nExercise {row['exercise']}:\n")
            print("\n".join(f"    {line}" for line in "\n".join(text).splitlines()))  # as code: no Markdown in it
    return 0 if all(row["points"] == possible["Exercise " + row["exercise"]] for row in graded) else 1


if __name__ == "__main__":
    sys.exit(main())
