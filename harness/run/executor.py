"""Where a lane runs.

An executor takes a lane to a machine and brings its folder and its record
back.  Another one is a module here and an entry in the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from harness.run.local import Local

if TYPE_CHECKING:
    from harness.evidence.folders import Run
    from harness.evidence.store import LaneRecord
    from harness.matrix.lanes import Lane
    from harness.run.console import Console
    from harness.run.options import Options


class Executor(Protocol):
    """A place where lanes run."""

    def run(self, lane: Lane, run: Run, options: Options, console: Console) -> LaneRecord:
        """Run a lane and leave its folder in the run's.

        What goes wrong with the lane is in its record.  Raises OutputError if
        there can be none, KeyboardInterrupt after an interrupted lane has been
        recorded.
        """
        ...


EXECUTORS: dict[str, Executor] = {"local": Local()}
"""All of them, by the name that evidence gives them."""


def executor_of(lane: Lane) -> Executor:
    """The executor of a lane: this machine, until targets can name another."""
    del lane
    return EXECUTORS["local"]
