"""The merged JUnit file of a run: one suite a lane, each row under the name of its lane."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from junitparser import Error, Failure, Skipped
from junitparser.xunit2 import JUnitXml, TestCase, TestSuite

from harness.system.files import write_atomically
from harness.words import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from harness.evidence.rows import Row

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def visible(text: str) -> str:
    r"""Replace characters that XML cannot hold by a visible mark, as `\x1b`."""
    return _NOT_XML.sub(lambda match: match.group().encode("unicode_escape", "surrogatepass").decode(), text)


def merged(lanes: Mapping[str, Sequence[Row]], properties: Mapping[str, Mapping[str, str]]) -> JUnitXml:
    """Build the merged report from the rows of each lane, in the order given.

    `properties` are those of each lane's suite.  Identity of a row is lane and
    case: the class name is the lane, so that equal cases of two lanes stay two.
    """
    xml = JUnitXml("qualification")
    for lane, rows in lanes.items():
        suite = TestSuite(visible(lane))
        for name, value in properties.get(lane, {}).items():
            suite.add_property(visible(name), visible(value))
        suite.add_testcases([_case(row) for row in rows])
        xml.append(suite)
    xml.update_statistics()
    return xml


def _case(row: Row) -> TestCase:
    case = TestCase(visible(row.name), classname=visible(row.lane), time=row.seconds)
    target, _, suite = row.lane.partition("/")
    own = (("target", target), ("suite", suite), *(() if not row.synthetic else (("synthetic", "true"),)))
    observed = (*row.observed.properties(), *row.properties)
    known = dict(observed)
    asked = ((name, "not observed") for name in ("mode", "memory_kind") if name not in known)
    for name, value in (*own, *observed, *asked):
        case.add_property(visible(name), visible(value))
    result = _result(row)
    if result is not None:
        result.text = visible(row.text)
        case.result = [result]
    return case


def _result(row: Row) -> Failure | Error | Skipped | None:
    message = visible(row.message)
    match row.outcome:
        case Outcome.PASSED:
            return None
        case Outcome.FAILED:
            return Failure(message, row.outcome.value)
        case Outcome.ERROR | Outcome.MISSING:
            return Error(message, row.outcome.value)
        case Outcome.SKIPPED | Outcome.XFAILED:
            return Skipped(message, row.outcome.value)


def write(xml: JUnitXml, path: Path) -> None:
    """Write a report in one step; raises OutputError."""
    buffer = io.BytesIO()
    xml.write(buffer)
    write_atomically(path, buffer.getvalue())
