"""`harness report`: merge, judge and report a run again; the verdict is the exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from harness.cli.arguments import add_matrix, add_report_options

if TYPE_CHECKING:
    import argparse

HELP = "merge, judge and report a run; the verdict is the exit status"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_matrix(parser)
    add_report_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Judge and report a run, and print its summary."""
    from harness.evidence import folders
    from harness.evidence.revision import source_of
    from harness.judge import policy
    from harness.matrix.load import load
    from harness.report import terminal_summary
    from harness.run.conclusion import Conclusion

    matrix = load(arguments.matrix)
    found = folders.find_run(arguments.matrix.resolve().parent, arguments.run)
    qualification = Conclusion(matrix, found, source_of(found.root, arguments.revision)).write()
    sys.stdout.write(terminal_summary(qualification, found.folder))
    return policy.POLICY[policy.OF_MATRIX[qualification.verdict]].exit_status
