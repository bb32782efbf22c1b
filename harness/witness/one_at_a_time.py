"""Whether the cases of a GPU lane had the device to themselves.

A scheduler was asked to keep them apart; this looks at when they really ran.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from harness.claims import DEVICE, ONE_AT_A_TIME
from harness.evidence.model import Finding
from harness.evidence.rows import EXECUTED
from harness.witness.protocol import Point, Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.witness.protocol import View


def observe(view: View) -> Iterator[Sighting]:
    """Deny if two cases overlapped; silent if one that ran did not say when."""
    ran = [row for row in view.rows if row.outcome in EXECUTED and not row.synthetic]
    spans = sorted(
        (row.observed.started, row.observed.ended, row.name)
        for row in ran
        if row.observed.started is not None and row.observed.ended is not None
    )
    for (_, ended_first, first), (started_second, _, second) in itertools.pairwise(spans):
        if started_second < ended_first:
            yield Sighting(Finding.DENIES, f"{first} and {second} ran on one device at the same time")
            return
    if len(spans) < len(ran):
        yield Sighting(
            Finding.SILENT, f"{len(ran) - len(spans)} of {len(ran)} cases did not say when they ran"
        )
    elif ran:
        yield Sighting(Finding.CONFIRMS, "no two cases ran at the same time")


WITNESS = Witness(DEVICE, ONE_AT_A_TIME, Point.AFTER_RUN, observe)
