"""Problems of a file that a person wrote: where each is and what it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.matrix.yaml_reader import Position

# A screen can show no more, and the rest is mostly the same mistake again.
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in the file."""

    position: Position
    text: str

    def line(self, file: Path) -> str:
        """`file:line:column: what`, as editors and compilers write it."""
        return f"{file}:{self.position.line}:{self.position.column}: {self.text}"


class MatrixError(ConfigurationError):
    """A matrix file with problems; the message has one line for each, in the order of the file."""

    def __init__(self, file: Path, problems: Sequence[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(set(problems)))
        lines = [problem.line(file) for problem in self.problems[:MOST_SHOWN]]
        if len(self.problems) > MOST_SHOWN:
            lines.append(f"{file}: and {len(self.problems) - MOST_SHOWN} more problems")
        super().__init__("\n".join(lines))


def shown(value: Any) -> str:
    """A value of the file as a message shows it: short, on one line."""
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    short = text if len(text) <= 60 else text[:57] + "…"
    return repr(short) if isinstance(value, str) else short
