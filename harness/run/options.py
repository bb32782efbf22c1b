"""What a person selected inside a lane, and how it is to run."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.evidence.model import CaseRecord


@dataclass(frozen=True, slots=True)
class Options:
    """What a person selected inside a lane, and how it is to run."""

    modes: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    keyword: str | None = None
    workers: int | None = None
    timeout_s: float | None = None
    build_only: bool = False

    @property
    def selection(self) -> tuple[str, ...]:
        """The filters as they were typed; empty if all cases were meant."""
        return (
            *(f"--mode {mode}" for mode in self.modes),
            *(f"--case {case}" for case in self.cases),
            *((f"-k {self.keyword}",) if self.keyword else ()),
        )

    def wants(self, case: CaseRecord) -> bool:
        """Whether modes and case patterns let a case through; the keyword is pytest's."""
        return (not self.modes or (case.mode or "none") in self.modes) and (
            not self.cases or any(fnmatchcase(case.name, pattern) for pattern in self.cases)
        )
