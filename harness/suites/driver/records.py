"""The records that a driver writes while it runs a case (docs/driver.md), one JSON object a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from harness.suites.driver.ask import DriverError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Record = dict[str, Any]
"""One line of a driver's record file, as JSON gives it; `type` is always a string."""


class RecordsError(DriverError):
    """A record file that is not what docs/driver.md describes; the message has the line."""


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a file in order.

    Raises RecordsError at the first line that is not a JSON object with a
    `type`; a last line that was cut off by a crash is one of them.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield _record(path, number, line)
    except FileNotFoundError:
        raise RecordsError(f"{path.name}: no records were written") from None
    except OSError as error:
        raise RecordsError(f"{path.name}: cannot be read: {error.strerror}") from error


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        shown = line[:80].decode(errors="backslashreplace").rstrip("\n")
        raise RecordsError(f"{path.name}:{number}: not a JSON record: {shown!r}") from None
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        raise RecordsError(f"{path.name}:{number}: a record without a type")
    return record
