"""Every test file is one that pytest looks at: some names of folders are left out without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_test_file_is_collected() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-qq",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    listed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    collected = {line.partition(":")[0] for line in listed.stdout.splitlines() if line.startswith("tests/")}
    written = {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}
    assert collected == written
