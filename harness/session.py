"""Running the lanes of one session and saying what became of it: shared by nox and the command."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TextIO

from harness.errors import HarnessError
from harness.evidence import NotRun
from harness.judge import LaneRecord, judge_lane
from harness.junit import lane_rows
from harness.lane import Console, Options, run_lane
from harness.process import terminate_as_interrupt
from harness.words import LaneVerdict

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from harness.evidence import Revision
    from harness.matrix import Matrix
    from harness.plan import Lane
    from harness.qualification import LaneQualification
    from harness.run.local import Progress
    from harness.runs import Run


class SessionState(Enum):
    """What a session came to, in nox's words."""

    SUCCESS = "success"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SessionResult:
    """A session's state and the one line that explains it."""

    state: SessionState
    text: str


def run_session(
    matrix: Matrix,
    lanes: Sequence[Lane],
    run: Run,
    revision: Revision,
    options: Options,
    *,
    now: dt.datetime,
    stream: TextIO | None = None,
) -> SessionResult:
    """Run lanes one after the other; a lane that goes wrong never keeps the next from running.

    Raises KeyboardInterrupt after the interrupted lane has been recorded.
    """
    console = _Terminal(stream or sys.stdout)
    judged: list[LaneQualification] = []
    problems: list[str] = []
    with terminate_as_interrupt():
        for lane in lanes:
            try:
                found = run_lane(lane, run, revision, options, Console(console.say, console.progress))
            except HarnessError as error:
                problems.append(f"{lane.id}: {error}")
                console.say(problems[-1])
                continue
            finally:
                console.end()
            folder = run.lane_folder(lane.id)
            record = LaneRecord(found, rows=lane_rows(folder, found))
            judged.append(judge_lane(lane, record, matrix.expected_skips, revision=revision, now=now))
            console.say(_lane_line(judged[-1]))
    if problems:
        return SessionResult(SessionState.FAILED, "; ".join(problems))
    return decide(judged, may_be_missing=matrix.ci.may_be_missing, ci=in_ci())


def in_ci() -> bool:
    """The environment variable CI is set to something that does not mean no."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false", "no")


def decide(lanes: Sequence[LaneQualification], *, may_be_missing: Sequence[str], ci: bool) -> SessionResult:
    """Map the lanes of a session to one of nox's three states.

    A failed lane fails the session, and so does a lane that ran and left
    cases without a result or executed none.  A lane that could not be run
    here, or whose claims are not established, is yellow; with `ci`, a required
    one that was not run is an error unless its target is named.
    """
    failed = [lane for lane in lanes if _fails(lane, may_be_missing, ci=ci)]
    if failed:
        return SessionResult(SessionState.FAILED, "; ".join(_short(lane, ci=ci) for lane in failed))
    open_lanes = [lane for lane in lanes if lane.verdict is not LaneVerdict.QUALIFIED]
    if open_lanes:
        return SessionResult(SessionState.SKIPPED, "; ".join(_short(lane, ci=False) for lane in open_lanes))
    return SessionResult(SessionState.SUCCESS, "; ".join(f"{lane.id} {lane.verdict}" for lane in lanes))


def _fails(lane: LaneQualification, may_be_missing: Sequence[str], *, ci: bool) -> bool:
    if lane.verdict is LaneVerdict.FAILED:
        return True
    if lane.verdict is LaneVerdict.QUALIFIED or lane.not_run is NotRun.BUILD_ONLY:
        return False
    if lane.not_run is not None:
        # What a CI machine may lack is a device; a compiler it can install.
        excused = lane.target in may_be_missing and lane.not_run is NotRun.NO_DEVICE
        return ci and lane.required and not excused
    return lane.counts.missing > 0 or lane.counts.executed == 0


def _short(lane: LaneQualification, *, ci: bool) -> str:
    hint = f" [{lane.hint}]" if lane.hint else ""
    note = ""
    if ci and lane.not_run is not None and lane.verdict is LaneVerdict.INCOMPLETE:
        note = "; CI is set and ci.may_be_missing in the matrix does not excuse it"
    return f"{lane.id}: {lane.reasons[0] if lane.reasons else lane.verdict}{hint}{note}"


def _lane_line(lane: LaneQualification) -> str:
    counts = lane.counts
    ran = f", {counts.passed} of {counts.planned} cases passed" if counts.planned else ""
    why = f": {lane.reasons[0]}" if lane.reasons else ""
    return f"{lane.id}: {lane.verdict}{ran}{why}"


class _Terminal:
    """Progress for people: one line that renews itself on a terminal, plain lines now and then elsewhere."""

    _EVERY_S = 15.0
    _MOST_FAILURES = 5

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._shown = ""
        self._last = time.monotonic()
        self._failures = 0

    def say(self, text: str) -> None:
        self.end()
        self._write(f"{text}\n")

    def progress(self, lane: str, progress: Progress) -> None:
        if progress.last_failure:
            self._failures += 1
            if self._failures <= self._MOST_FAILURES:
                self.say(f"{lane}: FAILED {progress.last_failure}")
            elif self._failures == self._MOST_FAILURES + 1:
                self.say(f"{lane}: further failures are in the report")
        failed = f", {progress.failed} failed" if progress.failed else ""
        text = f"{lane}: {progress.done}/{progress.total} cases{failed}, {progress.seconds:.0f} s"
        if self._live:
            if text != self._shown:
                self._write(f"\r\x1b[K{text}")
                self._shown = text
        elif time.monotonic() - self._last > self._EVERY_S:
            self._last = time.monotonic()
            self._write(f"{text}\n")

    def end(self) -> None:
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
