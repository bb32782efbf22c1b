"""Rows of a driver lane: what the runner saw, what is missing, and that its two files tell the same."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import junit
from harness.evidence.folders import JUNIT, RESULTS
from harness.evidence.model import CaseRecord, DeviceRecord, Evidence, HostRecord, NotRun, Revision, State
from harness.evidence.rows import CaseResult, Observed, Row
from harness.suites.driver.rows import rows_of
from harness.words import Backend, CopyMode, Execution, Outcome

if TYPE_CHECKING:
    from pathlib import Path

SAW = Observed(
    mode=CopyMode.SYNC,
    group="sweep",
    started=1.5,
    ended=2.25,
    exit_status=0,
    device=DeviceRecord(
        source="runtime", backend=Backend.CUDA, name="A card", arch="sm_86", pci="0000:01:00.0"
    ),
    memory_kind="page-locked",
    recorded_mode="sync",
    transactions=3,
    oracle_transactions=3,
)


def _evidence(**changes: object) -> Evidence:
    cases = [
        CaseRecord(name=name, mode=CopyMode.SYNC, group="sweep", execution=Execution.REAL, transactions=1)
        for name in ("sync/a", "sync/b")
    ]
    known = {
        "harness_version": "1",
        "run": "r",
        "target": "t",
        "suite": "s",
        "nonce": "n",
        "state": State.FINISHED,
        "revision": Revision(commit=None),
        "matrix_entry": "0" * 64,
        "host": HostRecord(system="", release="", machine="", python=""),
        "planned": cases,
        "started": dt.datetime.now(dt.UTC),
    }
    return Evidence.model_validate({**known, **changes})


def _leave(folder: Path, *results: CaseResult, reported: list[Row] | None = None) -> None:
    (folder / RESULTS).write_text("".join(f"{result.model_dump_json()}\n" for result in results))
    rows = [Row("t/s", r.name, r.outcome) for r in results] if reported is None else reported
    junit.write(junit.merged({"t/s": rows}, {}), folder / JUNIT)


def _result(name: str, outcome: Outcome = Outcome.PASSED, text: str = "") -> CaseResult:
    return CaseResult(name=name, outcome=outcome, seconds=0.5, text=text, observed=SAW)


def test_what_a_process_observed_reaches_the_row_as_it_was(tmp_path: Path) -> None:
    _leave(tmp_path, _result("sync/a"), _result("sync/b", Outcome.FAILED, "pos=0 differs\nmore"))
    first, second = rows_of(tmp_path, _evidence(), ended=True)
    assert first == Row("t/s", "sync/a", Outcome.PASSED, 0.5, observed=SAW)
    assert (second.outcome, second.message, second.text) == (
        Outcome.FAILED,
        "pos=0 differs",
        "pos=0 differs\nmore",
    )


def test_a_planned_case_without_a_result_is_missing(tmp_path: Path) -> None:
    _leave(tmp_path, _result("sync/b"))
    assert [(row.name, row.outcome) for row in rows_of(tmp_path, _evidence(), ended=True)] == [
        ("sync/a", Outcome.MISSING),
        ("sync/b", Outcome.PASSED),
    ]


def test_a_case_that_was_interrupted_has_not_passed(tmp_path: Path) -> None:
    """Pytest's own file has the case that was running when it was interrupted, without a failure."""
    running = [Row("t/s", "sync/a", Outcome.PASSED), Row("t/s", "sync/b", Outcome.PASSED)]
    _leave(tmp_path, _result("sync/a"), reported=running)
    rows = rows_of(tmp_path, _evidence(state=State.INTERRUPTED), ended=False)
    assert [row.outcome for row in rows] == [Outcome.PASSED, Outcome.MISSING]


def test_a_lane_that_left_nothing_is_not_green(tmp_path: Path) -> None:
    outcomes = [row.outcome for row in rows_of(tmp_path, _evidence(), ended=True)]
    assert outcomes == [Outcome.MISSING, Outcome.MISSING, Outcome.ERROR]


def test_a_lane_that_was_not_run_has_no_rows(tmp_path: Path) -> None:
    assert rows_of(tmp_path, _evidence(not_run=NotRun.NO_DEVICE, planned=()), ended=True) == ()


@pytest.mark.parametrize(
    ("reported", "says"),
    [
        (
            [Row("t/s", "sync/a", Outcome.PASSED), Row("t/s", "sync/b", Outcome.PASSED)],
            "junit.xml: sync/b passed, which the runner did not see",
        ),
        (
            [Row("t/s", "sync/a", Outcome.PASSED)],
            "junit.xml: sync/b failed, as the runner saw, is not in it",
        ),
        (
            [
                *(Row("t/s", "sync/a", Outcome.PASSED), Row("t/s", "sync/b", Outcome.FAILED)),
                Row("t/s", "sync/a", Outcome.PASSED),
            ],
            "junit.xml: sync/a passed, which the runner did not see",
        ),
    ],
)
def test_two_files_that_differ_are_an_error(tmp_path: Path, reported: list[Row], says: str) -> None:
    _leave(tmp_path, _result("sync/a"), _result("sync/b", Outcome.FAILED), reported=reported)
    rows = rows_of(tmp_path, _evidence(), ended=True)
    assert [row.outcome for row in rows] == [Outcome.PASSED, Outcome.FAILED, Outcome.ERROR]
    assert (rows[-1].name, rows[-1].message, rows[-1].synthetic) == ("(report)", says, True)


@given(cut=st.integers(min_value=0, max_value=5000), ended=st.booleans())
def test_results_that_were_cut_anywhere_lose_nothing_that_is_whole(
    tmp_path_factory: pytest.TempPathFactory, cut: int, ended: bool
) -> None:
    folder = tmp_path_factory.mktemp("lane")
    _leave(folder, _result("sync/a"), _result("sync/b"))
    whole = (folder / RESULTS).read_bytes()
    left = whole[: cut % len(whole)]
    (folder / RESULTS).write_bytes(left)
    rows = {row.name: row.outcome for row in rows_of(folder, _evidence(), ended=ended)}
    lines = left.splitlines()
    complete = [line for line in lines if line in whole.splitlines()]
    passed = [name for name in ("sync/a", "sync/b") if rows[name] is Outcome.PASSED]
    assert len(passed) == len(complete)
    assert ("(report)" in rows) == (ended and len(complete) < 2), "whoever came to the end left all of it"


@pytest.mark.parametrize(
    "line",
    [b"{}", b"null", b'{"name": "sync/b", "outcome": "fine", "seconds": 1}', b"\xff\xfe", b"[" * 5000],
)
def test_a_line_that_is_no_result_is_an_error_with_its_number(tmp_path: Path, line: bytes) -> None:
    _leave(tmp_path, _result("sync/a"), _result("sync/b"))
    whole = (tmp_path / RESULTS).read_bytes().splitlines(keepends=True)
    (tmp_path / RESULTS).write_bytes(whole[0] + line + b"\n" + whole[1])
    rows = {row.name: row for row in rows_of(tmp_path, _evidence(), ended=True)}
    assert rows["sync/a"].outcome is rows["sync/b"].outcome is Outcome.PASSED
    assert rows["(report)"].message.startswith("results.jsonl:2: not a result: ")
