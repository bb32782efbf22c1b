"""The pytest run inside a lane: rows, groups, interrupts, and what is left when something dies."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.evidence.folders import RESULTS
from harness.evidence.model import CaseRecord, Evidence, HostRecord, Revision, State
from harness.run.child import ChildEnded, run_watched
from harness.suites.driver.ask import list_cases
from harness.suites.driver.plan import LanePlan
from harness.suites.driver.rows import rows_of
from harness.suites.driver.runner import Tracker, prepare, selected
from harness.suites.protocol import Command
from harness.words import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.evidence.rows import Row
    from harness.suites.protocol import Progress
    from tests.conftest import MakeDriver


_IN_A_PROCESS = """
import pathlib, sys
from harness.run.child import run_watched
from harness.suites.driver.plan import LanePlan
from harness.suites.protocol import Command
from harness.suites.driver.runner import prepare
from harness.system.process import terminate_as_interrupt
plan = LanePlan.model_validate_json(pathlib.Path(sys.argv[1]).read_bytes())
with terminate_as_interrupt():
    done = run_watched(prepare(plan, keyword=None, workers=1), plan.folder, lambda: None)
print("interrupted" if done.interrupted else "not interrupted")
"""


def make_plan(driver: Path, folder: Path, *, lock: Path | None = None, timeout_s: float = 60) -> LanePlan:
    folder.mkdir(parents=True, exist_ok=True)
    listing = list_cases(driver, os.environ)
    return LanePlan(
        lane="target/suite",
        cases=tuple(case.record() for case in listing.cases),
        driver=driver,
        device=None,
        device_lock=lock,
        environment=dict(os.environ),
        timeout_s=timeout_s,
        nonce="fresh",
        oracle=None,
        folder=folder,
        root=folder.parent,
        reproduce="nox -s session -- --case",
    )


def make_evidence(
    plan: LanePlan, state: State = State.FINISHED, cases: tuple[CaseRecord, ...] | None = None
) -> Evidence:
    return Evidence(
        harness_version="1",
        run="run",
        target="target",
        suite="suite",
        nonce="fresh",
        state=state,
        revision=Revision(commit="0" * 40),
        matrix_entry="0" * 64,
        host=HostRecord(system="", release="", machine="", python=""),
        started=dt.datetime.now(dt.UTC),
        planned=plan.cases if cases is None else cases,
    )


def run(
    plan: LanePlan, *, keyword: str | None = None, workers: int = 2
) -> tuple[ChildEnded, dict[str, Row], list[Progress]]:
    seen: list[Progress] = []
    tracker = Tracker(plan.folder, total=len(plan.cases))
    command = prepare(plan, keyword=keyword, workers=workers)
    done = run_watched(command, plan.folder, lambda: seen.append(tracker.look()))
    chosen = tuple(case for case in plan.cases if case.name in selected(plan))
    rows = {row.name: row for row in rows_of(plan.folder, make_evidence(plan, cases=chosen), ended=True)}
    return done, rows, seen


def test_each_case_is_one_row_with_its_observations(make_driver: MakeDriver, tmp_path: Path) -> None:
    plan = make_plan(
        make_driver("sync/pass", "sync/mismatch", "pinned/no-device", "sync/segfault"), tmp_path / "lane"
    )
    done, rows, seen = run(plan)
    assert done.exit_status == 1
    assert {name: row.outcome for name, row in rows.items()} == {
        "sync/pass": Outcome.PASSED,
        "sync/mismatch": Outcome.FAILED,
        "pinned/no-device": Outcome.SKIPPED,
        "sync/segfault": Outcome.FAILED,
    }
    assert rows["sync/pass"].observed.transactions == 3
    assert rows["sync/mismatch"].message.startswith("pos=0 q=1 accepted=0 tensor=0 row=4 column=2")
    assert rows["sync/mismatch"].observed.reproduce[0] == "nox -s session -- --case 'sync/mismatch'"
    assert rows["pinned/no-device"].message == "no device: cudaErrorNoDevice (100)"
    assert (seen[-1].done, seen[-1].failed, seen[-1].total) == (4, 2, 4)


def test_a_keyword_selects_and_the_rest_is_not_missing(make_driver: MakeDriver, tmp_path: Path) -> None:
    plan = make_plan(make_driver("sync/pass", "async/pass", "pinned/pass"), tmp_path / "lane")
    _, rows, _ = run(plan, keyword="async")
    assert selected(plan) == {"async/pass"}
    assert set(rows) == {"async/pass"}


def test_a_keyword_that_matches_nothing_runs_nothing(make_driver: MakeDriver, tmp_path: Path) -> None:
    plan = make_plan(make_driver("sync/pass"), tmp_path / "lane")
    done, rows, _ = run(plan, keyword="typo")
    assert done.exit_status == 5
    assert selected(plan) == frozenset()
    assert not [row for row in rows.values() if row.outcome is Outcome.PASSED]


def overlap(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Pairs of cases that ran at the same time."""
    spans = sorted((row.observed.started or 0, row.observed.ended or 0, row.name) for row in rows)
    return [(a[2], b[2]) for a, b in itertools.pairwise(spans) if b[0] < a[1]]


def test_cases_of_one_device_never_overlap(make_driver: MakeDriver, tmp_path: Path) -> None:
    """The group keeps them on one worker although there are several (pytest-xdist#1386)."""
    driver = make_driver(*(f"sync/{index}/slow" for index in range(6)), slow_s=0.02)
    plan = make_plan(driver, tmp_path / "lane", lock=tmp_path / "device.lock")
    _, rows, _ = run(plan, workers=3)
    assert len(rows) == 6
    assert {row.outcome for row in rows.values()} == {Outcome.PASSED}
    assert overlap(rows.values()) == []


def test_two_lanes_share_a_device_by_taking_turns(make_driver: MakeDriver, tmp_path: Path) -> None:
    driver = make_driver(*(f"sync/{index}/slow" for index in range(3)), slow_s=0.02)
    plans = [make_plan(driver, tmp_path / name, lock=tmp_path / "device.lock") for name in ("one", "two")]
    processes = [_start(plan, _IN_A_PROCESS) for plan in plans]
    assert [process.communicate(timeout=120)[0].strip() for process in processes] == ["not interrupted"] * 2
    rows = [row for plan in plans for row in rows_of(plan.folder, make_evidence(plan), ended=True)]
    assert len(rows) == 6
    assert overlap(rows) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_rows_and_leaves_no_process(
    make_driver: MakeDriver, tmp_path: Path, number: signal.Signals
) -> None:
    driver = make_driver("sync/pass", "sync/hang", "sync/never.pass")
    plan = make_plan(driver, tmp_path / "lane", timeout_s=600)
    process = _start(plan, _IN_A_PROCESS)
    _wait_for(driver.parent / "hanging")
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    assert output.strip() == "interrupted"
    rows = {
        row.name: row.outcome
        for row in rows_of(plan.folder, make_evidence(plan, State.INTERRUPTED), ended=False)
    }
    assert rows["sync/pass"] is Outcome.PASSED
    assert rows["sync/never.pass"] is Outcome.MISSING
    _assert_gone(driver.parent / "hanging")


def test_a_killed_pytest_leaves_the_rows_that_were_measured(make_driver: MakeDriver, tmp_path: Path) -> None:
    driver = make_driver("sync/pass", "sync/hang")
    plan = make_plan(driver, tmp_path / "lane", timeout_s=600)
    process = _start(plan, _IN_A_PROCESS)
    _wait_for(driver.parent / "hanging")
    controller = int(subprocess.check_output(["pgrep", "-o", "-P", str(process.pid)]).split()[0])
    os.kill(controller, signal.SIGKILL)
    assert process.communicate(timeout=60)[0].strip() == "not interrupted"
    rows = rows_of(plan.folder, make_evidence(plan), ended=True)
    by_name = {row.name: row for row in rows}
    assert by_name["sync/pass"].outcome is Outcome.PASSED
    assert by_name["sync/hang"].outcome is Outcome.MISSING
    assert by_name["(report)"].outcome is Outcome.ERROR
    assert "left no report" in by_name["(report)"].message
    _assert_gone(driver.parent / "hanging")


@pytest.mark.parametrize("damage", [b"", b"<testsuites><testsuite>", b"\0" * 100, b"<html/>", b"not XML"])
def test_a_damaged_report_is_seen_and_its_rows_are_not_lost(
    make_driver: MakeDriver, tmp_path: Path, damage: bytes
) -> None:
    plan = make_plan(make_driver("sync/pass"), tmp_path / "lane")
    run(plan)
    (plan.folder / "junit.xml").write_bytes(damage)
    rows = {row.name: row for row in rows_of(plan.folder, make_evidence(plan), ended=True)}
    assert rows["sync/pass"].outcome is Outcome.PASSED
    assert rows["(report)"].outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("script", "mode", "says"),
    [
        (
            "echo 'No module named pytest' >&2; exit 1",
            0o755,
            "the last thing it said: No module named pytest",
        ),
        ("exit 3", 0o755, "the runner left no report"),
        ("exit 0", 0o755, "the runner left no report"),
        ("exit 0", 0o644, "Permission denied"),
        (None, 0, "No such file or directory"),
    ],
)
def test_a_pytest_that_does_not_start_is_quoted(
    make_driver: MakeDriver,
    tmp_path: Path,
    script: str | None,
    mode: int,
    says: str,
) -> None:
    plan = make_plan(make_driver("sync/pass"), tmp_path / "lane")
    python = tmp_path / "python"
    if script is not None:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(mode)
    command = prepare(plan, keyword=None, workers=1)
    words = (str(python), *command.words[1:])
    run_watched(Command(words, command.environment), plan.folder, lambda: None)
    rows = {row.name: row for row in rows_of(plan.folder, make_evidence(plan), ended=True)}
    assert rows["sync/pass"].outcome is Outcome.MISSING
    assert rows["(report)"].outcome is Outcome.ERROR
    assert says in rows["(report)"].message


def test_results_of_an_earlier_run_are_not_taken_for_new(make_driver: MakeDriver, tmp_path: Path) -> None:
    plan = make_plan(make_driver("sync/pass"), tmp_path / "lane")
    run(plan)
    run(plan)
    lines = (plan.folder / RESULTS).read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["sync/pass"]


def _start(plan: LanePlan, script: str) -> subprocess.Popen[str]:
    (plan.folder / "in.json").write_text(plan.model_dump_json())
    # A test run in the background may have inherited that SIGINT is ignored.
    command = ["env", "--default-signal=INT", sys.executable, "-c", script, str(plan.folder / "in.json")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd())


def _wait_for(path: Path) -> None:
    for _ in range(1200):
        if path.exists() and path.read_text():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


def _assert_gone(path: Path) -> None:
    for pid in path.read_text().split():
        for _ in range(200):
            stat = Path(f"/proc/{pid}/stat")
            if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
                break
            time.sleep(0.05)
        else:
            raise AssertionError(f"process {pid} is still there")
