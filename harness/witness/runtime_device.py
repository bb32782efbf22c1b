"""The device as the runtime named it inside the processes that ran the cases, all rows taken together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.claims import DEVICE, RUNTIME
from harness.evidence.devices import mismatch
from harness.evidence.model import Finding
from harness.witness.protocol import Point, Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.evidence.model import DeviceRecord
    from harness.witness.protocol import View


def observe(view: View) -> Iterator[Sighting]:
    """Confirm if every row that named a device named the declared one; silent if none did.

    Rows of two devices contradict the claim, and so does a device that is not
    the declared one.
    """
    seen: dict[str, DeviceRecord] = {}
    for row in view.rows:
        if row.observed.device is not None:
            seen.setdefault(row.observed.device.identity, row.observed.device)
    if not seen:
        return
    if len(seen) > 1:
        yield Sighting(Finding.DENIES, f"rows come from {len(seen)} devices: {', '.join(sorted(seen))}")
        return
    (device,) = seen.values()
    wrong = mismatch(device, view.lane.target)
    if wrong:
        yield Sighting(Finding.DENIES, wrong)
    else:
        yield Sighting(Finding.CONFIRMS, f"every row ran on {device.name} ({device.arch})")


WITNESS = Witness(DEVICE, RUNTIME, Point.AFTER_RUN, observe)
