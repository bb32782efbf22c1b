"""Which of the objects under test are instrumented, and whether the program is, by the build's census."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.claims import CENSUS, SANITIZER
from harness.evidence.model import Finding
from harness.witness.protocol import Point, Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.build import Census
    from harness.witness.protocol import View
    from harness.words import Sanitizer


def observe(view: View) -> Iterator[Sighting]:
    """What the census says about each sanitizer that the target asks for."""
    census = view.artifact.census if view.artifact is not None else None
    sanitizers = view.lane.target.sanitizers
    for sanitizer in sanitizers.on if sanitizers is not None else ():
        finding, text = _read(census, sanitizer)
        yield Sighting(finding, text, subject=sanitizer)


def _read(census: Census | None, sanitizer: Sanitizer) -> tuple[Finding, str]:
    if census is None or census.objects == 0:
        return Finding.SILENT, "no object of this build was examined"
    number = census.instrumented.get(sanitizer, 0)
    if number < census.objects:
        without = f"; without any: {', '.join(census.uninstrumented)}" if census.uninstrumented else ""
        return Finding.DENIES, f"only {number} of {census.objects} objects are instrumented{without}"
    if sanitizer not in census.binary:
        return Finding.DENIES, "the objects are instrumented, the linked program is not"
    return Finding.CONFIRMS, f"all {census.objects} objects and the program are instrumented"


WITNESS = Witness(SANITIZER, CENSUS, Point.BUILT, observe)
