"""`harness validate`: is a matrix file right, and if not, everything that is wrong with it."""

from __future__ import annotations

import datetime as dt
import sys
from typing import TYPE_CHECKING

from harness.matrixfile import load_with_warnings
from harness.plan import all_lanes

if TYPE_CHECKING:
    from pathlib import Path


def validate(path: Path) -> int:
    """Check a matrix file; 0 if it is valid.  Raises MatrixError with all its problems."""
    loaded = load_with_warnings(path, today=dt.datetime.now(dt.UTC).date())
    for warning in loaded.warnings:
        sys.stderr.write(f"{warning}\n")
    matrix = loaded.matrix
    lanes = len(all_lanes(matrix))
    counts = [(len(matrix.targets), "target"), (len(matrix.suites), "suite"), (lanes, "lane")]
    shown = ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts)
    sys.stdout.write(f"{path}: ok, {shown}\n")
    return 0
