"""What the programs in scripts/ share. Each of them finds this package, since it lies beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
