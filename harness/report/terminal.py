"""The summary at the end of a run: one table that fits 80 columns, and where to read on."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.report.sentences import (
    counted,
    device_found,
    hint_title,
    not_selected,
    selected,
    single_reason,
)
from harness.report.text import one_line
from harness.words import LaneVerdict, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from harness.judge.qualification import Qualification

_STYLES = {
    LaneVerdict.FAILED: "bold red",
    LaneVerdict.INCOMPLETE: "yellow",
    LaneVerdict.QUALIFIED: "green",
    Verdict.NOT_QUALIFIED: "bold red",
    Verdict.INCOMPLETE: "bold yellow",
    Verdict.QUALIFIED: "bold green",
}

_MOST_REASONS = 3
_MOST_LETTERS = 300


def terminal_summary(
    qualification: Qualification, folder: Path, *, width: int | None = None, color: bool | None = None
) -> str:
    """Render the verdict, a line for each lane with its reasons, and the folder of the reports.

    `width` and `color` are by default what standard output offers (80 columns
    where it is no terminal).
    """
    out = io.StringIO()
    console = Console(
        file=out,
        width=width or shutil.get_terminal_size((80, 24)).columns,
        force_terminal=_wants_color() if color is None else color,
        no_color=None if color is None else not color,
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print()
    console.print(
        Text.assemble(
            (qualification.verdict, _STYLES[qualification.verdict]),
            f"  {_shown(qualification.revision.short)}  {qualification.created:%Y-%m-%d %H:%M} UTC",
        )
    )
    reason = single_reason(qualification)
    if reason:
        console.print(Text(_shown(reason)))
    for lane in selected(qualification):
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(ratio=5, no_wrap=True, overflow="ellipsis")
        table.add_column(ratio=4, no_wrap=True, overflow="ellipsis")
        table.add_column(width=9, no_wrap=True, justify="right")
        table.add_column(width=10, no_wrap=True)
        table.add_row(
            Text(lane.id),
            Text(_shown(device_found(lane))),
            counted(lane),
            Text(lane.verdict, _STYLES[lane.verdict]),
        )
        console.print(table)
        reasons = lane.reasons[:_MOST_REASONS]
        if len(lane.reasons) > len(reasons):
            reasons = (*reasons, f"and {len(lane.reasons) - len(reasons)} more")
        for rank, reason in enumerate(reasons):
            text = one_line(reason, _MOST_LETTERS if rank == 0 else _MOST_LETTERS // 2)
            console.print(Padding(Text(text, "dim"), (0, 0, 0, 4)))
        if lane.hint:
            console.print(Padding(Text(_shown(f"{hint_title(lane)}: {lane.hint}"), "dim"), (0, 0, 0, 4)))
        if lane.failures and lane.failures[0].reproduce:
            # Not wrapped: it is there to be copied.
            console.print(Text(f"    {_shown(lane.failures[0].reproduce[0])}", "bold"), soft_wrap=True)
    left_out = not_selected(qualification)
    if left_out:
        console.print(Text(_shown(left_out), "dim"))
    console.print(Text(f"report: {_relative(folder)}/qualification.md"), soft_wrap=True)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _wants_color() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _shown(text: str) -> str:
    return one_line(text, _MOST_LETTERS)


def _relative(folder: Path) -> str:
    try:
        return str(folder.relative_to(folder.cwd()))
    except ValueError:
        return str(folder)
