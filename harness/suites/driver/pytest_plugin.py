"""The pytest plugin that runs the cases of one lane: one row a case, one process a case.

`pytest -p harness.suites.driver.pytest_plugin LANE/plan.json` collects the cases that the plan
names.  Workers write `selected.json`, the cases left after `-k`; the
controller appends each finished row to `results.jsonl` at once, so that
nothing measured is lost when pytest itself does not come to its end.
"""

from __future__ import annotations

import contextlib
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from harness.evidence.folders import RESULTS
from harness.evidence.rows import CaseResult, Observed, without_worker
from harness.suites.driver.case import (
    CaseFailedError,
    CaseReport,
    CaseSkippedError,
    load_oracle,
    run_case,
)
from harness.suites.driver.plan import PLAN, SELECTED, LanePlan
from harness.system.files import write_atomically
from harness.words import Outcome

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from harness.evidence.model import CaseRecord

OBSERVED = "harness_observed"
"""Attribute of a test's report: xdist carries it from the worker to the controller."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a lane's plan as if it were a test file."""
    if file_path.name != PLAN:
        return None
    collected: pytest.Collector = _PlanFile.from_parent(parent, path=file_path)
    return collected


class _PlanFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        plan = LanePlan.model_validate_json(self.path.read_bytes())
        for case, group in longest_first([(case, _group(plan, case)) for case in plan.cases]):
            item: _CaseItem = _CaseItem.from_parent(self, name=case.name, plan=plan, case=case)
            if group is not None:
                item.add_marker(pytest.mark.xdist_group(group))
            yield item


def longest_first(
    cases: Sequence[tuple[CaseRecord, str | None]],
) -> list[tuple[CaseRecord, str | None]]:
    """Order cases with their groups so that the groups with most transactions start first.

    A long group that starts last would keep one worker busy while the others
    have nothing left to do.
    """
    total: dict[str, int] = {}
    for case, group in cases:
        total[group or case.name] = total.get(group or case.name, 0) + case.transactions
    return sorted(cases, key=lambda pair: -total[pair[1] or pair[0].name])


def _group(plan: LanePlan, case: CaseRecord) -> str | None:
    """Cases of one group run one after the other on one worker; None: wherever there is room.

    A device has one group, so that its cases never overlap.  An oracle may
    name the cases whose answers it computes once (docs/driver.md).
    """
    if plan.device_lock is not None:
        return plan.device_lock.name
    if plan.oracle is None:
        return None
    try:
        shared = getattr(load_oracle(plan.oracle), "group", None)
    except CaseFailedError:
        return None  # each case that needs the oracle will say so
    return str(shared(case.name)) if shared is not None else None


class _CaseItem(pytest.Item):
    def __init__(self, *, plan: LanePlan, case: CaseRecord, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.plan = plan
        self.case = case
        self.report = CaseReport()

    def runtest(self) -> None:
        self.report = report = CaseReport()
        lock = (
            FileLock(self.plan.device_lock) if self.plan.device_lock is not None else contextlib.nullcontext()
        )
        try:
            with lock:
                run_case(self.plan.case_run(self.case), report)
        except CaseSkippedError as reason:
            pytest.skip(str(reason))
        finally:
            if report.observed.reproduce:
                whole = f"{self.plan.reproduce} '{self.case.name}'"
                report.note(reproduce=[whole, *report.observed.reproduce])
            # For whoever reads the runner's own JUnit file; the record itself travels with the report.
            self.user_properties.extend(report.observed.properties())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        if isinstance(excinfo.value, CaseFailedError):
            return "\n".join(part for part in (excinfo.value.headline, excinfo.value.details) if part)
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give a case's report what was observed, as plain data: xdist hands it to the controller."""
    report = yield
    if isinstance(item, _CaseItem):
        vars(report)[OBSERVED] = item.report.observed.model_dump(mode="json")
    return report


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave the names of the cases that are to run; every worker writes the same."""
    folder = session.config.getoption("--lane-folder")
    if folder is not None:
        names = [item.case.name for item in session.items if isinstance(item, _CaseItem)]
        write_atomically(folder / SELECTED, json.dumps(names))


def _text(report: pytest.TestReport) -> str:
    """What a report says, without the line by which xdist names its worker."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return without_worker(report.longreprtext)


def _outcome(report: pytest.TestReport) -> Outcome:
    if report.skipped:
        return Outcome.SKIPPED
    if report.when != "call":
        return Outcome.ERROR
    return Outcome.PASSED if report.passed else Outcome.FAILED


class _ResultsFile:
    """Appends each finished row to `results.jsonl`, in the process that sees all of them."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        result = CaseResult(
            name=report.nodeid.split("::", 1)[-1].rsplit("@", 1)[0],
            outcome=_outcome(report),
            seconds=report.duration,
            text=_text(report),
            # A worker that died took its observations with it.
            observed=Observed.model_validate(vars(report).get(OBSERVED, {})),
        )
        self._file.write(result.model_dump_json(exclude_defaults=True) + "\n")
        self._file.flush()

    def pytest_unconfigure(self) -> None:
        self._file.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option by which the lane names its folder."""
    parser.addoption("--lane-folder", type=Path, required=False, help="where results.jsonl is written")


def pytest_configure(config: pytest.Config) -> None:
    """Start the results file in the controller; workers send their reports there.

    A run that was started in the background may have inherited that SIGINT is
    ignored.  Interrupts of this process come from the lane that started it,
    and execnet ends an orphaned worker by one: they must be heard.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = config.getoption("--lane-folder")
    if folder is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_ResultsFile(folder / RESULTS), "harness-results")
