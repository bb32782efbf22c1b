"""From the folder of a driver lane to its rows.

`results.jsonl` is what the runner's controller saw, one typed line a case, and
it is complete up to the moment of any crash; `junit.xml` is the runner's own
file for the outside.  Both must tell the same of a lane that came to its end,
or the lane gets a row that says what differs.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pydantic import ValidationError

from harness import junit
from harness.evidence.folders import JUNIT, RESULTS, RUN_LOG
from harness.evidence.rows import CaseResult, Observed, Row
from harness.system.process import tail
from harness.words import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from harness.evidence.model import CaseRecord, Evidence


def rows_of(folder: Path, evidence: Evidence, *, ended: bool) -> tuple[Row, ...]:
    """All rows of a lane: those that the runner reported, then what is missing.

    `ended` says that the runner came to its end by itself.

    A report that should be there and cannot be believed gives an `error` row
    of its own, so that the lane cannot look better than it was.
    """
    if evidence.not_run is not None and not (folder / RESULTS).exists():
        return ()
    results, damage = _results(folder / RESULTS)
    # A runner that was stopped while it wrote has damaged nothing.
    damage = (damage or _disagreement(folder / JUNIT, evidence.lane, results)) if ended else ""
    rows = [
        Row(
            lane=evidence.lane,
            name=result.name,
            outcome=result.outcome,
            seconds=result.seconds,
            message=result.message,
            text=result.text,
            observed=result.observed,
        )
        for result in results
    ]
    if damage:
        rows.append(Row(evidence.lane, "(report)", Outcome.ERROR, message=damage, synthetic=True))
    reported = {row.name for row in rows}
    rows.extend(_missing(evidence.lane, case) for case in evidence.planned if case.name not in reported)
    order = {case.name: index for index, case in enumerate(evidence.planned)}
    return tuple(sorted(rows, key=lambda row: order.get(row.name, len(order))))


def _missing(lane: str, case: CaseRecord) -> Row:
    return Row(
        lane,
        case.name,
        Outcome.MISSING,
        message="planned, but there is no result",
        observed=Observed(mode=case.mode, group=case.group, execution=case.execution),
        synthetic=True,
    )


def _results(path: Path) -> tuple[list[CaseResult], str]:
    """The lines that can be read, and what is wrong with the first one that cannot."""
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return [], ""  # what the runner should have left besides will tell
    except OSError as error:
        return [], f"{path.name}: {error.strerror}"
    found, damage = [], ""
    for number, line in enumerate(lines, start=1):
        try:
            found.append(CaseResult.model_validate_json(line))
        except ValidationError as error:
            damage = damage or f"{path.name}:{number}: not a result: {error.errors()[0]['msg']}"
    return found, damage


def _disagreement(path: Path, lane: str, results: list[CaseResult]) -> str:
    """How the runner's JUnit file differs from what its controller saw; "" if it does not."""
    try:
        reported = Counter((row.name, row.outcome) for row in junit.read_junit(path, lane))
    except junit.DamagedReportError as error:
        said = [line.strip() for line in tail(path.with_name(RUN_LOG)).splitlines() if line.strip()]
        return f"{error}; the last thing it said: {said[-1]}" if said else str(error)
    seen = Counter((result.name, result.outcome) for result in results)
    for name, outcome in reported - seen:
        return f"{path.name}: {name} {outcome}, which the runner did not see"
    for name, outcome in seen - reported:
        return f"{path.name}: {name} {outcome}, as the runner saw, is not in it"
    return ""
