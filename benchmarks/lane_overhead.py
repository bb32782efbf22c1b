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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

IMPORTS = "import harness.run.series, harness.run.conclusion, harness.report, harness.suites.driver.kind"

ORACLE = """
import sys
from pathlib import Path
from harness.suites.driver.case import load_oracle
from harness.suites.driver.plan import LanePlan
from harness.suites.driver.records import read_records
plan = LanePlan.model_validate_json(Path(sys.argv[1]).read_bytes())
oracle = load_oracle(plan.oracle)
for case in plan.cases:
    records = read_records(plan.case_run(case).records)
    oracle.verify(case.name, [record for record in records if record["type"] == "transaction"])
"""


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
    with tempfile.TemporaryDirectory() as scratch:
        seconds = [measure(lane, folder, Path(scratch)) for _ in range(arguments.rounds)]
    middle = {name: statistics.median(each[name] for each in seconds) for name in seconds[0]}
    base = middle["shell loop"]
    print(f"{arguments.lane}, median of {arguments.rounds}, {len(os.sched_getaffinity(0))} cores")
    for name, value in middle.items():
        print(f"{name:<44} {value:6.2f} s   {value / base:5.2f}")
    return 0


def measure(lane: list[str], folder: Path, scratch: Path) -> dict[str, float]:
    """One round: the loop, the lane, and the parts of the lane by themselves."""
    plan = json.loads((folder / "plan.json").read_bytes())
    driver = str(ROOT / plan["driver"])
    environment = {**plan["environment"], "HARNESS_NONCE": "benchmark"}
    found: dict[str, float] = {}

    def loop(option: str, names: list[str], more: str = "") -> float:
        one = f'exec "{driver}" {option} "$0" {more}'
        command = ["xargs", "-P", str(len(os.sched_getaffinity(0))), "-n", "1", "sh", "-c", one]
        return timed(command, given="\n".join(names).encode(), environment=environment)

    found["shell loop"] = loop(
        "--run", [case["name"] for case in plan["cases"]], f'--json "{scratch}/$$.jsonl"'
    )
    found["harness run, complete"] = timed(lane)
    evidence = json.loads((folder / "evidence.json").read_bytes())
    found["of this the lane (evidence.json)"] = _seconds(evidence)
    found["part: Python and its imports"] = timed([sys.executable, "-c", IMPORTS])
    found["part: a build with nothing to do"] = evidence["build"]["seconds"]
    listed = json.loads(subprocess.run([driver, "--list"], env=environment, capture_output=True).stdout)
    found["part: planted defects"] = loop("--plant", [plant["name"] for plant in listed["plants"]])
    found["part: pytest and its workers, no case"] = timed(
        [*evidence["command"], "-k", "no_case_is_called_this", "--lane-folder", str(_copy(folder, scratch))],
        environment={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    found["part: the oracles, on one core"] = timed([sys.executable, "-c", ORACLE, str(folder / "plan.json")])
    return found


def _copy(folder: Path, scratch: Path) -> Path:
    """A folder for what a pytest run without cases leaves, so that the lane's own stays as it is."""
    (scratch / folder.name).mkdir(exist_ok=True)
    return scratch / folder.name


def _seconds(evidence: dict[str, Any]) -> float:
    began, ended = (dt.datetime.fromisoformat(evidence[name]) for name in ("started", "ended"))
    return (ended - began).total_seconds()


if __name__ == "__main__":
    sys.exit(main())
