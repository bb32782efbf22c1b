"""Which skips of a lane the matrix expects, with its reasons, and which expected ones ran after all."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness.evidence.rows import EXECUTED, FAILING, Row
from harness.judge.qualification import Skip
from harness.words import Outcome

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence

    from harness.matrix.lanes import Lane
    from harness.matrix.model import ExpectedSkip


def skips_of(
    lane: Lane, rows: Sequence[Row], expected: Sequence[ExpectedSkip], today: dt.date
) -> tuple[Skip, ...]:
    """Every skipped row of a lane; one that the matrix does not expect, or no longer, is unexpected."""
    return tuple(_skip(lane, row, expected, today) for row in rows if row.outcome is Outcome.SKIPPED)


def ran_after_all(
    lane: Lane, rows: Sequence[Row], expected: Sequence[ExpectedSkip], today: dt.date
) -> Iterator[str]:
    """Say which cases ran although a skip is expected, so that the matrix is mended: no failure.

    An entry past its date expects nothing, so that a case which runs is as it
    should be.
    """
    for row in rows:
        entry = _matching(lane, row, expected, today)
        ran = row.outcome in EXECUTED and row.outcome not in FAILING
        if ran and entry is not None and not _expired(entry, today):
            yield f"{row.name} ran although a skip was expected ({entry.reason})"


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
