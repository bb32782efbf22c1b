"""The command `harness`: everything that can be done without nox.

A subcommand is one module with `HELP`, `add_arguments` and `run`, and an entry
in the table below.  What only some of them need is imported where it is used,
so that the others answer at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from harness import __version__
from harness.cli import plan, report, run, validate
from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    class Command(Protocol):
        """What a module of one subcommand offers."""

        HELP: str

        def add_arguments(self, parser: argparse.ArgumentParser) -> None:
            """Declare the arguments."""

        def run(self, arguments: argparse.Namespace) -> int:
            """Do it; the exit status.  Raises HarnessError and KeyboardInterrupt."""


INTERRUPTED = 130

_COMMANDS: dict[str, Command] = {"validate": validate, "plan": plan, "run": run, "report": report}

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
    for name, command in _COMMANDS.items():
        added = commands.add_parser(name, help=command.HELP)
        command.add_arguments(added)
        added.set_defaults(command=command.run)
    return parser
