"""A build with nothing to do, through the build stage, against a bare ninja with nothing to do."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.build import build
from harness.matrix.lanes import all_lanes
from harness.matrix.load import load

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lane", default="cpu-sanitize/ds4-rollback")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    lane = next(lane for lane in all_lanes(load(ROOT / "matrix.yaml")) if lane.id == arguments.lane)
    cache = ROOT / ".harness"
    source = ROOT / lane.suite.model_dump()["kernels"]
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "build.log"
        tree = build(lane, source=source, root=ROOT, cache=cache, log=log).driver.parent
        stage, bare = [], []
        for _ in range(arguments.rounds):
            start = time.perf_counter()
            if build(lane, source=source, root=ROOT, cache=cache, log=log).rebuilt:
                print("something was rebuilt", file=sys.stderr)
                return 1
            stage.append(time.perf_counter() - start)
            start = time.perf_counter()
            subprocess.run(["ninja", "-C", str(tree)], check=True, stdout=subprocess.DEVNULL)
            bare.append(time.perf_counter() - start)
    ours, base = statistics.median(stage), statistics.median(bare)
    print(f"{lane.id}, median of {arguments.rounds}")
    print(f"bare ninja   {base * 1000:7.1f} ms   1.0")
    print(f"build stage  {ours * 1000:7.1f} ms   {ours / base:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
