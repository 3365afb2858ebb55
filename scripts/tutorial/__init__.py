"""What the programs in scripts/ share. Each of them finds this package in its own folder."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
