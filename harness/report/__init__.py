"""Reports of a qualification: Markdown for a pull request, JSON for programs, a summary for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.report.markdown import markdown
from harness.report.terminal import terminal_summary
from harness.system.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from harness.judge.qualification import Qualification

__all__ = ["as_json", "markdown", "terminal_summary", "write"]


def as_json(qualification: Qualification) -> str:
    """The text of `qualification.json`, whose schema is `harness/qualification.schema.json`."""
    return qualification.model_dump_json(indent=1) + "\n"


def write(qualification: Qualification, folder: Path) -> None:
    """Write `qualification.json` and `qualification.md` into a run's folder; raises OutputError."""
    write_atomically(folder / "qualification.json", as_json(qualification))
    write_atomically(folder / "qualification.md", markdown(qualification))
