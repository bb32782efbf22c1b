"""What a suite's independent oracle answers: the types between `oracle.py` of a suite and the runner.

An oracle shares no code with the kernels.  It gets the records that a driver
wrote (docs/driver.md), recomputes what they should say, and answers with the
classes of this module.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the device's state is not what the oracle computed.

    `key` names the transaction as in the records; `text` is one line for
    people that starts with the transaction and names tensor, row and column
    where they are known.
    """

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The oracle's answer for one case.

    `transactions` counts those that the oracle recomputed itself, `differing`
    those among them that differ; `first` is the first of them in the order of
    the sweep, or None.
    """

    transactions: int
    differing: int
    first: Difference | None = None

    @property
    def agrees(self) -> bool:
        """True if every transaction that was looked at is as computed."""
        return self.differing == 0
