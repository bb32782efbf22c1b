"""Arguments that more than one command takes; those of a lane also follow `nox -s … --`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from harness.errors import ConfigurationError
from harness.run.options import Options
from harness.words import CopyMode

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Parser(argparse.ArgumentParser):
    """Raises instead of leaving the process, so that nox can report the mistake in its own way."""

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(f"{message}\n{self.format_usage().strip()}")


def add_matrix(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the matrix file."""
    parser.add_argument(
        "--matrix", type=Path, default=Path("matrix.yaml"), metavar="FILE", help="default: %(default)s"
    )


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add what selects lanes of a matrix."""
    add_matrix(parser)
    parser.add_argument("-s", "--session", action="append", default=[], help="lanes of this nox session")
    parser.add_argument("lanes", nargs="*", metavar="TARGET/SUITE", help="lanes by name; * and ? match")


def add_lane_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this module to a parser."""
    parser.add_argument(
        "--mode",
        action="append",
        default=[],
        choices=[mode.value for mode in CopyMode],
        help="run only cases of this copy mode (may be repeated)",
    )
    parser.add_argument(
        "--case",
        action="append",
        default=[],
        metavar="PATTERN",
        help="run only cases of this name; * and ? match",
    )
    parser.add_argument(
        "-k", dest="keyword", metavar="EXPRESSION", help="run only cases that match, as in pytest"
    )
    parser.add_argument("--workers", type=_Positive(int), metavar="N", help="cases at once on a CPU target")
    parser.add_argument(
        "--timeout", type=_Positive(float), metavar="SECONDS", help="time that one case may take"
    )
    parser.add_argument("--build-only", action="store_true", help="build and inspect, run nothing")


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which run is judged, and for which revision."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="name or folder of the run; default: the last")
    parser.add_argument(
        "--revision", metavar="REV", help="judge for this commit; default: the working tree as it is now"
    )


def parse_report_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read what follows `nox -s report --`; raises ConfigurationError."""
    parser = _Parser(prog="nox -s report --", add_help=False)
    add_report_options(parser)
    return parser.parse_args(arguments)


def options_from(arguments: argparse.Namespace) -> Options:
    """Make the options from what was parsed."""
    return Options(
        modes=tuple(arguments.mode),
        cases=tuple(arguments.case),
        keyword=arguments.keyword,
        workers=arguments.workers,
        timeout_s=arguments.timeout,
        build_only=arguments.build_only,
    )


def parse_session_arguments(session: str, arguments: Sequence[str]) -> Options:
    """Read what follows `--` on nox's command line; raises ConfigurationError."""
    parser = _Parser(prog=f"nox -s {session} --", add_help=False)
    add_lane_options(parser)
    return options_from(parser.parse_args(arguments))


class _Positive:
    """Converts an argument to a number above zero."""

    def __init__(self, convert: type[int] | type[float]) -> None:
        self._convert = convert

    def __call__(self, text: str) -> int | float:
        try:
            value = self._convert(text)
        except ValueError:
            value = self._convert(0)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number above zero")
        return value
