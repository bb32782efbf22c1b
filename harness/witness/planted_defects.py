"""Whether deliberate defects in this very build are reported on this machine.

That a program is instrumented proves nothing about its run-time options; a
defect that it reported does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness.claims import PLANTED, SANITIZER
from harness.evidence.model import Finding
from harness.suites.environment import FOUND
from harness.system import process
from harness.witness.protocol import Point, Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.suites.protocol import PlantedDefect
    from harness.witness.protocol import View

_TIMEOUT_S = 60.0


def observe(view: View) -> Iterator[Sighting]:
    """Commit each planted defect and look for its report; what the sanitizers wrote stays in `planted/`.

    Each must be reported as the kind that the suite lists and, where the
    report names lines of its file, at its own line.
    """
    sanitizers = view.lane.target.sanitizers
    defects = view.suite.defects()
    for sanitizer in sanitizers.on if sanitizers is not None else ():
        mine = [defect for defect in defects if defect.sanitizer is sanitizer]
        missed = [wrong for defect in mine if (wrong := _miss(defect, view))]
        if not mine:
            finding, text = Finding.SILENT, f"the suite has no planted defect for {sanitizer}"
        elif missed:
            finding, text = Finding.DENIES, "; ".join(missed)
        else:
            finding = Finding.CONFIRMS
            text = f"{len(mine)} planted defects were reported ({', '.join(one.name for one in mine)})"
        yield Sighting(finding, text, subject=sanitizer)


def _miss(plant: PlantedDefect, view: View) -> str:
    """Run one planted defect; say what was wrong with its report, or "" if it was as it must be."""
    output = view.folder / "planted" / f"{plant.name}.out"
    output.parent.mkdir(exist_ok=True)
    try:
        ended = process.run(plant.command, output=output, environment=view.environment, timeout_s=_TIMEOUT_S)
    except OSError as error:
        return f"{plant.name}: {plant.command[0]} cannot be started: {error.strerror}"
    said = process.tail(output, 1 << 20)
    if ended.status != FOUND:
        return f"{plant.name} was not reported: the program {ended.text}"
    if plant.report not in said:
        return f"{plant.name} was not reported as {plant.report}"
    lines = {int(number) for number in re.findall(rf"{re.escape(plant.file)}:(\d+)", said)}
    if lines and plant.line not in lines:
        return f"{plant.name} was reported at line {min(lines)}, not at line {plant.line}"
    return ""


WITNESS = Witness(SANITIZER, PLANTED, Point.BEFORE_RUN, observe)
