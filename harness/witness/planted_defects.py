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
from harness.system.machine import cores
from harness.system.process import Program, run_all, tail
from harness.witness.protocol import Point, Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.suites.protocol import PlantedDefect
    from harness.system.process import Ended
    from harness.witness.protocol import View

_TIMEOUT_S = 60.0


def observe(view: View) -> Iterator[Sighting]:
    """Commit each planted defect and look for its report; what the sanitizers wrote stays in `planted/`.

    Each must be reported as the kind that the suite lists and, where the
    report names lines of its file, at its own line.
    """
    sanitizers = view.lane.target.sanitizers
    defects = view.suite.defects()
    missed = dict(_misses(defects, view))
    for sanitizer in sanitizers.on if sanitizers is not None else ():
        mine = [defect.name for defect in defects if defect.sanitizer is sanitizer]
        wrong = [missed[name] for name in mine if missed[name]]
        if not mine:
            finding, text = Finding.SILENT, f"the suite has no planted defect for {sanitizer}"
        elif wrong:
            finding, text = Finding.DENIES, "; ".join(wrong)
        else:
            finding, text = Finding.CONFIRMS, f"{len(mine)} planted defects were reported ({', '.join(mine)})"
        yield Sighting(finding, text, subject=sanitizer)


def _misses(defects: Sequence[PlantedDefect], view: View) -> Iterator[tuple[str, str]]:
    """Commit all defects; for each, what was wrong with its report, or "" if it was as it must be."""
    folder = view.folder / "planted"
    folder.mkdir(exist_ok=True)
    outputs = [folder / f"{defect.name}.out" for defect in defects]
    programs = [Program(d.command, output) for d, output in zip(defects, outputs, strict=True)]
    ended = run_all(programs, environment=view.environment, timeout_s=_TIMEOUT_S, at_once=cores())
    for defect, output, end in zip(defects, outputs, ended, strict=True):
        yield defect.name, _miss(defect, end, tail(output, 1 << 20))


def _miss(plant: PlantedDefect, ended: Ended, said: str) -> str:
    if ended.status != FOUND:
        return f"{plant.name} was not reported: the program {ended.text}"
    if plant.report not in said:
        return f"{plant.name} was not reported as {plant.report}"
    lines = {int(number) for number in re.findall(rf"{re.escape(plant.file)}:(\d+)", said)}
    if lines and plant.line not in lines:
        return f"{plant.name} was reported at line {min(lines)}, not at line {plant.line}"
    return ""


WITNESS = Witness(SANITIZER, PLANTED, Point.BEFORE_RUN, observe)
