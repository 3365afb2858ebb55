#!/usr/bin/python3
"""class_load.py BUILD [STUDENTS [SECONDS]]: a class of 30 presses Check on lesson 03 within 60 s, each once, at random moments.

Prints how long the verdicts took, and how busy the machine was with other things. Exit status: 0 all came within two
minutes and in order; 1 one did not. A third of the students has solved the exercise: their checks take longest.
"""

import contextlib
import json
import os
import random
import statistics
import sys
import threading
import time

STUDENTS, SECONDS = (int(word) for word in (sys.argv[2:] + ["30", "60"][len(sys.argv) - 2:]))
LONGEST = 120  # seconds from the press to the verdict
from serve_test import Sandboxed  # noqa: E402, which reads sys.argv[1]


class Class(Sandboxed):
    words = ("--class",)


def busy():
    """Seconds of all processors that were used, by anybody, since the machine began."""
    with open("/proc/stat", encoding="utf-8") as file:
        ticks = list(map(int, file.readline().split()[1:]))
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def press(server, cookie, text, version, after, result):
    time.sleep(after)
    pressed = time.monotonic()
    with contextlib.closing(server.connect()) as connection:
        server.begin(connection, "POST", "/api/check", {"name": "exercise03", "text": text, "version": version}, cookie=cookie)
        response = connection.getresponse()
        for line in map(json.loads, response):
            if line.get("step") == "compiles":
                result["compiled"] = time.monotonic()
            if "solved" in line:
                result.update(solved=line["solved"], seconds=time.monotonic() - pressed)
    result["pressed"] = pressed


def main():
    Class.setUpClass()
    server = Class.server
    numbers = random.Random(41)
    solution = (Class.lesson / "course/solution.cuh").read_text(encoding="utf-8")
    version = server.ask("GET", "/api/documents/exercise03").json["version"]
    threads, results = [], []
    before, began = busy(), time.monotonic()
    for index in range(STUDENTS):
        joined = server.ask("POST", "/api/join", {"name": f"student {index}"}, cookie=server.visit(server.links[0][1]))
        cookie = joined.headers["Set-Cookie"].partition(";")[0]
        text = solution if index % 3 == 0 else f"{Class.original}// student {index}\n"
        results.append({"right": index % 3 == 0})
        threads.append(threading.Thread(target=press, args=(server, cookie, text, version, SECONDS * numbers.random(),
                                                            results[-1])))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used, took = busy() - before, time.monotonic() - began
    lost = sum(one.get("solved") != one["right"] for one in results)
    Class.doClassCleanups()
    if lost:
        print(f"{lost} of {STUDENTS} verdicts are lost or wrong: {results}")
        return 1
    in_order = sorted(results, key=lambda one: one["pressed"])
    # Two at a time, which may overtake each other.
    ahead = sum(later["compiled"] < earlier["compiled"] for earlier, later in zip(in_order, in_order[2:]))
    seconds = sorted(one["seconds"] for one in results)
    print(f"{STUDENTS} checks of lesson 03 within {SECONDS} s: a verdict after {statistics.median(seconds):.1f} s in the median, "
          f"{seconds[-1]:.1f} s at most; {ahead} out of order, none lost.")
    print(f"The {os.cpu_count()} processors were used for {used:.0f} s in {took:.0f} s, by this and by others.")
    return 1 if ahead or seconds[-1] > LONGEST else 0


if __name__ == "__main__":
    sys.exit(main())
