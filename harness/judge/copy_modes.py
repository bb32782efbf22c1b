"""How far each copy mode of a lane was covered, and with which kind of memory as it was observed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from harness import claims
from harness.evidence.model import Evidence, Finding
from harness.evidence.rows import EXECUTED, SWEEP, Row
from harness.judge.qualification import ClaimResult, CopyModeResult
from harness.words import CopyMode, Execution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.matrix.lanes import Lane


def copy_modes(
    lane: Lane, evidence: Evidence | None, rows: Sequence[Row], decided: Sequence[ClaimResult]
) -> tuple[CopyModeResult, ...]:
    """What was verified of each copy mode that the matrix declares for a lane; nothing without evidence."""
    if evidence is None:
        return ()
    pinned = next((claim for claim in decided if claim.claim == claims.PINNED), None)
    return tuple(
        CopyModeResult(
            mode=mode,
            execution=_execution_of(mode, evidence),
            transactions=_verified(mode, evidence),
            required=lane.suite.transactions_per_mode,
            memory=_memory(mode, rows, pinned),
        )
        for mode in lane.copy_modes
    )


def _verified(mode: CopyMode, evidence: Evidence) -> int:
    """Transactions that driver and oracle both confirmed: the smaller of the two counts."""
    by_witness: Counter[str] = Counter()
    for seen in evidence.observations:
        if seen.claim == claims.COVERAGE and seen.subject == mode and seen.finding is Finding.CONFIRMS:
            by_witness[seen.witness] += seen.value or 0
    return min(by_witness[claims.DRIVER], by_witness[claims.ORACLE])


def _execution_of(mode: CopyMode, evidence: Evidence) -> Execution:
    """A mode is emulated if any of its cases is: a mixture must not pass as real."""
    emulated = any(case.mode is mode and case.execution is Execution.EMULATED for case in evidence.planned)
    return Execution.EMULATED if emulated or evidence.execution is Execution.EMULATED else Execution.REAL


def _memory(mode: CopyMode, rows: Sequence[Row], pinned: ClaimResult | None) -> str:
    """Kinds of staging memory that the rows of a mode's sweep used, as they were observed."""
    kinds = Counter(
        row.observed.memory_kind or "not observed"
        for row in rows
        if row.observed.mode is mode and row.observed.group == SWEEP and row.outcome in EXECUTED
    )
    if not kinds:
        return "no case was executed"
    seen = ", ".join(
        f"{kind} ({number} cases)" if len(kinds) > 1 else kind for kind, number in sorted(kinds.items())
    )
    if mode is CopyMode.PINNED and pinned is not None:
        return f"{seen}; pinned {pinned.state}"
    return seen
