"""The verdict of a lane: the rules of docs/verdicts.md, as a table and as laws that hold for everything."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import claims
from harness.claims import Claim, claims_of
from harness.evidence.model import Evidence, Finding, NotRun, Observation, Revision, State
from harness.evidence.rows import FAILING, Row
from harness.evidence.store import LaneRecord
from harness.judge.verdicts import judge_lane, overall
from harness.judge.weigh import decide
from harness.matrix.model import ExpectedSkip
from harness.words import ClaimState, Execution, LaneVerdict, Outcome, Verdict
from tests.judge.records import (
    CPU,
    GPU,
    MATRIX,
    NOW,
    REVISION,
    case,
    everything,
    evidence,
    judge,
    row,
    saw,
    verdict,
)


def test_a_lane_that_showed_everything_is_qualified() -> None:
    assert verdict(LaneRecord(evidence(), rows=[row()])) == (LaneVerdict.QUALIFIED, "")
    gpu = replace(row(), lane="gpu/suite")
    assert verdict(LaneRecord(evidence(GPU), rows=[gpu]), GPU) == (LaneVerdict.QUALIFIED, "")


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.PASSED, LaneVerdict.QUALIFIED),
        (Outcome.XFAILED, LaneVerdict.QUALIFIED),
        (Outcome.FAILED, LaneVerdict.FAILED),
        (Outcome.ERROR, LaneVerdict.FAILED),
        (Outcome.SKIPPED, LaneVerdict.FAILED),
        (Outcome.MISSING, LaneVerdict.INCOMPLETE),
    ],
)
def test_each_outcome_beside_a_passed_row(outcome: Outcome, expected: LaneVerdict) -> None:
    planned = (case(), case("sync/b"))
    record = LaneRecord(evidence(planned=planned), rows=[row(), row(outcome, "sync/b")])
    assert verdict(record)[0] is expected


def test_the_table_of_outcomes_has_every_outcome() -> None:
    marks = [
        mark
        for mark in getattr(test_each_outcome_beside_a_passed_row, "pytestmark", [])
        if mark.name == "parametrize"
    ]
    assert {entry[0] for entry in marks[0].args[1]} == set(Outcome)


@pytest.mark.parametrize(
    ("changes", "rows", "expected", "says"),
    [
        ({"exit_status": 1}, [row()], LaneVerdict.FAILED, "exited with 1 although no row failed"),
        ({"exit_status": -9}, [row()], LaneVerdict.FAILED, "ended by signal 9 although no row failed"),
        ({"exit_status": 0}, [row(Outcome.FAILED)], LaneVerdict.FAILED, "failed said so"),
        ({"state": State.RUNNING, "exit_status": None}, [row()], LaneVerdict.INCOMPLETE, "the lane died"),
        ({"state": State.INTERRUPTED, "exit_status": 2}, [row()], LaneVerdict.INCOMPLETE, "interrupted"),
        ({"selection": ("-k x",)}, [row()], LaneVerdict.INCOMPLETE, "only a part was selected: -k x"),
        ({"planned": ()}, [], LaneVerdict.INCOMPLETE, "no case was executed"),
        ({}, [row(), row(name="sync/other")], LaneVerdict.FAILED, "not planned: sync/other"),
        ({"not_run": NotRun.NO_DEVICE, "reason": "no device"}, [], LaneVerdict.INCOMPLETE, "no device"),
        ({"not_run": NotRun.NO_TOOLCHAIN, "reason": "none"}, [], LaneVerdict.INCOMPLETE, "none"),
        ({"not_run": NotRun.BUILD_ONLY, "reason": "asked"}, [], LaneVerdict.INCOMPLETE, "asked"),
        ({"not_run": NotRun.BUILD_FAILED, "reason": "error"}, [], LaneVerdict.FAILED, "error"),
        ({"not_run": NotRun.LISTING_FAILED, "reason": "crash"}, [], LaneVerdict.FAILED, "crash"),
        (
            {"revision": Revision(commit="c" * 40)},
            [row()],
            LaneVerdict.INCOMPLETE,
            "which is not aaaaaaaaaaaa",
        ),
        (
            {"revision": Revision(commit=None, reason="x")},
            [row()],
            LaneVerdict.INCOMPLETE,
            "fresh not established",
        ),
    ],
)
def test_each_way_to_run(changes: dict[str, Any], rows: list[Row], expected: LaneVerdict, says: str) -> None:
    found, reason = verdict(LaneRecord(evidence(**changes), rows=rows))
    assert found is expected
    assert says in reason


def test_damaged_evidence_is_a_failure_and_no_record_is_not() -> None:
    assert verdict(LaneRecord(None, damage="evidence.json: damaged")) == (
        LaneVerdict.FAILED,
        "evidence.json: damaged",
    )
    assert verdict(None) == (LaneVerdict.INCOMPLETE, "not selected in this run")


@pytest.mark.parametrize("claim", claims_of(GPU), ids=lambda claim: f"{claim.name}-{claim.subject}")
@pytest.mark.parametrize("finding", [Finding.DENIES, Finding.SILENT])
def test_every_witness_of_every_claim_counts(claim: Claim, finding: Finding) -> None:
    if claim.name == claims.FRESH:
        return
    expected = LaneVerdict.FAILED if finding is Finding.DENIES else LaneVerdict.INCOMPLETE
    for witness in claim.witnesses:
        observations = tuple(
            o
            for o in everything(GPU)
            if (o.claim, o.subject, o.witness) != (claim.name, claim.subject, witness)
        )
        rows = [replace(row(), lane="gpu/suite")]
        absent = verdict(LaneRecord(evidence(GPU, observations=observations), rows=rows), GPU)
        assert absent[0] is LaneVerdict.INCOMPLETE
        said = (*observations, saw(claim, witness, finding))
        found, reason = verdict(LaneRecord(evidence(GPU, observations=said), rows=rows), GPU)
        assert found is expected
        assert claim.name in reason


def test_the_table_of_findings_is_total() -> None:
    """A claim with two witnesses: contradicted by any denial, else open by any silence."""
    claim = Claim("claim", ("first", "second"))
    choices: list[Finding | None] = [*Finding, None]
    for first, second in product(choices, choices):
        said = [
            Observation(claim="claim", witness=witness, finding=finding, text="x")
            for witness, finding in (("first", first), ("second", second))
            if finding is not None
        ]
        if Finding.DENIES in (first, second):
            expected = ClaimState.CONTRADICTED
        elif first is second is Finding.CONFIRMS:
            expected = ClaimState.ESTABLISHED
        else:
            expected = ClaimState.NOT_ESTABLISHED
        assert decide(claim, said).state is expected


@pytest.mark.parametrize(
    ("count", "state"),
    [(9, ClaimState.NOT_ESTABLISHED), (10, ClaimState.ESTABLISHED), (11, ClaimState.CONTRADICTED)],
)
def test_a_count_must_be_exactly_the_one_of_the_matrix(count: int, state: ClaimState) -> None:
    claim = Claim(claims.COVERAGE, (claims.DRIVER, claims.ORACLE), subject="sync", least=10)
    said = [saw(claim, claims.DRIVER), saw(claim, claims.ORACLE, value=count)]
    assert decide(claim, said).state is state


def test_what_is_said_of_another_subject_does_not_count() -> None:
    claim = Claim(claims.COVERAGE, (claims.DRIVER,), subject="sync", least=10)
    other = Claim(claims.COVERAGE, (claims.DRIVER,), subject="async", least=10)
    assert decide(claim, [saw(other, claims.DRIVER)]).state is ClaimState.NOT_ESTABLISHED


def test_an_emulated_device_establishes_nothing() -> None:
    judged = judge_lane(
        GPU,
        LaneRecord(evidence(GPU, execution=Execution.EMULATED), rows=[replace(row(), lane="gpu/suite")]),
        revision=REVISION,
        now=NOW,
    )
    assert judged.verdict is LaneVerdict.INCOMPLETE
    assert not [claim for claim in judged.claims if claim.state is ClaimState.ESTABLISHED]


def _skip(**changes: object) -> ExpectedSkip:
    known = {"lane": "*/suite", "case": "sync/b", "reason": "needs HIP"}
    return ExpectedSkip.model_validate({**known, **changes})


@pytest.mark.parametrize(
    ("skip", "expected", "says"),
    [
        (_skip(), LaneVerdict.QUALIFIED, ""),
        (_skip(until=NOW.date()), LaneVerdict.QUALIFIED, ""),
        (_skip(until=NOW.date() - dt.timedelta(days=1)), LaneVerdict.FAILED, "expected until 2026-11-30"),
        (_skip(lane="gpu/*"), LaneVerdict.FAILED, "1 unexpected skip(s), first sync/b"),
        (_skip(case="sync/c"), LaneVerdict.FAILED, "1 unexpected skip(s), first sync/b"),
    ],
)
def test_a_skip_is_expected_only_for_its_lane_case_and_time(
    skip: ExpectedSkip, expected: LaneVerdict, says: str
) -> None:
    planned = (case(), case("sync/b"))
    rows = [row(), row(Outcome.SKIPPED, "sync/b")]
    found, reason = verdict(LaneRecord(evidence(planned=planned), rows=rows), skips=(skip,))
    assert found is expected
    assert says in reason


def test_an_expected_skip_that_ran_is_reported() -> None:
    planned = (case(), case("sync/b"))
    rows = [row(), row(name="sync/b")]
    found, reason = verdict(LaneRecord(evidence(planned=planned), rows=rows), skips=(_skip(),))
    assert found is LaneVerdict.QUALIFIED
    assert reason == "sync/b ran although a skip was expected (needs HIP)"


def test_a_lane_in_which_everything_skipped_as_expected_is_not_green() -> None:
    record = LaneRecord(evidence(), rows=[row(Outcome.SKIPPED)])
    assert verdict(record, skips=(_skip(case="*"),)) == (LaneVerdict.INCOMPLETE, "no case was executed")


def test_the_overall_verdict_is_a_table_of_required_lanes() -> None:
    record = {v: judge_lane(CPU, _record(v), revision=REVISION, now=NOW) for v in LaneVerdict}
    assert all(lane.verdict is v for v, lane in record.items())
    for first, second in product(LaneVerdict, LaneVerdict):
        lanes = [record[first], record[second]]
        if LaneVerdict.FAILED in (first, second):
            assert overall(lanes) is Verdict.NOT_QUALIFIED
        elif LaneVerdict.INCOMPLETE in (first, second):
            assert overall(lanes) is Verdict.INCOMPLETE
        else:
            assert overall(lanes) is Verdict.QUALIFIED
        optional = [lane.model_copy(update={"required": False}) for lane in lanes]
        assert overall(optional) is Verdict.INCOMPLETE, "no required lane has shown nothing"
        assert overall([*optional, record[LaneVerdict.QUALIFIED]]) is Verdict.QUALIFIED


def _record(wanted: LaneVerdict) -> LaneRecord | None:
    if wanted is LaneVerdict.INCOMPLETE:
        return None
    return LaneRecord(
        evidence(), rows=[row(Outcome.FAILED if wanted is LaneVerdict.FAILED else Outcome.PASSED)]
    )


def test_the_reasons_of_the_whole_name_the_lanes() -> None:
    q = judge(MATRIX, {})
    assert q.verdict is Verdict.INCOMPLETE
    assert q.reasons == tuple(f"{name}/suite: not selected in this run" for name in ("cpu", "gpu", "amd"))


names = st.sampled_from(["sync/a", "sync/b", "sync/c"])
some_rows = st.lists(st.builds(row, st.sampled_from(Outcome), names), max_size=4)
some_observations = st.lists(
    st.builds(
        Observation,
        claim=st.sampled_from([claims.DEVICE, claims.NATIVE_CODE, claims.SANITIZER, claims.COVERAGE]),
        subject=st.sampled_from(["", "sync", "address"]),
        witness=st.sampled_from([claims.RUNTIME, claims.SYSTEM, claims.BINARY, claims.CENSUS, claims.DRIVER]),
        finding=st.sampled_from(Finding),
        text=st.just("x"),
        value=st.none() | st.integers(0, 20),
    ),
    max_size=6,
).map(tuple)
some_evidence = st.builds(
    evidence,
    state=st.sampled_from(State),
    planned=st.lists(st.builds(case, names), max_size=3, unique_by=lambda c: c.name).map(tuple),
    observations=some_observations | st.just(everything(CPU)),
    exit_status=st.sampled_from([None, 0, 1, 2, 5, -9]),
    not_run=st.none() | st.sampled_from(NotRun),
    selection=st.sampled_from([(), ("-k x",)]),
    execution=st.sampled_from(Execution),
)

_RANK = {LaneVerdict.QUALIFIED: 0, LaneVerdict.INCOMPLETE: 1, LaneVerdict.FAILED: 2}


@given(some_evidence, some_rows)
def test_judging_never_fails_and_always_says_why(found: Evidence, rows: list[Row]) -> None:
    judged = judge_lane(CPU, LaneRecord(found, rows=rows), revision=REVISION, now=NOW)
    if judged.verdict is not LaneVerdict.QUALIFIED:
        assert judged.reasons
        assert all(reason is not None for reason in judged.reasons)
    if any(r.outcome in FAILING for r in rows):
        assert judged.verdict is LaneVerdict.FAILED
    if judged.verdict is LaneVerdict.QUALIFIED:
        assert judged.counts.executed > 0
        assert all(claim.state is ClaimState.ESTABLISHED for claim in judged.claims)
    assert sum(getattr(judged.counts, outcome.value) for outcome in Outcome) == len(rows)


@given(some_evidence, some_rows, st.sampled_from(sorted(FAILING)))
def test_a_failing_row_never_makes_a_verdict_better(
    found: Evidence, rows: list[Row], outcome: Outcome
) -> None:
    before = verdict(LaneRecord(found, rows=rows))[0]
    after = verdict(LaneRecord(found, rows=[*rows, row(outcome)]))[0]
    assert _RANK[after] >= _RANK[before]


@given(some_evidence, some_rows, some_observations)
def test_a_witness_that_does_not_confirm_never_makes_a_verdict_better(
    found: Evidence, rows: list[Row], more: tuple[Observation, ...]
) -> None:
    doubts = tuple(o for o in more if o.finding is not Finding.CONFIRMS)
    before = verdict(LaneRecord(found, rows=rows))[0]
    worse = found.model_copy(update={"observations": (*found.observations, *doubts)})
    assert _RANK[verdict(LaneRecord(worse, rows=rows))[0]] >= _RANK[before]
