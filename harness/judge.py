"""Verdicts from evidence: a pure function, total over everything that evidence can say.

Nothing here reads a file or a clock.  The rules are those of docs/verdicts.md;
every verdict carries its reasons.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness import claims
from harness.claims import claims_of, decide
from harness.evidence import Evidence, Finding, NotRun, Observation, Revision, State
from harness.qualification import (
    ClaimResult,
    CopyModeResult,
    Counts,
    Failure,
    LaneQualification,
    Qualification,
    Skip,
)
from harness.results import EXECUTED, FAILING, SWEEP, Row
from harness.words import ClaimState, CopyMode, Execution, LaneVerdict, Outcome, Verdict

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping, Sequence

    from harness.matrix import ExpectedSkip, Matrix
    from harness.plan import Lane


_PYTEST_FOUND_NOTHING = 5


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """What is known of one lane: its evidence, or why there is none that can be read, and its rows."""

    evidence: Evidence | None
    rows: Sequence[Row] = ()
    damage: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class _Reason:
    """One reason for a verdict, with the verdict that it leads to."""

    verdict: LaneVerdict
    text: str


def judge(
    matrix: Matrix,
    lanes: Iterable[Lane],
    records: Mapping[str, LaneRecord],
    *,
    revision: Revision,
    run: str,
    now: dt.datetime,
    harness_version: str,
) -> Qualification:
    """Judge all lanes of a matrix for one revision.

    `records` maps lane ids to what was recorded; a lane without one was not
    run.  `now` decides which expected skips are past their date.
    """
    judged = tuple(
        judge_lane(lane, records.get(lane.id), matrix.expected_skips, revision=revision, now=now)
        for lane in lanes
    )
    verdict = overall(judged)
    return Qualification(
        verdict=verdict,
        revision=revision,
        run=run,
        created=now,
        harness_version=harness_version,
        reasons=_overall_reasons(judged, verdict),
        lanes=judged,
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
) -> LaneQualification:
    """Judge one lane; `record` None means that it was not part of the run."""
    evidence = record.evidence if record is not None else None
    rows = tuple(record.rows) if record is not None else ()
    skips = tuple(
        _skip(lane, row, expected_skips, now.date()) for row in rows if row.outcome is Outcome.SKIPPED
    )
    decided = _decide_all(lane, evidence, revision)
    counts = count(rows, planned=len(evidence.planned) if evidence is not None else 0)
    if record is None:
        reasons = [_Reason(LaneVerdict.INCOMPLETE, "not selected in this run")]
    elif evidence is None:
        reasons = [_Reason(LaneVerdict.FAILED, record.damage)]
    else:
        reasons = [
            *_row_reasons(rows, counts, evidence),
            *_unexpected_skips(skips),
            *_ran_after_all(lane, rows, expected_skips, now.date()),
            *_exit_reasons(evidence, rows),
            *_run_reasons(evidence, counts),
            *_claim_reasons(decided, evidence, counts),
        ]
    verdict = _worst(reasons)
    known = evidence or _NOTHING
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
        not_run=known.not_run,
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
        copy_modes=_copy_modes(lane, evidence, rows, decided),
        failures=_failures(rows),
        skips=skips,
        warnings=known.warnings,
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
    warnings: tuple[str, ...] = ()
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


def _row_reasons(rows: Sequence[Row], counts: Counts, evidence: Evidence) -> Iterable[_Reason]:
    failing = sorted((row for row in rows if row.outcome in FAILING), key=lambda row: row.sweep_order)
    if failing:
        first = failing[0]
        more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
        yield _Reason(LaneVerdict.FAILED, f"{first.name}: {first.message or first.outcome}{more}")
    if counts.missing:
        first = next(row for row in rows if row.outcome is Outcome.MISSING)
        yield _Reason(
            LaneVerdict.INCOMPLETE,
            f"{counts.missing} of {counts.planned} planned cases have no result, first {first.name}",
        )
    unplanned = {row.name for row in rows if not row.synthetic} - {case.name for case in evidence.planned}
    if unplanned and evidence.planned:
        yield _Reason(LaneVerdict.FAILED, f"a result for a case that was not planned: {min(unplanned)}")


def _unexpected_skips(skips: Sequence[Skip]) -> Iterable[_Reason]:
    unexpected = [skip for skip in skips if not skip.expected]
    if unexpected:
        first = unexpected[0]
        said = first.reason or first.said or "no reason given"
        yield _Reason(LaneVerdict.FAILED, f"{len(unexpected)} unexpected skip(s), first {first.case}: {said}")


def _ran_after_all(
    lane: Lane, rows: Sequence[Row], expected: Sequence[ExpectedSkip], today: dt.date
) -> Iterable[_Reason]:
    """Report cases that ran although a skip was expected, so that the matrix is mended: no failure."""
    for row in rows:
        entry = _matching(lane, row, expected, today)
        if entry is not None and row.outcome is Outcome.PASSED:
            yield _Reason(
                LaneVerdict.QUALIFIED, f"{row.name} ran although a skip was expected ({entry.reason})"
            )


def _exit_reasons(evidence: Evidence, rows: Sequence[Row]) -> Iterable[_Reason]:
    """The exit status and the rows must agree; where they don't, the worse one counts."""
    failing = any(row.outcome in FAILING for row in rows)
    status = evidence.exit_status
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
        yield _Reason(verdict, evidence.reason)
        return
    if evidence.state is State.RUNNING:
        yield _Reason(LaneVerdict.INCOMPLETE, "the lane died: its evidence was never completed")
    if evidence.state is State.INTERRUPTED:
        yield _Reason(LaneVerdict.INCOMPLETE, f"interrupted: {evidence.reason or 'the run was stopped'}")
    if evidence.state is State.FINISHED and counts.executed == 0:
        yield _Reason(LaneVerdict.INCOMPLETE, evidence.reason or "no case was executed")
    if evidence.selection:
        yield _Reason(LaneVerdict.INCOMPLETE, f"only a part was selected: {' '.join(evidence.selection)}")


def _claim_reasons(decided: Sequence[ClaimResult], evidence: Evidence, counts: Counts) -> Iterable[_Reason]:
    """Reasons from claims; where no case ran that is the reason, and not every claim one of its own."""
    if evidence.not_run is not None:
        return
    for claim in decided:
        match claim.state:
            case ClaimState.CONTRADICTED:
                yield _Reason(LaneVerdict.FAILED, f"{claim.title} contradicted: {claim.reason}")
            case ClaimState.NOT_ESTABLISHED if counts.executed:
                yield _Reason(LaneVerdict.INCOMPLETE, f"{claim.title} not established: {claim.reason}")
            case ClaimState.ESTABLISHED | ClaimState.NOT_ESTABLISHED | ClaimState.NOT_APPLICABLE:
                pass


def _decide_all(lane: Lane, evidence: Evidence | None, revision: Revision) -> tuple[ClaimResult, ...]:
    observations = (
        () if evidence is None else (*evidence.observations, _freshness(evidence.revision, revision))
    )
    if evidence is not None and evidence.execution is Execution.EMULATED:
        observations = tuple(_emulated(o) for o in observations)
    return tuple(decide(claim, observations) for claim in claims_of(lane))


def _emulated(observation: Observation) -> Observation:
    """An emulated device establishes nothing about the real one."""
    if observation.finding is not Finding.CONFIRMS:
        return observation
    return observation.model_copy(update={"finding": Finding.SILENT, "text": f"emulated: {observation.text}"})


def _freshness(collected: Revision, wanted: Revision) -> Observation:
    if collected == wanted:
        known = collected.commit is not None or collected.difference is not None
        finding = Finding.CONFIRMS if known else Finding.SILENT
        text = f"collected on {collected.short}"
    else:
        finding = Finding.SILENT
        text = f"collected on {collected.short}, which is not {wanted.short}"
    return Observation(claim=claims.FRESH, witness=claims.REVISION, finding=finding, text=text)


def _copy_modes(
    lane: Lane, evidence: Evidence | None, rows: Sequence[Row], decided: Sequence[ClaimResult]
) -> tuple[CopyModeResult, ...]:
    if evidence is None:
        return ()
    verified: dict[str, int] = {}
    for mode in lane.copy_modes:
        by_witness: Counter[str] = Counter()
        for seen in evidence.observations:
            if seen.claim == claims.COVERAGE and seen.subject == mode and seen.finding is Finding.CONFIRMS:
                by_witness[seen.witness] += seen.value or 0
        verified[mode] = min(by_witness[claims.DRIVER], by_witness[claims.ORACLE])
    pinned = next((claim for claim in decided if claim.claim == claims.PINNED), None)
    return tuple(
        CopyModeResult(
            mode=mode,
            execution=_execution_of(mode, evidence),
            transactions=verified[mode],
            required=lane.suite.establish.transactions_per_copy_mode,
            memory=_memory(mode, rows, pinned),
        )
        for mode in lane.copy_modes
    )


def _execution_of(mode: CopyMode, evidence: Evidence) -> Execution:
    """A mode is emulated if any of its cases is: a mixture must not pass as real."""
    emulated = any(case.mode is mode and case.execution is Execution.EMULATED for case in evidence.planned)
    return Execution.EMULATED if emulated or evidence.execution is Execution.EMULATED else Execution.REAL


def _memory(mode: CopyMode, rows: Sequence[Row], pinned: ClaimResult | None) -> str:
    """Kinds of staging memory that the rows of a mode's sweep used, as they were observed."""
    kinds = Counter(
        row.recorded("memory_kind") or "not observed"
        for row in rows
        if row.recorded("mode") == mode and row.recorded("group") == SWEEP and row.outcome in EXECUTED
    )
    if not kinds:
        return "no case was executed"
    seen = ", ".join(
        f"{kind} ({number} cases)" if len(kinds) > 1 else kind for kind, number in sorted(kinds.items())
    )
    if mode is CopyMode.PINNED and pinned is not None:
        return f"{seen}; pinned {pinned.state}"
    return seen


def _matching(lane: Lane, row: Row, expected: Sequence[ExpectedSkip], today: dt.date) -> ExpectedSkip | None:
    """The first entry for this lane and case, one that is still in force before one past its date."""
    entries = [e for e in expected if fnmatchcase(lane.id, e.lane) and fnmatchcase(row.name, e.case)]
    return min(entries, key=lambda entry: _expired(entry, today), default=None)


def _expired(entry: ExpectedSkip, today: dt.date) -> bool:
    return entry.until is not None and today > entry.until


def _skip(lane: Lane, row: Row, expected: Sequence[ExpectedSkip], today: dt.date) -> Skip:
    entry = _matching(lane, row, expected, today)
    if entry is None:
        return Skip(case=row.name, said=row.message, expected=False, reason="")
    if _expired(entry, today):
        return Skip(
            case=row.name,
            said=row.message,
            expected=False,
            reason=f"it was expected until {entry.until} ({entry.reason})",
        )
    return Skip(case=row.name, said=row.message, expected=True, reason=entry.reason)


def _failures(rows: Sequence[Row]) -> tuple[Failure, ...]:
    return tuple(
        Failure(
            case=row.name,
            outcome=row.outcome,
            message=row.message,
            details=row.text,
            reproduce=tuple(value for key, value in row.properties if key == "reproduce"),
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
