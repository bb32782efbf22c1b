"""Reading `matrix.yaml`: all problems at once, each with its place, what was found and what is allowed."""

from __future__ import annotations

import copy
import datetime as dt
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from harness.matrix.cross_checks import first_of, lane_problems, name_problems, session_problems, warnings
from harness.matrix.explain import explain, location_of
from harness.matrix.model import Matrix, NeedsKeyError
from harness.matrix.problems import MOST_SHOWN, MatrixError, Problem
from harness.matrix.yaml_reader import YamlError, read

if TYPE_CHECKING:
    from pathlib import Path

    from harness.matrix.yaml_reader import Document, KeyPath

__all__ = ["LoadedMatrix", "MatrixError", "Problem", "load", "load_with_warnings"]

# Each round takes out what was found wrong one level further up at the most.
_MOST_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class LoadedMatrix:
    """A valid matrix and what should be looked at in its file."""

    matrix: Matrix
    warnings: tuple[str, ...]


def load(path: Path) -> Matrix:
    """Read and validate a matrix file; raises MatrixError with all of its problems."""
    return load_with_warnings(path, today=dt.datetime.now(dt.UTC).date()).matrix


def load_with_warnings(path: Path, *, today: dt.date) -> LoadedMatrix:
    """Read and validate a matrix file; expected skips that ended before `today` are warnings.

    Each warning is a line `file:line:column: warning: …`.  Raises MatrixError
    with all problems of the file; of names that do not exist, the first
    MOST_SHOWN, since each is compared with all that do.
    """
    try:
        document = read(path)
    except YamlError as error:
        raise MatrixError(path, [Problem(error.position, error.text)]) from None
    problems = [Problem(position, text) for position, text in document.problems]
    matrix, found = _validated(document)
    problems += found
    problems += first_of(name_problems(document), MOST_SHOWN)
    if matrix is not None:
        problems += first_of(session_problems(matrix, document), MOST_SHOWN)
        if not found:
            problems += first_of(lane_problems(matrix, document), MOST_SHOWN)
    if matrix is None or problems:
        raise MatrixError(path, problems)
    return LoadedMatrix(matrix, tuple(warning.line(path) for warning in warnings(matrix, document, today)))


def _validated(document: Document) -> tuple[Matrix | None, list[Problem]]:
    """Apply the model; what it finds wrong is taken out and the rest applied again.

    The model checks an object as a whole only when each of its keys is right.
    Without the repetition a person would mend one mistake and be told the next.
    Returns the matrix, or None where too little is left of it, and the problems.
    """
    data = copy.deepcopy(document.data)
    problems: list[Problem] = []
    removed: set[KeyPath] = set()
    for _ in range(_MOST_ROUNDS):
        try:
            return Matrix.model_validate_json(json.dumps(data), strict=True), problems
        except ValidationError as error:
            details = error.errors(include_url=False)
        unhealed = False
        for detail in details:
            location = location_of(detail)
            if not _is_echo(detail, location, removed):
                problems.append(explain(document, detail))
            if location == ("version",) and detail["type"] == "missing" and location not in removed:
                data["version"] = 1
                continue
            place = _removable(location[:-1] if detail["type"] == "missing" else location)
            unhealed |= not place
            removed.add(place)
            _remove(data, place)
        if unhealed:
            break
    return None, problems


def _is_echo(detail: Any, location: KeyPath, removed: set[KeyPath]) -> bool:
    """Whether an error is there only because something wrong was taken out before."""
    if detail["type"] == "missing":
        return location in removed
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, NeedsKeyError):
        return (*location, cause.key) in removed
    return detail["type"] == "too_short" and any(place[: len(location)] == location for place in removed)


def _removable(location: KeyPath) -> KeyPath:
    """What to take out for an error: a whole list for its element, lest the others change their places."""
    for depth, part in enumerate(location):
        if isinstance(part, int):
            return location[:depth]
    return location


def _remove(data: Any, location: KeyPath) -> None:
    for part in location[:-1]:
        if not isinstance(data, dict) or part not in data:
            return
        data = data[part]
    if location and isinstance(data, dict):
        data.pop(location[-1], None)
