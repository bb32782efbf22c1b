"""The distinct transactions of each copy mode's sweep that the suite's own program completed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.claims import COVERAGE, DRIVER
from harness.evidence.model import Finding
from harness.evidence.rows import SWEEP
from harness.witness.protocol import Point, Sighting, Witness
from harness.words import Execution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.evidence.model import CaseRecord
    from harness.witness.protocol import View
    from harness.words import CopyMode


def observe(view: View) -> Iterator[Sighting]:
    """Count those of cases that ran to their end without a mismatch."""
    for mode, cases in swept(view).items():
        keys = {key for case in cases for key in view.suite.transactions(case)}
        yield counted("driver", mode, len(keys), cases)


def swept(view: View) -> dict[CopyMode, list[CaseRecord]]:
    """The planned cases of each copy mode's sweep."""
    found: dict[CopyMode, list[CaseRecord]] = {}
    for case in view.planned:
        if case.mode is not None and case.group == SWEEP:
            found.setdefault(case.mode, []).append(case)
    return found


def counted(who: str, mode: CopyMode, number: int, cases: list[CaseRecord]) -> Sighting:
    """A count as a sighting; it is emulated if any of its cases is."""
    emulated = any(case.execution is Execution.EMULATED for case in cases)
    note = " on an emulated stream" if emulated else ""
    return Sighting(
        Finding.CONFIRMS,
        f"{who}: {number:,} distinct transactions{note}",
        subject=mode,
        value=number,
        execution=Execution.EMULATED if emulated else Execution.REAL,
    )


WITNESS = Witness(COVERAGE, DRIVER, Point.AFTER_RUN, observe)
