"""Running the lanes of one session and saying what became of it: shared by nox and the command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from harness.errors import HarnessError
from harness.judge.policy import SessionResult, SessionState, decide
from harness.run.console import Console
from harness.run.executor import executor_of
from harness.system.machine import in_ci
from harness.system.process import terminate_as_interrupt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.judge.qualification import LaneQualification
    from harness.matrix.lanes import Lane
    from harness.run.conclusion import Conclusion
    from harness.run.options import Options


def run_session(
    conclusion: Conclusion, lanes: Sequence[Lane], options: Options, *, stream: TextIO | None = None
) -> SessionResult:
    """Run lanes one after the other; a lane that goes wrong never keeps the next from running.

    Raises KeyboardInterrupt after the interrupted lane has been recorded.
    """
    console = Console(stream or sys.stdout)
    judged: list[LaneQualification] = []
    problems: list[str] = []
    run = conclusion.run
    with terminate_as_interrupt():
        for lane in lanes:
            try:
                record = executor_of(lane).run(lane, run, options, console)
            except HarnessError as error:
                problems.append(f"{lane.id}: {error}")
                console.say(problems[-1])
                continue
            finally:
                console.end()
            judged.append(conclusion.judge(lane, record))
            console.say(_lane_line(judged[-1]))
    if problems:
        return SessionResult(SessionState.FAILED, "; ".join(problems))
    return decide(judged, may_be_missing=conclusion.matrix.ci.may_be_missing, ci=in_ci())


def _lane_line(lane: LaneQualification) -> str:
    counts = lane.counts
    ran = f", {counts.passed} of {counts.planned} cases passed" if counts.planned else ""
    why = f": {lane.reasons[0]}" if lane.reasons else ""
    return f"{lane.id}: {lane.verdict}{ran}{why}"
