"""Rows from a JUnit file, with limits on what a file may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from junitparser import Error, Failure, JUnitXmlError, Skipped
from junitparser.xunit2 import JUnitXml, TestSuite
from lxml import etree

from harness.evidence.rows import Row, first_line, without_worker
from harness.words import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MOST_BYTES = 256 << 20


class DamagedReportError(Exception):
    """A JUnit file that cannot be read; the message says why, with the line where it is known."""


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
            outcome, message = kind, first_line(str(result.message or result.text or ""))
    return Row(
        lane=lane,
        name=str(case.name).rsplit("@", 1)[0],
        outcome=outcome,
        seconds=case.time,
        message=message,
        text="\n".join(without_worker(text) for text in texts if text),
        properties=tuple((str(p.name), str(p.value)) for p in case.properties()),
    )
