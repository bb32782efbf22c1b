"""What verdicts mean for whoever started a run: exit status and nox state, in one table.

Every caller asks here: the nox sessions, `harness run`, `harness report`,
`nox -s report` and the check that this project's CI makes of its own report.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from harness.evidence.model import NotRun
from harness.words import LaneVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.judge.qualification import LaneQualification


class SessionState(Enum):
    """What a session came to, in nox's words."""

    SUCCESS = "success"
    SKIPPED = "skipped"
    FAILED = "failed"


class Standing(Enum):
    """What a lane or a whole matrix came to as far as its caller is concerned, from best to worst."""

    QUALIFIED = "qualified"
    OPEN = "ran, and a claim is not established"
    EXCUSED = "not run, and nothing requires it here"
    INCOMPLETE = "something required was not run or is not established"
    NO_RESULT = "ran, and a case has no result or none was executed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Consequence:
    """What follows from a standing: the command's exit status, nox's state for a person and in CI."""

    exit_status: int
    here: SessionState
    in_ci: SessionState

    def state(self, *, ci: bool) -> SessionState:
        """Nox's state, in CI or for a person."""
        return self.in_ci if ci else self.here


POLICY = {
    Standing.QUALIFIED: Consequence(0, SessionState.SUCCESS, SessionState.SUCCESS),
    Standing.OPEN: Consequence(3, SessionState.SKIPPED, SessionState.SKIPPED),
    Standing.EXCUSED: Consequence(3, SessionState.SKIPPED, SessionState.SKIPPED),
    Standing.INCOMPLETE: Consequence(3, SessionState.SKIPPED, SessionState.FAILED),
    Standing.NO_RESULT: Consequence(3, SessionState.FAILED, SessionState.FAILED),
    Standing.FAILED: Consequence(1, SessionState.FAILED, SessionState.FAILED),
}

OF_MATRIX = {
    Verdict.QUALIFIED: Standing.QUALIFIED,
    Verdict.INCOMPLETE: Standing.INCOMPLETE,
    Verdict.NOT_QUALIFIED: Standing.FAILED,
}


def of_lane(lane: LaneQualification, may_be_missing: Sequence[str]) -> Standing:
    """The standing of a lane; `may_be_missing` names the targets whose device a CI machine may lack."""
    match lane.verdict:
        case LaneVerdict.FAILED:
            return Standing.FAILED
        case LaneVerdict.QUALIFIED:
            return Standing.QUALIFIED
        case LaneVerdict.INCOMPLETE if lane.not_run is None:
            unanswered = lane.counts.missing > 0 or lane.counts.executed == 0
            return Standing.NO_RESULT if unanswered else Standing.OPEN
        case LaneVerdict.INCOMPLETE:
            # What a CI machine may lack is a device; a compiler it can install.
            excused = lane.not_run is NotRun.NO_DEVICE and lane.target in may_be_missing
            wanted = lane.required and lane.not_run is not NotRun.BUILD_ONLY
            return Standing.INCOMPLETE if wanted and not excused else Standing.EXCUSED


def worst(standings: Iterable[Standing]) -> Standing:
    """The worst of some standings; none at all have shown nothing: INCOMPLETE."""
    order = list(Standing)
    return max(standings, key=order.index, default=Standing.INCOMPLETE)


@dataclass(frozen=True, slots=True)
class SessionResult:
    """A session's state and the one line that explains it."""

    state: SessionState
    text: str


def decide(lanes: Sequence[LaneQualification], *, may_be_missing: Sequence[str], ci: bool) -> SessionResult:
    """Map the lanes of a session to one of nox's three states; the line names the lanes that led to it."""
    standings = [of_lane(lane, may_be_missing) for lane in lanes]
    state = POLICY[worst(standings)].state(ci=ci)
    told = [
        _short(lane, standing, ci=ci)
        for lane, standing in zip(lanes, standings, strict=True)
        if POLICY[standing].state(ci=ci) is state
    ]
    return SessionResult(state, "; ".join(told))


def _short(lane: LaneQualification, standing: Standing, *, ci: bool) -> str:
    if standing is Standing.QUALIFIED:
        return f"{lane.id} {lane.verdict}"
    hint = f" [{lane.hint}]" if lane.hint else ""
    consequence = POLICY[standing]
    note = ""
    if ci and consequence.in_ci is not consequence.here:
        note = "; CI is set and ci.may_be_missing in the matrix does not excuse it"
    return f"{lane.id}: {lane.reasons[0] if lane.reasons else lane.verdict}{hint}{note}"
