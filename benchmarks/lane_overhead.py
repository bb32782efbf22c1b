"""Wall time of a warm CPU lane against the same driver processes run from a shell with equal parallelism."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def timed(command: list[str], *, given: bytes = b"", environment: dict[str, str] | None = None) -> float:
    """Seconds that a command takes; its output is thrown away."""
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, input=given, env=environment, capture_output=True, check=False)
    return time.perf_counter() - start


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lane", default="cpu-sanitize/ds4-rollback")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    lane = [sys.executable, "-m", "harness", "run", arguments.lane]
    timed(lane)  # warm: built, compiled, cached
    folder = ROOT / "reports/latest/lanes" / arguments.lane
    evidence = json.loads((folder / "evidence.json").read_bytes())
    plan = json.loads((folder / "plan.json").read_bytes())
    cases = [case["name"] for case in evidence["planned"]]
    workers = len(os.sched_getaffinity(0))
    shell, harness, stage = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(arguments.rounds):
            one = f'exec "{ROOT / plan["driver"]}" --run "$0" --json "{scratch}/$$.jsonl"'
            loop = ["xargs", "-P", str(workers), "-n", "1", "sh", "-c", one]
            environment = {**plan["environment"], "HARNESS_NONCE": "benchmark"}
            shell.append(timed(loop, given="\n".join(cases).encode(), environment=environment))
            harness.append(timed(lane))
            evidence = json.loads((folder / "evidence.json").read_bytes())
            stage.append(_seconds(evidence))
    base, whole = statistics.median(shell), statistics.median(harness)
    print(f"{len(cases)} cases, {workers} at once, median of {arguments.rounds}")
    print(f"shell loop             {base:7.2f} s   1.00")
    print(f"lane (evidence.json)   {statistics.median(stage):7.2f} s   {statistics.median(stage) / base:.2f}")
    print(f"harness run, complete  {whole:7.2f} s   {whole / base:.2f}")
    return 0


def _seconds(evidence: dict[str, str]) -> float:
    began, ended = (dt.datetime.fromisoformat(evidence[name]) for name in ("started", "ended"))
    return (ended - began).total_seconds()


if __name__ == "__main__":
    sys.exit(main())
