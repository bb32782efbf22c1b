"""The kind of the staging memory, as the runtime gave it for the very buffers inside the test processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.claims import PINNED, POINTER
from harness.evidence.model import Finding
from harness.evidence.rows import SWEEP
from harness.witness.protocol import Point, Sighting, Witness
from harness.words import CopyMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.witness.protocol import View

PAGE_LOCKED = "page-locked"

_NO_ANSWER = ("unknown", "not-asked")


def observe(view: View) -> Iterator[Sighting]:
    """Confirm if every row of the pinned sweep used page-locked memory only; silent if none was executed."""
    swept = [
        row
        for row in view.rows
        if row.observed.mode is CopyMode.PINNED
        and row.observed.group == SWEEP
        and row.observed.memory_kind is not None
    ]
    other = [row for row in swept if row.observed.memory_kind not in (PAGE_LOCKED, *_NO_ANSWER)]
    unknown = [row for row in swept if row.observed.memory_kind in _NO_ANSWER]
    if other:
        yield Sighting(Finding.DENIES, f"{other[0].name} used {other[0].observed.memory_kind} memory")
    elif unknown:
        yield Sighting(Finding.SILENT, f"{unknown[0].name}: the runtime did not say")
    elif swept:
        text = f"first and last byte page-locked before and after the copies, in {len(swept)} rows"
        yield Sighting(Finding.CONFIRMS, text)


WITNESS = Witness(PINNED, POINTER, Point.AFTER_RUN, observe)
