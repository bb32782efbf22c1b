"""What kind of memory the copies of a lane really used, and how many transactions were verified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import claims
from harness.evidence.model import CaseRecord, Finding, Observation
from harness.evidence.rows import SWEEP
from harness.words import CopyMode, Execution, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.evidence.rows import Row

PAGE_LOCKED = "page-locked"


def observe_pinned(rows: Iterable[Row]) -> Observation | None:
    """What the runtime in the test processes said about the staging memory of the pinned sweep.

    None if no row of that sweep was executed.
    """
    swept = [
        row
        for row in rows
        if row.observed.mode is CopyMode.PINNED
        and row.observed.group == SWEEP
        and row.observed.memory_kind is not None
    ]
    if not swept:
        return None
    other = [row for row in swept if row.observed.memory_kind != PAGE_LOCKED]
    unknown = [row for row in other if row.observed.memory_kind in ("unknown", "not-asked")]
    if len(other) > len(unknown):
        first = next(row for row in other if row not in unknown)
        finding, text = Finding.DENIES, f"{first.name} used {first.observed.memory_kind} memory"
    elif unknown:
        finding, text = Finding.SILENT, f"{unknown[0].name}: the runtime did not say"
    else:
        finding = Finding.CONFIRMS
        text = f"first and last byte page-locked before and after the copies, in {len(swept)} rows"
    return Observation(claim=claims.PINNED, witness=claims.POINTER, finding=finding, text=text)


def observe_coverage(
    cases: Sequence[CaseRecord], rows: Mapping[str, Row], folder: Path
) -> Iterator[Observation]:
    """Count the distinct transactions of each copy mode's sweep, by driver and by oracle.

    `folder` holds the key files that the cases left.  A transaction counts
    for the driver if its case ran to its end there without a mismatch, for the
    oracle if the oracle recomputed every transaction of that case.
    """
    modes = sorted({case.mode for case in cases if case.mode is not None and case.group == SWEEP})
    for mode in modes:
        of_mode = [case for case in cases if case.mode is mode and case.group == SWEEP]
        by_driver: set[str] = set()
        by_oracle: set[str] = set()
        asked = False
        for case in of_mode:
            keys = _keys(folder / f"{case.name}.keys")
            by_driver |= keys
            row = rows.get(case.name)
            verified = row.observed.oracle_transactions if row is not None else None
            asked = asked or verified is not None
            if row is not None and row.outcome is Outcome.PASSED and verified == len(keys):
                by_oracle |= keys
        emulated = any(case.execution is Execution.EMULATED for case in of_mode)
        execution = Execution.EMULATED if emulated else Execution.REAL
        yield _counted(mode, claims.DRIVER, len(by_driver), execution)
        if asked:
            yield _counted(mode, claims.ORACLE, len(by_oracle), execution)


def _counted(mode: CopyMode, witness: str, number: int, execution: Execution) -> Observation:
    note = " on an emulated stream" if execution is Execution.EMULATED else ""
    who = "driver" if witness == claims.DRIVER else "oracle"
    return Observation(
        claim=claims.COVERAGE,
        subject=mode,
        witness=witness,
        finding=Finding.CONFIRMS,
        value=number,
        text=f"{who}: {number:,} distinct transactions{note}",
        execution=execution,
    )


def _keys(path: Path) -> set[str]:
    try:
        return set(path.read_text().splitlines())
    except OSError:
        return set()
