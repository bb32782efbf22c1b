"""`harness plan`: the lanes, why each is in or out, and what no lane covers.  Touches no device."""

from __future__ import annotations

import itertools
import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from harness.cli.arguments import add_selection

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from harness.matrix.lanes import Lane
    from harness.plan import Coverage, Plan

HELP = "show the lanes, why each is in or out, and what no lane covers"

UNCOVERED = "-- no lane --"

# Lanes of one value that are shown to people; `--json` names all.
MOST_LANES = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_selection(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan of a selection; 0.  Raises MatrixError or ConfigurationError."""
    from harness.matrix.load import load
    from harness.plan import Selection, coverage, plan

    matrix = load(arguments.matrix)
    planned = plan(matrix, Selection(tuple(arguments.session), tuple(arguments.lanes)))
    covered = coverage(matrix)
    if arguments.json:
        sys.stdout.write(json.dumps(as_data(planned, covered), indent=1) + "\n")
    else:
        sys.stdout.write(as_text(planned, covered))
    return 0


def as_data(planned: Plan, covered: Iterable[Coverage]) -> dict[str, Any]:
    """The plan for programs (docs/matrix.md): `lanes[]` and `coverage[]`, in the order of the file."""
    return {
        "schema_version": 1,
        "lanes": [
            {
                "lane": entry.lane.id,
                "target": entry.lane.target_name,
                "suite": entry.lane.suite_name,
                "session": entry.lane.session,
                "backend": entry.lane.target.backend,
                "arch": entry.lane.target.arch,
                "copy_modes": list(entry.lane.copy_modes),
                "required": entry.lane.target.required,
                "selected": entry.selected,
                "why": entry.why,
            }
            for entry in planned.entries
        ],
        "coverage": [{"kind": c.kind, "value": c.value, "lanes": list(c.lanes)} for c in covered],
    }


def as_text(planned: Plan, covered: Sequence[Coverage], width: int = 80) -> str:
    """The plan for people, `width` columns wide; only a name can be longer than a line."""
    lines = ["lanes"]
    column = _column([entry.lane.id for entry in planned.entries], width)
    for entry in planned.entries:
        mark = "in " if entry.selected else "out"
        what = f"{_what(entry.lane)}; {entry.why}" if entry.selected else entry.why
        lines += _row(f"  {mark}  ", entry.lane.id, column, what, width)
    lines += ["", "coverage of what the matrix declares"]
    column = _column([row.value for row in covered], width)
    for kind, rows in itertools.groupby(covered, key=lambda row: row.kind):
        lines.append(f"  {kind}")
        for row in rows:
            lines += _row("    ", row.value, column, _lanes(row.lanes), width)
    return "\n".join(lines) + "\n"


def _column(names: Iterable[str], width: int) -> int:
    """Width of the left column: that of the longest name, but no more than half a line."""
    return min(max((len(name) for name in names), default=0), width // 2)


def _row(start: str, name: str, column: int, text: str, width: int) -> list[str]:
    """A name and a text beside it, broken into as many lines as that needs."""
    beside = " " * (len(start) + column + 2)
    broken = textwrap.wrap(
        text,
        width,
        initial_indent=beside,
        subsequent_indent=beside,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if len(name) > column:
        return [f"{start}{name}", *broken]
    return [f"{start}{name:<{column}}  {broken[0].lstrip()}", *broken[1:]]


def _lanes(lanes: Sequence[str]) -> str:
    if not lanes:
        return UNCOVERED
    more = f", … ({len(lanes)} in all)" if len(lanes) > MOST_LANES else ""
    return ", ".join(lanes[:MOST_LANES]) + more


def _what(lane: Lane) -> str:
    required = "" if lane.target.required else ", optional"
    return f"{lane.target.arch or lane.target.backend}: {', '.join(lane.copy_modes)}{required}"
