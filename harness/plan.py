"""Which lanes a matrix has, in a stable order, and why each is in or out of a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.matrix import session_of

if TYPE_CHECKING:
    from harness.matrix import Suite, Target
    from harness.words import CopyMode


@dataclass(frozen=True, slots=True)
class Lane:
    """One suite on one target: the unit that is built, run, recorded and judged."""

    target_name: str
    suite_name: str
    target: Target
    suite: Suite

    @property
    def id(self) -> str:
        """`target/suite`: unique in a matrix, a relative path, the prefix of every row."""
        return f"{self.target_name}/{self.suite_name}"

    @property
    def session(self) -> str:
        """The nox session that runs this lane."""
        return session_of(self.target_name, self.target)

    @property
    def copy_modes(self) -> tuple[CopyMode, ...]:
        """The copy modes that the suite declares for this lane's backend."""
        return self.suite.copy_modes.get(self.target.backend, ())
