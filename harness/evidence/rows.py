"""One row of a report, and what was observed while its case ran."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from harness.evidence.model import DeviceRecord
from harness.words import CopyMode, Execution, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

SWEEP = "sweep"
"""The group of cases that the coverage claim counts."""

FAILING = frozenset({Outcome.FAILED, Outcome.ERROR})
"""Outcomes that turn a lane `failed` by themselves."""

EXECUTED = frozenset(Outcome) - {Outcome.SKIPPED, Outcome.MISSING}
"""Outcomes of a case that really ran (an error may have kept it from running to its end)."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Observed(_Record):
    """What was observed of one case; None or empty where nothing was."""

    mode: CopyMode | None = None
    group: str = ""
    execution: Execution = Execution.REAL
    started: Annotated[float | None, Field(description="seconds of the machine's monotonic clock")] = None
    ended: Annotated[float | None, Field(description="seconds of the same clock")] = None
    exit_status: int | None = None
    device: DeviceRecord | None = None
    memory_kind: Annotated[
        str | None, Field(description="kind of the staging memory as the runtime gave it")
    ] = None
    recorded_mode: Annotated[str, Field(description="what the code under test says it used")] = ""
    transactions: int | None = None
    oracle_transactions: Annotated[int | None, Field(description="recomputed by the oracle")] = None
    first_failure: Annotated[str, Field(description="key of the first transaction that differs")] = ""
    reproduce: Annotated[tuple[str, ...], Field(description="commands that show just this case again")] = ()

    def properties(self) -> Iterator[tuple[str, str]]:
        """The same for people and for JUnit, as names and texts; nothing reads them back."""
        if self.group or self.mode:
            yield "mode", self.mode.value if self.mode is not None else "none"
            yield "group", self.group
            yield "execution", self.execution.value
        for name, seconds in (("started", self.started), ("ended", self.ended)):
            if seconds is not None:
                yield name, f"{seconds:.6f}"
        if self.device is not None:
            for name in ("name", "arch", "pci", "uuid"):
                if getattr(self.device, name):
                    yield f"device_{name}", getattr(self.device, name)
        for name in (
            *("exit_status", "memory_kind", "recorded_mode"),
            *("transactions", "oracle_transactions", "first_failure"),
        ):
            value = getattr(self, name)
            if value is not None and value != "":
                yield name, str(value)
        for command in self.reproduce:
            yield "reproduce", command


class CaseResult(_Record):
    """A line of `results.jsonl`: one case that has ended, written as soon as it had."""

    name: str
    outcome: Outcome
    seconds: float
    text: Annotated[str, Field(description="what the runner says of a case that did not pass")] = ""
    observed: Observed = Observed()

    @property
    def message(self) -> str:
        """The first line of the text."""
        return first_line(self.text)


@dataclass(frozen=True, slots=True)
class Row:
    """One case of one lane.

    `lane` is `target/suite`; `name` is the case as the suite lists it.
    `properties` are those of a JUnit file of somebody else, in order and with
    repeated names kept.  `synthetic` marks rows that no test wrote: the merge
    made them to show something that would else be lost.
    """

    lane: str
    name: str
    outcome: Outcome
    seconds: float | None = None
    message: str = ""
    text: str = ""
    observed: Observed = field(default_factory=Observed)
    properties: tuple[tuple[str, str], ...] = ()
    synthetic: bool = False

    @property
    def sweep_order(self) -> tuple[float, ...]:
        """Where the first failing transaction of this row stands in the sweep; rows without one come last.

        Numbers of the transaction's key in their order, as (pos, q, accepted).
        """
        numbers = re.findall(r"\d+", self.observed.first_failure)
        return tuple(float(number) for number in numbers) or (math.inf,)


def first_line(text: str) -> str:
    """The first line of a text that has anything in it."""
    return text.strip().partition("\n")[0]


def without_worker(text: str) -> str:
    """Leave out the first line of a test's text if it is xdist's `[gw0] linux -- Python …`."""
    return text.partition("\n")[2] if re.match(r"\[gw\d+\] ", text) else text
