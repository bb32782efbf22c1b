"""The architectures of the code that is in the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.claims import BINARY, NATIVE_CODE
from harness.evidence.model import Finding
from harness.system.machine import architecture
from harness.witness.protocol import Point, Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.witness.protocol import View


def observe(view: View) -> Iterator[Sighting]:
    """Confirm if the program holds code for exactly the target; silent if nothing was built."""
    if view.artifact is None:
        return
    found = view.artifact.architectures
    wanted = view.lane.target.arch or architecture()
    text = f"the binary holds code for {', '.join(found) or 'nothing'}"
    if set(found) == {wanted}:
        yield Sighting(Finding.CONFIRMS, text)
    else:
        yield Sighting(Finding.DENIES, f"{text}, not for {wanted} alone")


WITNESS = Witness(NATIVE_CODE, BINARY, Point.BUILT, observe)
