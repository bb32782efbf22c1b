"""What the verdicts of a session's lanes mean for whoever started it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from harness.evidence.model import NotRun
from harness.words import LaneVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.judge.qualification import LaneQualification


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
