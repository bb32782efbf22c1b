"""From the files of one lane folder to its rows.

The runner's `junit.xml` is the source.  Where it is missing or damaged the
rows come from `results.jsonl`, which grew while the lane ran, and the lane
gets a row that says so.  Planned cases without a row become `missing`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from junitparser import Error, Failure, JUnitXmlError, Skipped
from junitparser.xunit2 import JUnitXml, TestSuite
from lxml import etree

from harness.evidence.model import State
from harness.evidence.rows import Row, without_worker
from harness.words import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.evidence.model import Evidence

JUNIT = "junit.xml"
RESULTS = "results.jsonl"

_MOST_BYTES = 256 << 20


class DamagedReportError(Exception):
    """A JUnit file that cannot be read; the message says why, with the line where it is known."""


def lane_rows(folder: Path, evidence: Evidence) -> tuple[Row, ...]:
    """All rows of a lane: those that the runner reported, then what is missing.

    A report that should be there and cannot be read gives an `error` row of
    its own, so that the lane cannot look better than it was.
    """
    if evidence.not_run is not None and not (folder / RESULTS).exists():
        return ()
    damage = ""
    try:
        rows = [row for row in read_junit(folder / JUNIT, evidence.lane) if _ended(row)]
    except DamagedReportError as error:
        rows = list(_from_results(folder / RESULTS, evidence.lane))
        damage = str(error)
    if damage and evidence.state is State.FINISHED:
        rows.append(Row(evidence.lane, "(report)", Outcome.ERROR, message=damage, synthetic=True))
    reported = {row.name for row in rows}
    rows.extend(
        Row(
            evidence.lane,
            case.name,
            Outcome.MISSING,
            message="planned, but there is no result",
            properties=(("mode", case.mode or "none"), ("execution", case.execution)),
            synthetic=True,
        )
        for case in evidence.planned
        if case.name not in reported
    )
    order = {case.name: index for index, case in enumerate(evidence.planned)}
    return tuple(sorted(rows, key=lambda row: order.get(row.name, len(order))))


def _ended(row: Row) -> bool:
    """Whether the runner saw the case end.

    When pytest is interrupted its JUnit file shows the case that was running
    as a test case without a failure, which reads as passed.  What a case
    observed is recorded only when it has ended.
    """
    return row.outcome is not Outcome.PASSED or row.recorded("ended") is not None


def read_junit(path: Path, lane: str) -> Iterator[Row]:
    """Yield the rows of a JUnit file that pytest wrote; raises DamagedReportError."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DamagedReportError(f"{path.name}: larger than {_MOST_BYTES >> 20} MiB")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
        root = etree.parse(path, parser)
        if root.docinfo.doctype:
            raise DamagedReportError(f"{path.name}: a document type declaration is not accepted")
        xml: Any = JUnitXml.fromroot(root.getroot())
    except FileNotFoundError:
        raise DamagedReportError(f"{path.name}: the runner left no report") from None
    except (OSError, etree.XMLSyntaxError, JUnitXmlError) as error:
        raise DamagedReportError(f"{path.name}: {error}") from error
    for suite in [xml] if isinstance(xml, TestSuite) else xml:
        for case in suite:
            yield _row(lane, case)


def _row(lane: str, case: Any) -> Row:
    outcome, message, texts = Outcome.PASSED, "", []
    for result in case.result:
        texts.append(str(result.text or ""))
        if isinstance(result, Error):
            kind = Outcome.ERROR
        elif isinstance(result, Failure):
            kind = Outcome.FAILED
        elif isinstance(result, Skipped):
            kind = Outcome.XFAILED if result.type == "pytest.xfail" else Outcome.SKIPPED
        else:
            continue
        if outcome is not Outcome.ERROR:
            outcome, message = kind, _first_line(str(result.message or result.text or ""))
    return Row(
        lane=lane,
        name=str(case.name).rsplit("@", 1)[0],
        outcome=outcome,
        seconds=case.time,
        message=message,
        text="\n".join(without_worker(text) for text in texts if text),
        properties=tuple((str(p.name), str(p.value)) for p in case.properties()),
    )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _from_results(path: Path, lane: str) -> Iterator[Row]:
    """Rows as the runner's controller saw them one by one; a cut last line is left out."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    outcomes = {"passed": Outcome.PASSED, "failed": Outcome.FAILED, "skipped": Outcome.SKIPPED}
    for line in lines:
        try:
            row = json.loads(line)
            yield Row(
                lane=lane,
                name=row["name"],
                outcome=outcomes.get(row["outcome"], Outcome.ERROR),
                seconds=row["seconds"],
                message=_first_line(row["text"]),
                text=row["text"],
                properties=tuple((name, value) for name, value in row["properties"]),
            )
        except (ValueError, KeyError, TypeError):
            continue
