"""What a record must hold to be believed: each way in which something could pass that was not shown."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness import claims
from harness.claims import claims_of
from harness.evidence.model import Evidence, Finding, NotRun, Revision, State
from harness.evidence.store import LaneRecord
from harness.judge.verdicts import judge_lane
from harness.judge.weigh import claims_of_evidence
from harness.matrix.model import ExpectedSkip
from harness.words import ClaimState, Execution, LaneVerdict, Outcome
from tests.judge.records import AMD, CPU, GPU, NOW, REVISION, case, everything, evidence, row, saw, verdict

if TYPE_CHECKING:
    from harness.matrix.lanes import Lane


def state_of(lane: Lane, found: Evidence, claim: str) -> tuple[ClaimState, str]:
    decided = next(c for c in claims_of_evidence(lane, found, REVISION) if c.claim == claim)
    return decided.state, decided.reason


def test_a_planned_case_without_a_row_is_missing_even_if_the_merge_says_nothing() -> None:
    planned = (case(), case("sync/b"))
    assert verdict(LaneRecord(evidence(planned=planned), rows=[row()])) == (
        LaneVerdict.INCOMPLETE,
        "1 of 2 planned cases have no result, first sync/b",
    )


def test_a_row_without_any_plan_is_no_result() -> None:
    found, reason = verdict(LaneRecord(evidence(planned=()), rows=[row()]))
    assert found is LaneVerdict.FAILED
    assert reason == "a result for a case that was not planned: sync/a"


def test_a_row_that_the_merge_made_is_not_called_unplanned() -> None:
    made = replace(row(Outcome.ERROR, "(report)"), synthetic=True)
    judged = judge_lane(CPU, LaneRecord(evidence(), rows=[row(), made]), revision=REVISION, now=NOW)
    assert judged.verdict is LaneVerdict.FAILED
    assert not [reason for reason in judged.reasons if "not planned" in reason]


def test_a_lane_whose_runner_left_no_exit_status_is_not_green() -> None:
    assert verdict(LaneRecord(evidence(exit_status=None), rows=[row()])) == (
        LaneVerdict.INCOMPLETE,
        "how its runner ended was not recorded",
    )


def test_a_dead_lane_says_first_that_it_died() -> None:
    planned = (case(), case("sync/b"))
    record = LaneRecord(evidence(state=State.RUNNING, exit_status=None, planned=planned), rows=[row()])
    judged = judge_lane(CPU, record, revision=REVISION, now=NOW)
    assert judged.verdict is LaneVerdict.INCOMPLETE
    assert judged.reasons[:2] == (
        "the lane died: its evidence was never completed",
        "1 of 2 planned cases have no result, first sync/b",
    )


def test_a_case_that_failed_before_its_lane_died_is_a_failure() -> None:
    record = LaneRecord(evidence(state=State.RUNNING, exit_status=None), rows=[row(Outcome.FAILED)])
    assert verdict(record)[0] is LaneVerdict.FAILED


def test_an_empty_lane_is_not_green() -> None:
    found = evidence(planned=(), observations=(), exit_status=0)
    assert verdict(LaneRecord(found)) == (LaneVerdict.INCOMPLETE, "no case was executed")


def test_damage_without_a_word_still_has_a_reason() -> None:
    assert verdict(LaneRecord(None)) == (LaneVerdict.FAILED, "its evidence cannot be read")
    assert verdict(LaneRecord(evidence(), rows=[row()], damage="a file is gone")) == (
        LaneVerdict.FAILED,
        "a file is gone",
    )


def test_the_evidence_of_another_lane_is_no_evidence() -> None:
    found, reason = verdict(LaneRecord(evidence(GPU), rows=[row()]), CPU)
    assert found is LaneVerdict.FAILED
    assert reason == "the evidence in its folder is that of gpu/suite"


@pytest.mark.parametrize("not_run", NotRun)
def test_a_lane_that_was_not_run_has_a_reason_even_if_none_was_written(not_run: NotRun) -> None:
    found, reason = verdict(LaneRecord(evidence(not_run=not_run)))
    assert found is not LaneVerdict.QUALIFIED
    assert reason == not_run


def test_a_contradiction_counts_in_a_lane_that_was_not_run() -> None:
    native = claims_of(GPU)[1]
    seen = (saw(native, claims.BINARY, Finding.DENIES),)
    record = LaneRecord(evidence(GPU, not_run=NotRun.NO_DEVICE, reason="none", planned=(), observations=seen))
    found, reason = verdict(record, GPU)
    assert found is LaneVerdict.FAILED
    assert reason == "native code contradicted: code objects in the binary: denies"


def test_what_is_open_in_a_lane_that_was_not_run_is_said_once() -> None:
    record = LaneRecord(evidence(GPU, not_run=NotRun.NO_DEVICE, reason="none", planned=(), observations=()))
    judged = judge_lane(GPU, record, revision=REVISION, now=NOW)
    assert judged.reasons == ("none",)
    states = {claim.claim: claim.state for claim in judged.claims}
    assert states.pop(claims.FRESH) is ClaimState.ESTABLISHED
    assert set(states.values()) == {ClaimState.NOT_ESTABLISHED}


@pytest.mark.parametrize(
    ("collected", "says"),
    [
        (Revision(commit="c" * 40), "collected on cccccccccccc, which is not aaaaaaaaaaaa"),
        (REVISION.model_copy(update={"dirty": True, "difference": "d" * 64}), "which is not aaaaaaaaaaaa"),
        (Revision(commit=None, reason="no git"), "which is not aaaaaaaaaaaa"),
    ],
)
def test_evidence_of_another_revision_is_not_fresh(collected: Revision, says: str) -> None:
    state, reason = state_of(CPU, evidence(revision=collected), claims.FRESH)
    assert state is ClaimState.NOT_ESTABLISHED
    assert says in reason


@pytest.mark.parametrize(
    ("revision", "state"),
    [
        (REVISION, ClaimState.ESTABLISHED),
        (Revision(commit=None, difference="d" * 64, reason="no git"), ClaimState.ESTABLISHED),
        (Revision(commit=None, reason="no git"), ClaimState.NOT_ESTABLISHED),
        (Revision(commit="a" * 40, dirty=True, difference="d" * 64), ClaimState.ESTABLISHED),
        (Revision(commit="a" * 40, dirty=True), ClaimState.NOT_ESTABLISHED),
    ],
)
def test_a_revision_must_be_known_to_be_the_same(revision: Revision, state: ClaimState) -> None:
    decided = claims_of_evidence(CPU, evidence(revision=revision), revision)
    assert next(c.state for c in decided if c.claim == claims.FRESH) is state


INPUTS = {f"kernels/{name}.cpp": "e" * 64 for name in "abcdefg"}


@pytest.mark.parametrize(
    ("differing", "state", "says"),
    [
        (
            (),
            ClaimState.ESTABLISHED,
            "collected on cccccccccccc; all 7 input files are the same in aaaaaaaaaaaa",
        ),
        (
            ("kernels/a.cpp",),
            ClaimState.NOT_ESTABLISHED,
            "which is not aaaaaaaaaaaa: 1 of 7 input files differ: kernels/a.cpp",
        ),
        (
            tuple(INPUTS),
            ClaimState.NOT_ESTABLISHED,
            "7 of 7 input files differ: kernels/a.cpp, kernels/b.cpp, kernels/c.cpp, kernels/d.cpp, "
            "kernels/e.cpp and 2 more",
        ),
        (None, ClaimState.NOT_ESTABLISHED, "collected on cccccccccccc, which is not aaaaaaaaaaaa"),
    ],
)
def test_equal_inputs_are_as_good_as_the_same_commit(
    differing: tuple[str, ...] | None, state: ClaimState, says: str
) -> None:
    found = evidence(revision=Revision(commit="c" * 40), inputs=INPUTS)
    decided = claims_of_evidence(CPU, found, REVISION, differing)
    fresh = next(c for c in decided if c.claim == claims.FRESH)
    assert fresh.state is state
    assert says in fresh.reason


def test_evidence_without_inputs_is_not_fresh_because_none_differs() -> None:
    found = evidence(revision=Revision(commit="c" * 40))
    decided = claims_of_evidence(CPU, found, REVISION, ())
    assert next(c.state for c in decided if c.claim == claims.FRESH) is ClaimState.NOT_ESTABLISHED


def test_a_tree_that_changed_while_the_lane_ran_is_no_revision() -> None:
    found = evidence(changed_meanwhile=("kernels/a.cpp",), inputs=INPUTS)
    for differing in (None, ()):
        decided = claims_of_evidence(CPU, found, REVISION, differing)
        fresh = next(c for c in decided if c.claim == claims.FRESH)
        assert fresh.state is ClaimState.NOT_ESTABLISHED
        assert "the tree changed while the lane ran: kernels/a.cpp" in fresh.reason


def test_evidence_under_another_declaration_is_not_fresh() -> None:
    """Somebody changes the architecture in the matrix and has the last run judged again."""
    changed = replace(GPU, target=GPU.target.model_copy(update={"arch": "sm_90"}))
    record = LaneRecord(evidence(GPU), rows=[replace(row(), lane="gpu/suite")])
    assert verdict(record, GPU)[0] is LaneVerdict.QUALIFIED
    found, reason = verdict(record, changed)
    assert found is LaneVerdict.INCOMPLETE
    assert "under another declaration of this target or suite" in reason


def test_an_imitation_on_a_gpu_lane_establishes_nothing() -> None:
    imitated = tuple(o.model_copy(update={"execution": Execution.EMULATED}) for o in everything(GPU))
    decided = claims_of_evidence(GPU, evidence(GPU, observations=imitated), REVISION)
    assert [c.claim for c in decided if c.state is ClaimState.ESTABLISHED] == [claims.FRESH]


def test_an_imitated_stream_on_a_cpu_lane_is_what_that_lane_is_for() -> None:
    imitated = tuple(
        o.model_copy(update={"execution": Execution.EMULATED}) if o.claim == claims.COVERAGE else o
        for o in everything(CPU)
    )
    decided = claims_of_evidence(CPU, evidence(observations=imitated), REVISION)
    assert all(c.state is ClaimState.ESTABLISHED for c in decided)


def test_a_denial_by_an_imitation_keeps_its_weight() -> None:
    device = claims_of(GPU)[0]
    denial = saw(device, claims.RUNTIME, Finding.DENIES).model_copy(update={"execution": Execution.EMULATED})
    found = evidence(GPU, observations=(*everything(GPU), denial))
    assert state_of(GPU, found, claims.DEVICE)[0] is ClaimState.CONTRADICTED


@pytest.mark.parametrize("name", ["HSA_OVERRIDE_GFX_VERSION", "HSA_OVERRIDE_GFX_VERSION_0"])
def test_an_overridden_architecture_is_not_believed(name: str) -> None:
    found = evidence(AMD, environment={name: "11.5.1"})
    assert state_of(AMD, evidence(AMD), claims.DEVICE)[0] is ClaimState.ESTABLISHED
    state, reason = state_of(AMD, found, claims.DEVICE)
    assert state is ClaimState.NOT_ESTABLISHED
    assert f"{name} was set to '11.5.1'" in reason
    other = evidence(GPU, environment={name: "11.5.1"})
    assert state_of(GPU, other, claims.DEVICE)[0] is ClaimState.ESTABLISHED


EXPECTED = ExpectedSkip(lane="*", case="sync/b", reason="needs HIP")


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.XFAILED])
def test_an_expected_skip_that_ran_in_any_way_is_reported(outcome: Outcome) -> None:
    planned = (case(), case("sync/b"))
    rows = [row(), row(outcome, "sync/b")]
    assert verdict(LaneRecord(evidence(planned=planned), rows=rows), skips=(EXPECTED,)) == (
        LaneVerdict.QUALIFIED,
        "sync/b ran although a skip was expected (needs HIP)",
    )


def test_a_case_that_runs_after_the_date_of_its_skip_is_as_it_should_be() -> None:
    planned = (case(), case("sync/b"))
    rows = [row(), row(name="sync/b")]
    past = EXPECTED.model_copy(update={"until": NOW.date() - dt.timedelta(days=1)})
    assert verdict(LaneRecord(evidence(planned=planned), rows=rows), skips=(past,)) == (
        LaneVerdict.QUALIFIED,
        "",
    )


def test_of_two_entries_for_a_skip_the_one_in_force_counts() -> None:
    planned = (case(), case("sync/b"))
    rows = [row(), row(Outcome.SKIPPED, "sync/b")]
    past = EXPECTED.model_copy(update={"until": NOW.date() - dt.timedelta(days=1)})
    record = LaneRecord(evidence(planned=planned), rows=rows)
    assert verdict(record, skips=(past,))[0] is LaneVerdict.FAILED
    for skips in ((past, EXPECTED), (EXPECTED, past)):
        assert verdict(record, skips=skips)[0] is LaneVerdict.QUALIFIED
