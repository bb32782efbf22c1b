"""Whether the sanitizers of a lane's build were on: census of the objects, and planted defects.

That a program was linked with a sanitizer proves nothing about its objects,
and that its objects are instrumented proves nothing about its run-time
options.  So both are observed: what is in the objects, and that deliberate
defects in this very build are reported on this machine.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from harness import claims
from harness.evidence.model import CensusRecord, Finding, Observation
from harness.system import process
from harness.words import Backend, Sanitizer, SanitizerCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.matrix.model import Target
    from harness.suites.driver.ask import Plant

FOUND = 98
"""Exit status of a program in which a sanitizer found something; 1 would read as a failed case."""

_PLANT_TIMEOUT_S = 60.0


def environment(target: Target) -> dict[str, str]:
    """Run-time options of a target's sanitizers: what is off there is off here, everything else is strict."""
    sanitizers = target.sanitizers
    if sanitizers is None:
        return {}
    leaks = "0" if SanitizerCheck.LEAK in sanitizers.off else "1"
    common = f"exitcode={FOUND}:abort_on_error=0:color=never"
    options = {}
    if Sanitizer.ADDRESS in sanitizers.on:
        # A GPU runtime maps memory where the address sanitizer keeps its gap.
        gap = ":protect_shadow_gap=0" if target.backend is not Backend.CPU else ""
        options["ASAN_OPTIONS"] = f"{common}:detect_leaks={leaks}:detect_stack_use_after_return=1{gap}"
    if Sanitizer.UNDEFINED in sanitizers.on:
        options["UBSAN_OPTIONS"] = f"{common}:print_stacktrace=1:halt_on_error=1"
    if Sanitizer.THREAD in sanitizers.on:
        options["TSAN_OPTIONS"] = f"{common}:halt_on_error=1"
    return options


def observe_census(census: CensusRecord | None, wanted: Sequence[Sanitizer]) -> Iterator[Observation]:
    """What the build's census says about each sanitizer."""
    for sanitizer in wanted:
        if census is None or census.objects == 0:
            finding, text = Finding.SILENT, "no object of this build was examined"
        elif census.instrumented.get(sanitizer, 0) < census.objects:
            number = census.instrumented.get(sanitizer, 0)
            without = f"; without any: {', '.join(census.uninstrumented)}" if census.uninstrumented else ""
            finding = Finding.DENIES
            text = f"only {number} of {census.objects} objects are instrumented{without}"
        elif sanitizer not in census.binary:
            finding, text = Finding.DENIES, "the objects are instrumented, the linked program is not"
        else:
            finding, text = Finding.CONFIRMS, f"all {census.objects} objects and the program are instrumented"
        yield Observation(
            claim=claims.SANITIZER, subject=sanitizer, witness=claims.CENSUS, finding=finding, text=text
        )


def observe_planted(
    driver: Path,
    plants: Sequence[Plant],
    wanted: Sequence[Sanitizer],
    *,
    environment: Mapping[str, str],
    folder: Path,
) -> Iterator[Observation]:
    """Commit each planted defect with this build and look for its report.

    `folder` receives what the sanitizers wrote.  Each defect must be reported
    as the kind that the driver lists and, where the report names source lines,
    at its own line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for sanitizer in wanted:
        mine = [plant for plant in plants if plant.sanitizer is sanitizer]
        missed = [wrong for plant in mine if (wrong := _miss(driver, plant, environment, folder))]
        if not mine:
            finding, text = Finding.SILENT, f"the driver has no planted defect for {sanitizer}"
        elif missed:
            finding, text = Finding.DENIES, "; ".join(missed)
        else:
            finding = Finding.CONFIRMS
            text = f"{len(mine)} planted defects were reported ({', '.join(plant.name for plant in mine)})"
        yield Observation(
            claim=claims.SANITIZER,
            subject=sanitizer,
            witness=claims.PLANTED,
            finding=finding,
            text=text,
        )


def _miss(driver: Path, plant: Plant, environment: Mapping[str, str], folder: Path) -> str:
    """Run one planted defect; say what was wrong with its report, or "" if it was as it must be."""
    output = folder / f"{plant.name}.out"
    try:
        ended = process.run(
            [str(driver), "--plant", plant.name],
            output=output,
            environment=environment,
            timeout_s=_PLANT_TIMEOUT_S,
        )
    except OSError as error:
        return f"{plant.name}: the driver cannot be started: {error.strerror}"
    said = process.tail(output, 1 << 20)
    if ended.status != FOUND:
        return f"{plant.name} was not reported: the program {ended.text}"
    if plant.report not in said:
        return f"{plant.name} was not reported as {plant.report}"
    lines = {int(number) for number in re.findall(rf"{re.escape(plant.file)}:(\d+)", said)}
    if lines and plant.line not in lines:
        return f"{plant.name} was reported at line {min(lines)}, not at line {plant.line}"
    return ""
