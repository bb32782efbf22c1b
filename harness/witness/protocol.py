"""What a witness is: it stands for one claim, is asked at one point of a lane, and says only what it saw.

A witness is one module of this folder with `WITNESS`; `harness/claims.py`
says which claims need it.  A lane asks those that its claims need.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from harness.words import Execution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from harness.build import Artifact
    from harness.evidence.model import CaseRecord, DeviceRecord, Finding
    from harness.evidence.rows import Row
    from harness.matrix.lanes import Lane
    from harness.suites.protocol import Suite


class Point(Enum):
    """Where in a lane a witness is asked."""

    BUILT = "built"
    BEFORE_RUN = "before the run"
    AFTER_RUN = "after the run"


@dataclass(frozen=True, slots=True)
class View:
    """What a witness may look at; what is not known yet at its point is None or empty."""

    lane: Lane
    suite: Suite
    folder: Path
    environment: Mapping[str, str]
    artifact: Artifact | None = None
    device: DeviceRecord | None = None
    planned: tuple[CaseRecord, ...] = ()
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Sighting:
    """One thing that was seen, about one part of the claim (as a copy mode) or, without subject, all of it.

    `value` is a count that the judge compares with the matrix.
    """

    finding: Finding
    text: str
    subject: str = ""
    value: int | None = None
    execution: Execution = Execution.REAL


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness under the names that `harness/claims.py` gives its claim and itself."""

    claim: str
    name: str
    at: Point
    observe: Callable[[View], Iterable[Sighting]]
