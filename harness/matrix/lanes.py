"""The lanes of a matrix: every suite on every target that it runs on, in a stable order."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness.matrix.model import session_of

if TYPE_CHECKING:
    from harness.matrix.model import Matrix, Target
    from harness.suites.keys import SuiteKeys
    from harness.words import CopyMode


@dataclass(frozen=True, slots=True)
class Lane:
    """One suite on one target: the unit that is built, run, recorded and judged."""

    target_name: str
    suite_name: str
    target: Target
    suite: SuiteKeys

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
        return self.suite.modes.get(self.target.backend, ())


def matrix_entry_digest(lane: Lane) -> str:
    """Digest of what the matrix says about a lane: its target, its suite and their names."""
    entry = {
        "target": lane.target_name,
        "suite": lane.suite_name,
        "declared": [lane.target.model_dump(mode="json"), lane.suite.model_dump(mode="json")],
    }
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()


def all_lanes(matrix: Matrix) -> tuple[Lane, ...]:
    """Every lane of a matrix, suites within targets, both in the order of the file."""
    return tuple(
        Lane(target_name, suite_name, target, suite)
        for target_name, target in matrix.targets.items()
        for suite_name, suite in matrix.suites.items()
        if not why_excluded(target_name, target, suite)
    )


def why_excluded(target_name: str, target: Target, suite: SuiteKeys) -> str:
    """Why a suite does not run on a target, or "" if it does."""
    if not any(fnmatchcase(target_name, pattern) for pattern in suite.targets):
        return f"the suite runs on {', '.join(suite.targets)} only"
    return suite.why_not_on(target.backend)
