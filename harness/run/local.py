"""Lanes that run on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.run.stages import run_lane

if TYPE_CHECKING:
    from harness.evidence.folders import Run
    from harness.evidence.store import LaneRecord
    from harness.matrix.lanes import Lane
    from harness.run.console import Console
    from harness.run.options import Options


class Local:
    """This machine."""

    def run(self, lane: Lane, run: Run, options: Options, console: Console) -> LaneRecord:
        """Run a lane here."""
        return run_lane(lane, run, options, console, executor="local")
