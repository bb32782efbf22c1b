"""Verdicts from evidence: a pure function, total over everything that evidence can say.

Nothing here reads a file or a clock.  The rules are those of docs/verdicts.md;
every verdict carries its reasons.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.evidence.model import Evidence, NotRun, Revision, State
from harness.evidence.rows import EXECUTED, FAILING, Row
from harness.judge.copy_modes import copy_modes
from harness.judge.qualification import ClaimResult, Counts, Failure, LaneQualification, Qualification, Skip
from harness.judge.skips import ran_after_all, skips_of
from harness.judge.weigh import claims_of_evidence
from harness.words import ClaimState, Execution, LaneVerdict, Outcome, Verdict

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping, Sequence

    from harness.evidence.store import LaneRecord
    from harness.matrix.lanes import Lane
    from harness.matrix.model import ExpectedSkip, Matrix


_PYTEST_FOUND_NOTHING = 5


@dataclass(frozen=True, slots=True)
class _Reason:
    """One reason for a verdict, with the verdict that it leads to."""

    verdict: LaneVerdict
    text: str


def qualification_of(
    matrix: Matrix,
    lanes: Sequence[LaneQualification],
    *,
    revision: Revision,
    run: str,
    now: dt.datetime,
    harness_version: str,
) -> Qualification:
    """Put the judged lanes of a matrix together for one revision."""
    verdict = overall(lanes)
    return Qualification(
        verdict=verdict,
        revision=revision,
        run=run,
        created=now,
        harness_version=harness_version,
        reasons=_overall_reasons(lanes, verdict),
        lanes=tuple(lanes),
        not_claimed=matrix.not_claimed,
    )


def overall(lanes: Iterable[LaneQualification]) -> Verdict:
    """NOT QUALIFIED if a required lane failed, else INCOMPLETE if one is incomplete, else QUALIFIED.

    A matrix without any required lane has shown nothing: INCOMPLETE.
    """
    verdicts = {lane.verdict for lane in lanes if lane.required}
    if LaneVerdict.FAILED in verdicts:
        return Verdict.NOT_QUALIFIED
    if LaneVerdict.INCOMPLETE in verdicts or not verdicts:
        return Verdict.INCOMPLETE
    return Verdict.QUALIFIED


def judge_lane(
    lane: Lane,
    record: LaneRecord | None,
    expected_skips: Sequence[ExpectedSkip] = (),
    *,
    revision: Revision,
    now: dt.datetime,
    differing: Sequence[str] | None = None,
) -> LaneQualification:
    """Judge one lane for a revision; `record` None means that it was not part of the run.

    `now` decides which expected skips are past their date, `differing` names
    the inputs of its build that are not the same in that revision (None: nobody
    has compared them).
    """
    evidence = record.evidence if record is not None else None
    rows = tuple(record.rows) if record is not None else ()
    skips = skips_of(lane, rows, expected_skips, now.date())
    decided = claims_of_evidence(lane, evidence, revision, differing)
    counts = count(rows, planned=len(evidence.planned) if evidence is not None else 0)
    if record is None:
        reasons = [_Reason(LaneVerdict.INCOMPLETE, "not selected in this run")]
    elif evidence is None:
        reasons = [_Reason(LaneVerdict.FAILED, record.damage or "its evidence cannot be read")]
    else:
        reasons = [
            *_record_reasons(lane, record, evidence),
            *_run_reasons(evidence, counts),
            *_row_reasons(rows, evidence),
            *_unexpected_skips(skips),
            *(
                _Reason(LaneVerdict.QUALIFIED, text)
                for text in ran_after_all(lane, rows, expected_skips, now.date())
            ),
            *_exit_reasons(evidence, rows),
            *_claim_reasons(decided, counts),
        ]
    verdict = _worst(reasons)
    known = evidence or _NOTHING
    not_run = NotRun.NOT_SELECTED if record is None else known.not_run
    return LaneQualification(
        target=lane.target_name,
        suite=lane.suite_name,
        session=lane.session,
        backend=lane.target.backend,
        arch=lane.target.arch,
        required=lane.target.required,
        verdict=verdict,
        reasons=tuple(r.text for r in reasons if r.verdict is verdict)
        + tuple(r.text for r in reasons if r.verdict is not verdict),
        not_run=not_run,
        hint=known.hint,
        declared_device=_declared(lane),
        devices=known.devices,
        built=known.build is not None,
        toolchain=known.build.toolchain if known.build else None,
        architectures=known.build.architectures if known.build else (),
        flags=known.build.flags if known.build else (),
        sanitizers=lane.target.sanitizers.on if lane.target.sanitizers else (),
        switched_off=lane.target.sanitizers.off if lane.target.sanitizers else (),
        counts=counts,
        exit_status=known.exit_status,
        execution=known.execution,
        selection=known.selection,
        claims=decided,
        copy_modes=copy_modes(lane, evidence, rows, decided),
        failures=_failures(rows),
        skips=skips,
        revision=known.revision,
        input_files=len(known.inputs),
        started=known.started,
        seconds=known.seconds,
        folder=record.folder if record is not None else "",
    )


def count(rows: Iterable[Row], *, planned: int) -> Counts:
    """Count rows by outcome; synthetic rows count as what they say."""
    by_outcome = Counter(row.outcome for row in rows)
    return Counts(
        planned=planned,
        executed=sum(by_outcome[outcome] for outcome in EXECUTED),
        **{outcome.value: by_outcome[outcome] for outcome in Outcome},
    )


class _Nothing:
    """Stands for evidence where there is none: every field says that nothing is known."""

    not_run: NotRun | None = None
    hint = ""
    devices = ()
    build = None
    exit_status: int | None = None
    execution = Execution.REAL
    selection: tuple[str, ...] = ()
    revision: Revision | None = None
    inputs: Mapping[str, str] = {}
    started: dt.datetime | None = None
    seconds: float | None = None


_NOTHING = _Nothing()


def _worst(reasons: Sequence[_Reason]) -> LaneVerdict:
    verdicts = {reason.verdict for reason in reasons}
    for verdict in (LaneVerdict.FAILED, LaneVerdict.INCOMPLETE):
        if verdict in verdicts:
            return verdict
    return LaneVerdict.QUALIFIED


def _record_reasons(lane: Lane, record: LaneRecord, evidence: Evidence) -> Iterable[_Reason]:
    if record.damage:
        yield _Reason(LaneVerdict.FAILED, record.damage)
    if evidence.lane != lane.id:
        yield _Reason(LaneVerdict.FAILED, f"the evidence in its folder is that of {evidence.lane}")


def _row_reasons(rows: Sequence[Row], evidence: Evidence) -> Iterable[_Reason]:
    failing = sorted((row for row in rows if row.outcome in FAILING), key=lambda row: row.sweep_order)
    if failing:
        first = failing[0]
        more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
        yield _Reason(LaneVerdict.FAILED, f"{first.name}: {first.message or first.outcome}{more}")
    # Whoever merged the rows may have left out a case without a word.
    reported = {row.name for row in rows if row.outcome is not Outcome.MISSING}
    missing = [case.name for case in evidence.planned if case.name not in reported]
    if missing:
        yield _Reason(
            LaneVerdict.INCOMPLETE,
            f"{len(missing)} of {len(evidence.planned)} planned cases have no result, first {missing[0]}",
        )
    unplanned = {row.name for row in rows if not row.synthetic} - {case.name for case in evidence.planned}
    if unplanned:
        yield _Reason(LaneVerdict.FAILED, f"a result for a case that was not planned: {min(unplanned)}")


def _unexpected_skips(skips: Sequence[Skip]) -> Iterable[_Reason]:
    unexpected = [skip for skip in skips if not skip.expected]
    if unexpected:
        first = unexpected[0]
        said = first.reason or first.said or "no reason given"
        yield _Reason(LaneVerdict.FAILED, f"{len(unexpected)} unexpected skip(s), first {first.case}: {said}")


def _exit_reasons(evidence: Evidence, rows: Sequence[Row]) -> Iterable[_Reason]:
    """The exit status and the rows must agree; where they don't, the worse one counts."""
    failing = any(row.outcome in FAILING for row in rows)
    status = evidence.exit_status
    if status is None and evidence.state is State.FINISHED and evidence.not_run is None:
        yield _Reason(LaneVerdict.INCOMPLETE, "how its runner ended was not recorded")
    if status is None or failing or status == 0 or evidence.state is State.INTERRUPTED:
        return
    if status == _PYTEST_FOUND_NOTHING and not evidence.planned:
        return
    said = f"was ended by signal {-status}" if status < 0 else f"exited with {status}"
    yield _Reason(LaneVerdict.FAILED, f"the runner {said} although no row failed")


def _run_reasons(evidence: Evidence, counts: Counts) -> Iterable[_Reason]:
    if evidence.not_run is not None:
        verdict = LaneVerdict.INCOMPLETE
        if evidence.not_run in (NotRun.BUILD_FAILED, NotRun.LISTING_FAILED):
            verdict = LaneVerdict.FAILED
        yield _Reason(verdict, evidence.reason or evidence.not_run)
        return
    if evidence.state is State.RUNNING:
        yield _Reason(LaneVerdict.INCOMPLETE, "the lane died: its evidence was never completed")
    if evidence.state is State.INTERRUPTED:
        yield _Reason(LaneVerdict.INCOMPLETE, f"interrupted: {evidence.reason or 'the run was stopped'}")
    if evidence.state is State.FINISHED and counts.executed == 0:
        yield _Reason(LaneVerdict.INCOMPLETE, evidence.reason or "no case was executed")
    if evidence.selection:
        yield _Reason(LaneVerdict.INCOMPLETE, f"only a part was selected: {' '.join(evidence.selection)}")


def _claim_reasons(decided: Sequence[ClaimResult], counts: Counts) -> Iterable[_Reason]:
    """Reasons from claims; where no case ran that is said once, and not for every claim."""
    for claim in decided:
        match claim.state:
            case ClaimState.CONTRADICTED:
                yield _Reason(LaneVerdict.FAILED, f"{claim.title} contradicted: {claim.reason}")
            case ClaimState.NOT_ESTABLISHED if counts.executed:
                yield _Reason(LaneVerdict.INCOMPLETE, f"{claim.title} not established: {claim.reason}")
            case ClaimState.ESTABLISHED | ClaimState.NOT_ESTABLISHED:
                pass


def _failures(rows: Sequence[Row]) -> tuple[Failure, ...]:
    return tuple(
        Failure(
            case=row.name,
            outcome=row.outcome,
            message=row.message,
            details=row.text,
            reproduce=row.observed.reproduce,
        )
        for row in sorted(rows, key=lambda row: row.sweep_order)
        if row.outcome in FAILING
    )


def _declared(lane: Lane) -> str:
    device = lane.target.device
    parts = [
        device.name or "",
        lane.target.arch or "",
        device.pci or "",
        device.uuid or "",
        f"at least {device.min_memory_gib:g} GiB" if device.min_memory_gib is not None else "",
    ]
    return ", ".join(part for part in parts if part) or f"any {lane.target.backend}"


def _overall_reasons(lanes: Sequence[LaneQualification], verdict: Verdict) -> tuple[str, ...]:
    wanted = {Verdict.NOT_QUALIFIED: LaneVerdict.FAILED, Verdict.INCOMPLETE: LaneVerdict.INCOMPLETE}.get(
        verdict
    )
    if wanted is None:
        return ()
    hit = [lane for lane in lanes if lane.required and lane.verdict is wanted]
    if not hit:
        return ("the matrix has no required lane",)
    return tuple(f"{lane.id}: {lane.reasons[0]}" for lane in hit)
