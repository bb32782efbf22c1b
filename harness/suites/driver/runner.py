"""Running the cases of a driver lane with pytest: the command, what it selected, how far it is."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import harness
from harness.evidence.folders import JUNIT, RESULTS
from harness.evidence.rows import FAILING, CaseResult
from harness.suites.driver.plan import PLAN, SELECTED
from harness.suites.protocol import Command, Progress
from harness.system.files import write_atomically

if TYPE_CHECKING:
    from harness.suites.driver.plan import LanePlan


def prepare(plan: LanePlan, *, keyword: str | None, workers: int) -> Command:
    """Write the plan, remove what an earlier run left, and say how pytest is started.

    `keyword` is pytest's `-k`.  Raises OutputError if the plan cannot be written.
    """
    folder = plan.folder
    for stale in (JUNIT, RESULTS, SELECTED):
        (folder / stale).unlink(missing_ok=True)
    write_atomically(folder / PLAN, plan.model_dump_json(indent=1))
    words = (
        *(sys.executable, "-m", "pytest"),
        *("-p", "xdist.plugin", "-p", "harness.suites.driver.pytest_plugin", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "--rootdir", str(folder)),
        *("-n", str(workers), "--dist", "loadgroup", "--no-loadscope-reorder"),
        *("--lane-folder", str(folder)),
        *("--junit-xml", str(folder / JUNIT), "-o", "junit_family=xunit2"),
        *(("-k", keyword) if keyword else ()),
        "-q",
        str(folder / PLAN),
    )
    return Command(words, _environment())


def _environment() -> dict[str, str]:
    """Our environment with `harness` importable as it is here, and neither options nor plugins of others.

    A plugin that happens to be installed could change what runs, and each
    costs every process of the lane its import.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    paths = [os.fspath(Path(harness.__file__).parent.parent), *filter(None, [kept.get("PYTHONPATH")])]
    own = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}
    return {**kept, **own, "PYTHONPATH": os.pathsep.join(paths)}


def selected(plan: LanePlan) -> frozenset[str]:
    """The cases left after `-k`; all of the plan if pytest died before it had collected."""
    try:
        return frozenset(json.loads((plan.folder / SELECTED).read_bytes()))
    except (OSError, ValueError):
        return frozenset(case.name for case in plan.cases)


class Tracker:
    """Follows `results.jsonl` as it grows."""

    def __init__(self, folder: Path, total: int) -> None:
        self._path = folder / RESULTS
        self._total = total
        self._offset = 0
        self._done = 0
        self._failed = 0

    def look(self) -> Progress:
        """Count the rows that have been completed."""
        last_failure = ""
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                result = CaseResult.model_validate_json(line)
                self._done += 1
                if result.outcome in FAILING:
                    self._failed += 1
                    last_failure = f"{result.name}: {result.message}"
        return Progress(self._done, self._failed, self._total, last_failure)
