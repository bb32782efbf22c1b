"""The truth table of a lane's verdict, held cell by cell to a second reading of docs/verdicts.md.

`expected` below is written from the page and not from the judge: sets and
membership instead of reasons and the worst of them.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from harness import claims
from harness.claims import Claim, claims_of
from harness.evidence.model import Finding, NotRun, State
from harness.evidence.store import LaneRecord
from harness.judge.verdicts import judge_lane
from harness.matrix.lanes import all_lanes
from harness.words import ClaimState, LaneVerdict, Outcome, Verdict
from tests.judge.records import CPU, MATRIX, NOW, REVISION, case, everything, evidence, judge, row, saw

if TYPE_CHECKING:
    from harness.matrix.model import Matrix

FAILING_OUTCOMES = {"failed", "error", "skipped"}
EXECUTED_OUTCOMES = {"passed", "failed", "error", "xfailed"}
BROKEN = {"build failed", "listing failed"}
EXITS = (None, 0, 1, 2, -9)

ROWS: list[tuple[Outcome, ...]] = [
    (),
    *((outcome,) for outcome in Outcome),
    *((Outcome.PASSED, outcome) for outcome in Outcome),
]
CHOICES: list[Finding | None] = [*Finding, None]


def expected(
    outcomes: tuple[Outcome, ...],
    finding: Finding | None,
    state: State,
    status: int | None,
    not_run: NotRun | None,
) -> LaneVerdict:
    """The first line of the page's table that applies; no skip is expected here."""
    said = {outcome.value for outcome in outcomes}
    explained = said & {"failed", "error"} or state == "interrupted"
    if (
        said & FAILING_OUTCOMES
        or finding == "denies"
        or (status not in (None, 0) and not explained)
        or not_run in BROKEN
    ):
        return LaneVerdict.FAILED
    if (
        not_run is not None
        or state != "finished"
        or status is None
        or not said & EXECUTED_OUTCOMES
        or "missing" in said
        or finding != "confirms"
    ):
        return LaneVerdict.INCOMPLETE
    return LaneVerdict.QUALIFIED


@pytest.mark.parametrize("outcomes", ROWS, ids=lambda outcomes: "+".join(outcomes) or "no row")
def test_every_cell_of_the_table(outcomes: tuple[Outcome, ...]) -> None:
    device = claims_of(CPU)[0]
    rest = tuple(o for o in everything(CPU) if (o.claim, o.witness) != (device.name, claims.RUNTIME))
    names = [f"sync/{letter}" for letter, _ in zip("ab", outcomes, strict=False)]
    rows = [row(outcome, name) for outcome, name in zip(outcomes, names, strict=True)]
    seen = set()
    for finding, state, status, not_run in product(CHOICES, State, EXITS, [None, *NotRun]):
        observed = rest if finding is None else (*rest, saw(device, claims.RUNTIME, finding))
        found = evidence(
            planned=tuple(case(name) for name in names),
            observations=observed,
            state=state,
            exit_status=status,
            not_run=not_run,
        )
        judged = judge_lane(CPU, LaneRecord(found, rows=rows), revision=REVISION, now=NOW)
        cell = (finding, state, status, not_run)
        assert judged.verdict is expected(outcomes, finding, state, status, not_run), cell
        assert all(judged.reasons), cell
        assert judged.reasons or judged.verdict is LaneVerdict.QUALIFIED, cell
        seen.add(judged.verdict)
    assert LaneVerdict.FAILED in seen


def test_the_table_holds_every_verdict_and_every_outcome() -> None:
    cells = [expected(*cell) for cell in product(ROWS, CHOICES, State, EXITS, [None, *NotRun])]
    assert set(cells) == set(LaneVerdict)
    assert {outcome for outcomes in ROWS for outcome in outcomes} == set(Outcome)


@pytest.mark.parametrize("claim", claims_of(CPU), ids=lambda claim: claim.name)
def test_a_claim_that_is_open_does_not_hide_behind_one_that_holds(claim: Claim) -> None:
    observed = tuple(o for o in everything(CPU) if (o.claim, o.subject) != (claim.name, claim.subject))
    revision = REVISION if claim.name != claims.FRESH else REVISION.model_copy(update={"commit": "c" * 40})
    found = evidence(observations=observed, revision=revision)
    judged = judge_lane(CPU, LaneRecord(found, rows=[row()]), revision=REVISION, now=NOW)
    assert judged.verdict is LaneVerdict.INCOMPLETE
    open_claims = [c.title for c in judged.claims if c.state is not ClaimState.ESTABLISHED]
    assert open_claims == [f"{claim.name} ({claim.subject})" if claim.subject else claim.name]


def overall_verdict(matrix: Matrix, records: dict[str, LaneRecord]) -> tuple[Verdict, tuple[str, ...]]:
    found = judge(matrix, records)
    return found.verdict, found.reasons


def only(*targets: str, required: bool = True) -> Matrix:
    """The matrix of the other tests with some of its targets, all of them required or none."""
    kept = {
        name: target.model_copy(update={"required": required})
        for name, target in MATRIX.targets.items()
        if name in targets
    }
    return MATRIX.model_copy(update={"targets": kept})


def test_an_optional_lane_is_reported_and_does_not_count() -> None:
    good = {"cpu/suite": LaneRecord(evidence(), rows=[row()])}
    matrix = only("cpu", "extra")
    extra = matrix.targets["extra"].model_copy(update={"required": False})
    matrix = matrix.model_copy(update={"targets": {**matrix.targets, "extra": extra}})
    broken = {**good, "extra/suite": LaneRecord(None, damage="damaged")}
    assert overall_verdict(matrix, good) == (Verdict.QUALIFIED, ())
    assert overall_verdict(matrix, broken) == (Verdict.QUALIFIED, ())


def test_a_matrix_without_a_required_lane_has_shown_nothing() -> None:
    matrix = only("cpu", required=False)
    lane = all_lanes(matrix)[0]
    good = {"cpu/suite": LaneRecord(evidence(lane), rows=[row()])}
    assert overall_verdict(matrix, good) == (Verdict.INCOMPLETE, ("the matrix has no required lane",))


def test_a_record_of_a_lane_that_the_matrix_does_not_have_does_not_count() -> None:
    records = {
        "cpu/suite": LaneRecord(evidence(), rows=[row()]),
        "gone/suite": LaneRecord(None, damage="damaged"),
    }
    assert overall_verdict(only("cpu"), records) == (Verdict.QUALIFIED, ())
