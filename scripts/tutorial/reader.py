"""Ends quietly when the reader of a pipe has gone, as in `make exercises | head`; and without a traceback when a disk is full."""

import io
import os
import sys


class _Stdout(io.TextIOWrapper):
    """Drops the rest of the output when nobody reads it, or when it cannot be written."""

    reader_left = False

    def write(self, text):
        try:
            return super().write(text)
        except OSError as error:
            return self._drop(error, len(text))

    def flush(self):
        try:
            super().flush()
        except OSError as error:
            self._drop(error)

    def _drop(self, error, length=0):
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self.fileno())
        if not isinstance(error, BrokenPipeError):
            raise error
        self.reader_left = True
        return length


def may_leave():
    """From here on, a pipe without a reader costs no traceback. The exit status stays that of the work."""
    stdout = io.BufferedWriter(io.FileIO(sys.stdout.fileno(), "w", closefd=False))
    sys.stdout = _Stdout(stdout, encoding=sys.stdout.encoding, errors=sys.stdout.errors, line_buffering=sys.stdout.isatty())


def done(work):
    """Does the work. The exit status: the work's, or 2 where a file or the output cannot be written, with a line on stderr."""
    try:
        try:
            return work()
        finally:
            sys.stdout.flush()
    except OSError as error:
        print(f"{os.path.basename(sys.argv[0])}: {error.filename or 'a file or the output'}: {error.strerror}", file=sys.stderr)
        return 2


def has_left():
    return getattr(sys.stdout, "reader_left", False)
