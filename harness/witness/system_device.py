"""The device as the operating system describes it, without asking any runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.claims import DEVICE, SYSTEM
from harness.evidence.model import Finding
from harness.system.machine import architecture
from harness.witness.protocol import Point, Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.witness.protocol import View


def observe(view: View) -> Iterator[Sighting]:
    """Compare the machine with the target and with what the program was built for; silent about GPUs."""
    target = view.lane.target
    if target.backend.has_device:
        yield Sighting(Finding.SILENT, "this version does not ask the operating system about GPUs")
        return
    if view.device is None:
        return
    here, built_for = architecture(), view.device.arch
    text = f"the kernel calls this machine {here}"
    if here == built_for and target.arch in (None, here):
        yield Sighting(Finding.CONFIRMS, text)
    else:
        wanted = target.arch or "any"
        yield Sighting(
            Finding.DENIES, f"{text}, the driver was built for {built_for}, the target is {wanted}"
        )


WITNESS = Witness(DEVICE, SYSTEM, Point.BEFORE_RUN, observe)
