"""`harness validate`: is a matrix file right, and if not, everything that is wrong with it."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

HELP = "check a matrix file and name all its problems"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", nargs="?", type=Path, default=Path("matrix.yaml"))


def run(arguments: argparse.Namespace) -> int:
    """Check a matrix file; 0 if it is valid.  Raises MatrixError with all its problems."""
    from harness.matrix.lanes import all_lanes
    from harness.matrix.load import load_with_warnings

    path: Path = arguments.file
    loaded = load_with_warnings(path, today=dt.datetime.now(dt.UTC).date())
    for warning in loaded.warnings:
        sys.stderr.write(f"{warning}\n")
    matrix = loaded.matrix
    lanes = len(all_lanes(matrix))
    counts = [(len(matrix.targets), "target"), (len(matrix.suites), "suite"), (lanes, "lane")]
    shown = ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts)
    sys.stdout.write(f"{path}: ok, {shown}\n")
    return 0
