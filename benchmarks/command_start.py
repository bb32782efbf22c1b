"""How long the command takes to answer, against an interpreter that does nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "harness --help": ["-m", "harness", "--help"],
    "harness validate": ["-m", "harness", "validate"],
    "harness plan": ["-m", "harness", "plan"],
    "harness report": ["-m", "harness", "report"],
}


def timed(words: list[str]) -> float:
    """Median seconds of several calls."""
    found = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=False)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def main() -> int:
    """Measure and print."""
    seconds = {name: timed(words) for name, words in COMMANDS.items()}
    base = seconds["python -c pass"]
    for name, value in seconds.items():
        print(f"{name:<20} {value * 1000:7.0f} ms   {value / base:5.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
