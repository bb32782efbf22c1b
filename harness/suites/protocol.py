"""The questions that a suite of every kind answers, and what it is told.

A lane asks them in this order and knows no kind by name.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from harness.errors import HarnessError
from harness.suites.keys import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from harness.build import Artifact
    from harness.evidence.model import CaseRecord, DeviceRecord, Evidence
    from harness.evidence.rows import Row
    from harness.matrix.lanes import Lane
    from harness.words import Sanitizer


class SuiteError(HarnessError):
    """A suite that cannot say what it has: its program crashed, hung or answered nonsense."""

    exit_status = 1


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the suite of one lane is, where it leaves what it makes, and what its processes inherit.

    `root` is the project's folder, `folder` the lane's, `cache` is kept
    between runs.  Records of this run carry the `nonce`.
    """

    lane: Lane
    root: Path
    folder: Path
    cache: Path
    environment: Mapping[str, str]
    nonce: str
    say: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Devices:
    """The devices that the suite's programs see; `status` is what the runtime answered if there are none."""

    found: tuple[DeviceRecord, ...]
    status: str = ""


@dataclass(frozen=True, slots=True)
class PlantedDefect:
    """A deliberate defect in the suite's program, and how the sanitizer must report it.

    `command` commits it; the report must have the text `report` and name
    `line` of `file` if it names lines of that file at all.
    """

    name: str
    sanitizer: Sanitizer
    report: str
    file: str
    line: int
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """Which cases are to run, where and how; `keyword` is an expression as of pytest's `-k`."""

    cases: tuple[CaseRecord, ...]
    device: DeviceRecord | None
    keyword: str | None
    workers: int
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Command:
    """A program that runs the work, to be started in the lane's folder."""

    words: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is; `last_failure` is the headline of a row that failed since the last look."""

    done: int
    failed: int
    total: int
    last_failure: str = ""


class Suite(Protocol):
    """The suite of one lane."""

    def build(self) -> Artifact | None:
        """Build what the suite needs; None if it needs nothing.  Raises NotBuiltError, BuildFailedError."""
        ...

    def inputs(self) -> tuple[Path, ...]:
        """Files that decide the result and that no build has read."""
        ...

    def devices(self) -> Devices | None:
        """The devices that its programs see; None if they cannot be asked.  Raises SuiteError."""
        ...

    def cases(self) -> tuple[CaseRecord, ...]:
        """The cases that it plans for this lane.  Raises SuiteError."""
        ...

    def defects(self) -> tuple[PlantedDefect, ...]:
        """Its planted defects; none if it has none.  Raises SuiteError."""
        ...

    def start(self, work: Work) -> Command:
        """Prepare the lane's folder for the work and say which program runs it.  Raises OutputError."""
        ...

    def look(self) -> Progress:
        """How far the work is."""
        ...

    def selected(self) -> frozenset[str]:
        """Names of the cases that the keyword left; known when the program has ended."""
        ...

    def transactions(self, case: CaseRecord) -> frozenset[str]:
        """Keys of the transactions that a case completed without a mismatch."""
        ...


class Kind(Protocol):
    """A kind of suites."""

    def suite(self, setting: Setting) -> Suite:
        """The suite of one lane."""
        ...

    def rows(self, folder: Path, evidence: Evidence, *, ended: bool) -> tuple[Row, ...]:
        """All rows of a lane from its folder, in the order of the plan, with a row for what is missing.

        `ended` says that the program came to its end by itself.  A report that
        should be there and cannot be believed is an `error` row.
        """
        ...


def kind_of(name: str) -> Kind:
    """The kind of this name."""
    found: Kind = importlib.import_module(f"{KINDS[name]}.kind").KIND
    return found
