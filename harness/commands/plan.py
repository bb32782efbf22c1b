"""`harness plan`: the lanes, why each is in or out, and what no lane covers.  Touches no device."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from harness.matrixfile import load
from harness.plan import Coverage, Plan, Selection, coverage, plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from harness.plan import Entry

UNCOVERED = "-- no lane --"


def show(path: Path, sessions: Sequence[str], patterns: Sequence[str], *, as_json: bool) -> int:
    """Print the plan of a selection; 0.  Raises MatrixError or ConfigurationError."""
    matrix = load(path)
    planned = plan(matrix, Selection(tuple(sessions), tuple(patterns)))
    covered = coverage(matrix)
    if as_json:
        sys.stdout.write(json.dumps(as_data(planned, covered), indent=1) + "\n")
    else:
        sys.stdout.write(as_text(planned, covered))
    return 0


def as_data(planned: Plan, covered: Iterable[Coverage]) -> dict[str, Any]:
    """The plan for programs: `lanes[]` and `coverage[]`."""
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


def as_text(planned: Plan, covered: Iterable[Coverage]) -> str:
    """The plan for people, at most 80 columns wide unless names are longer."""
    lines = ["lanes"]
    width = max(len(entry.lane.id) for entry in planned.entries)
    for entry in planned.entries:
        mark = "in " if entry.selected else "out"
        lines.append(f"  {mark} {entry.lane.id:<{width}}  {entry.why}")
        if entry.selected:
            lines.append(f"      {'':<{width}}  {_what(entry)}")
    lines.append("")
    lines.append("coverage of what the matrix declares")
    rows = list(covered)
    kind_width = max(len(row.kind) for row in rows)
    value_width = max(len(row.value) for row in rows)
    for row in rows:
        lanes = f"{len(row.lanes)} lane{'' if len(row.lanes) == 1 else 's'}" if row.lanes else UNCOVERED
        lines.append(f"  {row.kind:<{kind_width}}  {row.value:<{value_width}}  {lanes}")
    return "\n".join(lines) + "\n"


def _what(entry: Entry) -> str:
    lane = entry.lane
    required = "" if lane.target.required else ", optional"
    where = lane.target.arch or lane.target.backend
    return f"{where}: {', '.join(lane.copy_modes)}{required}"
