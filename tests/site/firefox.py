"""Tests in Firefox, as Debian has it. Selenium needs geckodriver for that, which Debian lacks. Firefox itself speaks Marionette:
JSON and its length, through a socket."""

import base64
import itertools
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from browser import LONGEST


class Firefox:
    """A browser of its own, with a new profile."""

    def __init__(self):
        self.profile = Path(tempfile.mkdtemp())
        # Its home, too: it keeps more than the profile.
        self.process = subprocess.Popen(["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", self.profile],
                                        env={**os.environ, "HOME": str(self.profile)}, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.numbers = itertools.count(1)
        port = int(self.wait(lambda: self.read("MarionetteActivePort")))
        self.socket = self.wait(lambda: self.connected(port))
        self.answers = self.socket.makefile("rb")
        self.receive()  # which protocol it is
        self.call("WebDriver:NewSession", capabilities={})
        self.call("WebDriver:SetTimeouts", script=1000 * LONGEST, pageLoad=1000 * LONGEST)

    def read(self, name):
        path = self.profile / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    @staticmethod
    def connected(port):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            return None

    def wait(self, condition):
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.1)
        raise TimeoutError(f"not in {LONGEST} s")

    def receive(self):
        length = b"".join(iter(lambda: self.answers.read(1), b":"))
        return json.loads(self.answers.read(int(length)))

    def call(self, name, **parameters):
        """[0, number, name, parameters] goes there, [1, number, error, result] comes back."""
        message = json.dumps([0, next(self.numbers), name, parameters]).encode()
        self.socket.sendall(b"%d:%b" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{name}: {error['message']}")
        return result

    def run(self, script, *arguments):
        return self.call("WebDriver:ExecuteScript", script=script, args=arguments)["value"]

    def open(self, url):
        self.call("WebDriver:Navigate", url=url)

    def press(self, *keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def save_screenshot(self, path):
        Path(path).write_bytes(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)["value"]))

    def quit(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


class InFirefox(unittest.TestCase):
    """With `self.firefox`. Skipped where it is not installed."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("firefox-esr"):
            raise unittest.SkipTest("no firefox-esr here")
        cls.firefox = Firefox()
        cls.addClassCleanup(cls.firefox.quit)
