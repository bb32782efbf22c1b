"""Running the lanes of one session and saying what became of it: shared by nox and the command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from harness.errors import HarnessError
from harness.judge.policy import SessionResult, SessionState, decide
from harness.judge.verdicts import LaneRecord, judge_lane
from harness.junit import lane_rows
from harness.run.console import Console
from harness.run.lane import run_lane
from harness.system.process import terminate_as_interrupt

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from harness.evidence.folders import Run
    from harness.evidence.model import Revision
    from harness.judge.qualification import LaneQualification
    from harness.matrix.lanes import Lane
    from harness.matrix.model import Matrix
    from harness.run.options import Options


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
    console = Console(stream or sys.stdout)
    judged: list[LaneQualification] = []
    problems: list[str] = []
    with terminate_as_interrupt():
        for lane in lanes:
            try:
                found = run_lane(lane, run, revision, options, console)
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


def _lane_line(lane: LaneQualification) -> str:
    counts = lane.counts
    ran = f", {counts.passed} of {counts.planned} cases passed" if counts.planned else ""
    why = f": {lane.reasons[0]}" if lane.reasons else ""
    return f"{lane.id}: {lane.verdict}{ran}{why}"
