"""Running the cases of one lane on this machine: pytest as a child, progress while it runs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import harness
from harness.evidence.folders import JUNIT, RESULTS
from harness.evidence.rows import FAILING, CaseResult
from harness.suites.driver.pytest_plugin import PLAN, SELECTED, LanePlan
from harness.system.files import write_atomically
from harness.system.process import end_group, tied_to_parent
from harness.system.reaper import reaping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RUN_LOG = "run.log"

_POLL_S = 0.05
_INTERRUPT_GRACE_S = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a lane's run is; `last_failure` is the headline of a row that failed since the last call."""

    done: int
    failed: int
    total: int
    seconds: float
    last_failure: str = ""


@dataclass(frozen=True, slots=True)
class PytestRun:
    """How the pytest run of a lane ended.

    `selected` names the cases that were to run; `exit_status` is pytest's,
    negative where a signal ended it.
    """

    command: tuple[str, ...]
    exit_status: int
    interrupted: bool
    selected: tuple[str, ...]


def run_cases(
    plan: LanePlan, *, keyword: str | None, workers: int, progress: Callable[[Progress], None]
) -> PytestRun:
    """Run the planned cases and leave `junit.xml`, `results.jsonl` and `run.log` in the lane folder.

    `keyword` is pytest's `-k`.  An interrupt (KeyboardInterrupt) is passed on
    to pytest, which writes what it has; the answer then says `interrupted`.
    Raises OutputError if the plan cannot be written, OSError if pytest cannot
    be started.
    """
    folder = plan.folder
    for stale in (JUNIT, RESULTS, SELECTED):
        (folder / stale).unlink(missing_ok=True)
    write_atomically(folder / PLAN, plan.model_dump_json(indent=1))
    command = _command(folder, keyword, workers)
    tracker = _Tracker(folder / RESULTS, total=len(plan.cases))
    interrupted = False
    with (folder / RUN_LOG).open("wb") as log, reaping():
        process = subprocess.Popen(
            [*tied_to_parent(), *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(),
            cwd=folder,
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                time.sleep(_POLL_S)
                progress(tracker.look())
        except KeyboardInterrupt:
            interrupted = True
            _interrupt(process)
        finally:
            end_group(process)
    progress(tracker.look())
    return PytestRun(
        command=tuple(command),
        exit_status=process.returncode,
        interrupted=interrupted,
        selected=_selected(folder, plan),
    )


def _command(folder: Path, keyword: str | None, workers: int) -> list[str]:
    return [
        sys.executable,
        "-m",
        "pytest",
        *("-p", "harness.suites.driver.pytest_plugin", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "--rootdir", str(folder)),
        *("-n", str(workers), "--dist", "loadgroup"),
        *("--lane-folder", str(folder)),
        *("--junit-xml", str(folder / JUNIT), "-o", "junit_family=xunit2"),
        *(("-k", keyword) if keyword else ()),
        "-q",
        str(folder / PLAN),
    ]


def _environment() -> dict[str, str]:
    """Our environment with `harness` importable as it is here, and no option of an outer pytest."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    paths = [os.fspath(Path(harness.__file__).parent.parent), *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Let pytest end by itself, as after Ctrl-C, so that its report has all rows that finished.

    The whole group is told: workers then end their drivers at once, and the
    controller need not wait for them.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.wait(_INTERRUPT_GRACE_S)


def _selected(folder: Path, plan: LanePlan) -> tuple[str, ...]:
    """The cases left after `-k`; all of the plan if pytest died before it had collected."""
    try:
        names: Sequence[str] = json.loads((folder / SELECTED).read_bytes())
    except (OSError, ValueError):
        return tuple(case.name for case in plan.cases)
    return tuple(names)


class _Tracker:
    """Follows `results.jsonl` as it grows."""

    def __init__(self, path: Path, total: int) -> None:
        self._path = path
        self._total = total
        self._offset = 0
        self._done = 0
        self._failed = 0
        self._start = time.monotonic()

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
        return Progress(self._done, self._failed, self._total, time.monotonic() - self._start, last_failure)
