"""The command `harness`: everything that can be done without nox."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness import __version__, runs
from harness.commands import plan as plan_command
from harness.commands import validate as validate_command
from harness.errors import HarnessError
from harness.matrixfile import load
from harness.options import add_lane_options, options_from
from harness.plan import Selection, plan
from harness.qualify import qualify
from harness.report import terminal_summary
from harness.revision import revision_of
from harness.session import run_session
from harness.words import LaneVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.matrix import Matrix
    from harness.qualification import Qualification
    from harness.runs import Run

INTERRUPTED = 130

_EPILOG = """\
exit status:
  0  qualified         1  not qualified
  2  usage or configuration error
  3  incomplete: something was not run, is missing or is not established
  130  interrupted

examples:
  harness validate matrix.yaml
  harness plan -s cuda
  harness run -s cpu-sanitize --mode sync
  harness run 'rtx3090/*'
  harness report
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status (docs/verdicts.md)."""
    parsed = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = parsed.command
    try:
        return command(parsed)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; nobody is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="harness",
        description="Builds and runs kernel suites on every target of a matrix; reports what was observed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    validate = commands.add_parser("validate", help="check a matrix file and name all its problems")
    validate.add_argument("file", nargs="?", type=Path, default=Path("matrix.yaml"))
    validate.set_defaults(command=lambda a: validate_command.validate(a.file))

    planned = commands.add_parser(
        "plan", help="show the lanes, why each is in or out, and what no lane covers"
    )
    _add_selection(planned)
    planned.add_argument("--json", action="store_true", help="as JSON")
    planned.set_defaults(command=lambda a: plan_command.show(a.matrix, a.session, a.lanes, as_json=a.json))

    running = commands.add_parser("run", help="build and run lanes, then report")
    _add_selection(running)
    add_lane_options(running)
    running.set_defaults(command=_run)

    reporting = commands.add_parser(
        "report", help="merge, judge and report a run; the verdict is the exit status"
    )
    _add_matrix(reporting)
    reporting.add_argument(
        "run", nargs="?", metavar="RUN", help="name or folder of the run; default: the last"
    )
    reporting.set_defaults(command=_report)
    return parser


def _add_matrix(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--matrix", type=Path, default=Path("matrix.yaml"), metavar="FILE", help="default: %(default)s"
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    _add_matrix(parser)
    parser.add_argument("-s", "--session", action="append", default=[], help="lanes of this nox session")
    parser.add_argument("lanes", nargs="*", metavar="TARGET/SUITE", help="lanes by name; * and ? match")


def _run(arguments: argparse.Namespace) -> int:
    matrix = load(arguments.matrix)
    root = arguments.matrix.resolve().parent
    chosen = plan(matrix, Selection(tuple(arguments.session), tuple(arguments.lanes))).selected
    run = runs.new_run(root)
    now = dt.datetime.now(dt.UTC)
    try:
        run_session(matrix, chosen, run, revision_of(root), options_from(arguments), now=now)
    except KeyboardInterrupt:
        _finish(matrix, run)
        raise
    wanted = {lane.id for lane in chosen}
    verdicts = {lane.verdict for lane in _finish(matrix, run).lanes if lane.id in wanted}
    if LaneVerdict.FAILED in verdicts:
        return 1
    return 0 if verdicts == {LaneVerdict.QUALIFIED} else 3


def _finish(matrix: Matrix, run: Run) -> Qualification:
    """Judge and report a run, and print its summary."""
    qualification = qualify(matrix, run)
    sys.stdout.write(terminal_summary(qualification, run.folder))
    return qualification


def _report(arguments: argparse.Namespace) -> int:
    matrix = load(arguments.matrix)
    run = runs.find_run(arguments.matrix.resolve().parent, arguments.run)
    verdict = _finish(matrix, run).verdict
    return {Verdict.QUALIFIED: 0, Verdict.NOT_QUALIFIED: 1, Verdict.INCOMPLETE: 3}[verdict]
