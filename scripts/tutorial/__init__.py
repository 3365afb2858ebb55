"""What the programs in scripts/ share. Each of them finds this package in its own folder."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def write_whole(path, text):
    """Replaces the file in one step. An interruption or a full disk leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
