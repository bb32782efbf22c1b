"""One row of a report: what the merge hands to the judge and to the writer of the merged file."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from harness.words import Execution, Outcome

SWEEP = "sweep"
"""The group of cases that the coverage claim counts."""

FAILING = frozenset({Outcome.FAILED, Outcome.ERROR, Outcome.XPASSED})
"""Outcomes that turn a lane `failed` by themselves."""

EXECUTED = frozenset(Outcome) - {Outcome.SKIPPED, Outcome.MISSING}
"""Outcomes of a case that really ran (an error may have kept it from running to its end)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One case of one lane.

    `lane` is `target/suite`; `name` is the case as the driver lists it.
    `properties` holds what the runner recorded in the row, in order and with
    repeated names kept.  `synthetic` marks rows that no test wrote: the merge
    made them to show something that would else be lost.
    """

    lane: str
    name: str
    outcome: Outcome
    seconds: float | None = None
    message: str = ""
    text: str = ""
    properties: tuple[tuple[str, str], ...] = ()
    synthetic: bool = False

    def recorded(self, name: str) -> str | None:
        """The first value recorded under `name`, or None."""
        return next((value for key, value in self.properties if key == name), None)

    @property
    def sweep_order(self) -> tuple[float, ...]:
        """Where the first failing transaction of this row stands in the sweep; rows without one come last.

        Numbers of the transaction's key in their order, as (pos, q, accepted).
        """
        numbers = re.findall(r"\d+", self.recorded("first_failure") or "")
        return tuple(float(number) for number in numbers) or (math.inf,)

    @property
    def execution(self) -> Execution:
        """Whether the case ran on the thing itself; rows that do not say are real."""
        return Execution(self.recorded("execution") or Execution.REAL)


def without_worker(text: str) -> str:
    """Leave out the first line of a test's text if it is xdist's `[gw0] linux -- Python …`."""
    return text.partition("\n")[2] if re.match(r"\[gw\d+\] ", text) else text
