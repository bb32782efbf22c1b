"""`harness run`: build and run lanes, then report; the verdict of those lanes is the exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.cli.arguments import add_lane_options, add_selection, options_from

if TYPE_CHECKING:
    import argparse

HELP = "build and run lanes, then report"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_selection(parser)
    add_lane_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the selected lanes; 0 if all of them are qualified, 1 if one failed, else 3."""
    from harness.evidence import folders
    from harness.judge import policy
    from harness.matrix.load import load
    from harness.plan import Selection, plan
    from harness.report import terminal_summary
    from harness.run.conclusion import Conclusion
    from harness.run.series import run_session

    matrix = load(arguments.matrix)
    root = arguments.matrix.resolve().parent
    chosen = plan(matrix, Selection(tuple(arguments.session), tuple(arguments.lanes))).selected
    conclusion = Conclusion(matrix, folders.new_run(root))
    try:
        run_session(conclusion, chosen, options_from(arguments))
    finally:
        qualification = conclusion.write()
        sys.stdout.write(terminal_summary(qualification, conclusion.run.folder))
    wanted = {lane.id for lane in chosen}
    standings = [
        policy.of_lane(lane, matrix.ci.may_be_missing) for lane in qualification.lanes if lane.id in wanted
    ]
    return policy.POLICY[policy.worst(standings)].exit_status
