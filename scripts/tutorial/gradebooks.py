"""The grades as Moodle and Canvas import them, and the roster: by which id these know a student."""

import csv

from tutorial.grading import CannotGrade, as_csv


def read_roster(path, students):
    """student -> id. Without a roster the folder's name is the id."""
    if path is None:
        return {student: student for student in students}
    ids = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets write a byte order mark
            rows = csv.DictReader(file)
            if not {"folder", "id"} <= set(rows.fieldnames or []):
                raise CannotGrade(f"--roster {path}: the first line is '{','.join(rows.fieldnames or [])}'. It has to name "
                                  "the columns folder and id: 'folder,id'")
            for row in rows:
                folder, known_as = row["folder"], (row["id"] or "").strip()
                wrong = (f"'{folder}' has no id" if not known_as else
                         f"'{folder}' has a line already" if folder in ids else
                         f"another folder has the id '{known_as}' already" if known_as in ids.values() else None)
                if wrong:
                    raise CannotGrade(f"--roster {path}, line {rows.line_num}: {wrong}. A line is a folder, a comma, and the "
                                      "id of this student alone")
                ids[folder] = known_as
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CannotGrade(f"--roster {path} cannot be read: {error}. It has to be a CSV file in UTF-8") from None
    if missing := [student for student in students if student not in ids]:
        raise CannotGrade(f"--roster {path} has no line for {', '.join(missing)}. Add one for each: the folder, a comma, and "
                          "the id on the course platform")
    return {student: ids[student] for student in students}


def points(grades, student, ungraded):
    return [ungraded if entry.trouble else entry.total for entry in grades if entry.student == student]


def all_of(grades, ids, numbers, best):
    """Name -> text of the files to import."""
    titles = [f"Exercise {number}" for number in numbers]
    # The teacher tells Moodle what the columns are. '-' is no grade.
    moodle = [["student", *titles], *([ids[student], *points(grades, student, "-")] for student in ids)]
    # Canvas knows these columns by name and place. Without an ID it finds students by their login.
    canvas = [["Student", "ID", "SIS Login ID", "Section", *titles], ["Points Possible", "", "", "", *(best for _ in numbers)],
              *([student, "", ids[student], "", *points(grades, student, "")] for student in ids)]
    return {"moodle.csv": as_csv(moodle), "canvas.csv": as_csv(canvas)}
