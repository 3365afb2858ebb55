"""Ends quietly when the reader of a pipe has gone, as in `make exercises | head`."""

import io
import os
import sys


class _Stdout(io.TextIOWrapper):
    """Drops the rest of the output when nobody reads it."""

    reader_left = False

    def write(self, text):
        try:
            return super().write(text)
        except BrokenPipeError:
            return self._drop(len(text))

    def flush(self):
        try:
            super().flush()
        except BrokenPipeError:
            self._drop()

    def _drop(self, length=0):
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self.fileno())
        self.reader_left = True
        return length


def may_leave():
    """From here on, a pipe without a reader costs no traceback. The exit status stays that of the work."""
    stdout = io.BufferedWriter(io.FileIO(sys.stdout.fileno(), "w", closefd=False))
    sys.stdout = _Stdout(stdout, encoding=sys.stdout.encoding, errors=sys.stdout.errors, line_buffering=sys.stdout.isatty())


def has_left():
    return getattr(sys.stdout, "reader_left", False)
