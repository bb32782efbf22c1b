"""Reading `matrix.yaml`: all problems at once, each with its place, what was found and what is allowed."""

from __future__ import annotations

import datetime as dt
import difflib
import json
import typing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from harness.errors import ConfigurationError
from harness.matrix import Matrix
from harness.plan import all_lanes
from harness.yamlread import Document, Path_, Position, YamlError, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

BUILT_IN_SESSIONS = ("report", "tests", "lint", "docs", "mutants", "regression")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in the file."""

    position: Position
    text: str

    def line(self, file: Path) -> str:
        """`file:line:column: what`, as editors and compilers write it."""
        return f"{file}:{self.position.line}:{self.position.column}: {self.text}"


class MatrixError(ConfigurationError):
    """A matrix file with problems; the message has one line for each."""

    def __init__(self, file: Path, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(problem.line(file) for problem in self.problems))


@dataclass(frozen=True, slots=True)
class LoadedMatrix:
    """A valid matrix and what should be looked at in its file."""

    matrix: Matrix
    warnings: tuple[str, ...]


def load(path: Path) -> Matrix:
    """Read and validate a matrix file; raises MatrixError with all of its problems."""
    return load_with_warnings(path, today=dt.datetime.now(dt.UTC).date()).matrix


def load_with_warnings(path: Path, *, today: dt.date) -> LoadedMatrix:
    """Read and validate a matrix file; expected skips that ended before `today` are warnings."""
    try:
        document = read(path)
    except YamlError as problem:
        raise MatrixError(path, [Problem(problem.position, problem.text)]) from problem
    problems = [Problem(position, text) for position, text in document.problems]
    try:
        matrix = Matrix.model_validate_json(json.dumps(document.data), strict=True)
    except ValidationError as error:
        problems.extend(_problem(document, details) for details in _without_echoes(error.errors()))
        raise MatrixError(path, problems) from None
    problems.extend(_cross_checks(matrix, document))
    if problems:
        raise MatrixError(path, problems)
    warnings = tuple(Problem(*warning).line(path) for warning in _warnings(matrix, document, today))
    return LoadedMatrix(matrix, warnings)


def _without_echoes(errors: list[Any]) -> Iterator[Any]:
    """Leave out lists that are "too short" only because an entry of theirs is wrong."""
    places = {error["loc"] for error in errors}
    for error in errors:
        depth = len(error["loc"])
        echo = any(len(place) > depth and place[:depth] == error["loc"] for place in places)
        if not (error["type"] == "too_short" and echo):
            yield error


def _problem(document: Document, error: Any) -> Problem:
    """Say one of pydantic's findings in plain words, at its place in the file."""
    location: Path_ = tuple(part for part in error["loc"] if part != "[key]")
    kind, context, found = error["type"], error.get("ctx", {}), error.get("input")
    name = _name(location)
    if kind == "missing":
        parent, key = location[:-1], location[-1]
        return Problem(
            _value(document, parent), f"{_name(parent)} needs the key {key!r}{_described(location)}"
        )
    if kind == "extra_forbidden":
        allowed = _fields(location[:-1])
        text = f"unknown key {location[-1]!r} in {_name(location[:-1])}; allowed: {', '.join(allowed)}"
        return Problem(_key(document, location), text + did_you_mean(str(location[-1]), allowed))
    if "[key]" in error["loc"]:
        text = (
            f"{str(location[-1])!r} is not a name; allowed: letters, digits and . _ - , at most 64, not first"
        )
        if kind in ("enum", "literal_error"):
            allowed = _options(context)
            text = f"unknown key {location[-1]!r}; allowed: {', '.join(allowed)}"
            text += did_you_mean(str(location[-1]), allowed)
        return Problem(_key(document, location), text)
    where = _value(document, location)
    if kind in ("enum", "literal_error"):
        allowed = _options(context)
        text = f"{name}: found {_shown(found)}; allowed: {', '.join(allowed)}"
        return Problem(where, text + did_you_mean(str(found), allowed))
    if kind == "value_error":
        return Problem(where, f"{name}: {context['error']}")
    return Problem(
        where, f"{name}: found {_shown(found)}; allowed: {_allowed(kind, context)}{_surprise(kind, found)}"
    )


def _allowed(kind: str, context: dict[str, Any]) -> str:
    words = {
        "string_type": "text",
        "bool_type": "true or false",
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "list_type": "a list",
        "tuple_type": "a list",
        "dict_type": "keys with values",
        "model_type": "keys with values",
        "date_type": "a date, as 2027-06-01",
    }
    if kind in words:
        return words[kind]
    if kind.startswith("date"):
        return "a date, as 2027-06-01"
    if kind == "string_pattern_mismatch":
        return f"text that matches {context['pattern']}"
    if kind in ("too_short", "string_too_short"):
        return f"at least {context['min_length']}" + (" character" if kind.startswith("string") else " entry")
    if kind in ("too_long", "string_too_long"):
        return f"at most {context['max_length']}" + (
            " characters" if kind.startswith("string") else " entries"
        )
    signs = {"greater_than": ("gt", ">"), "greater_than_equal": ("ge", ">="), "less_than_equal": ("le", "<=")}
    if kind in signs:
        name, sign = signs[kind]
        return f"a number {sign} {context[name]}"
    return kind.replace("_", " ")


def _surprise(kind: str, found: Any) -> str:
    """Explain where YAML 1.2 reads something else than a person may have meant."""
    if not isinstance(found, str):
        return ""
    if kind == "bool_type" and found.lower() in ("yes", "no", "on", "off", "y", "n"):
        meant = "true" if found.lower() in ("yes", "on", "y") else "false"
        return f" ({found} is text in YAML 1.2; write {meant})"
    if kind in ("int_type", "float_type"):
        return " (a number in quotes, with a colon or with letters is text)"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value)
    short = text if len(text) <= 60 else text[:57] + "…"
    return repr(short) if isinstance(value, str) else short


def _name(location: Path_) -> str:
    shown = ""
    for part in location:
        shown += f"[{part}]" if isinstance(part, int) else f".{part}" if shown else str(part)
    return shown or "the file"


def _value(document: Document, location: Path_) -> Position:
    while location not in document.values:
        location = location[:-1]
    return document.values[location]


def _key(document: Document, location: Path_) -> Position:
    return document.keys.get(location) or _value(document, location)


def _options(context: dict[str, Any]) -> list[str]:
    return [part.strip(" '\"") for part in str(context["expected"]).replace(" or ", ", ").split(",")]


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """`; did you mean 'x'?` if one of the allowed words is close, else nothing."""
    close = difflib.get_close_matches(word, list(allowed), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _fields(location: Path_) -> list[str]:
    """Keys that the model allows at a place."""
    model = _annotation(location)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _described(location: Path_) -> str:
    model = _annotation(location[:-1])
    if isinstance(model, type) and issubclass(model, BaseModel):
        description = model.model_fields[str(location[-1])].description
        if description:
            return f" ({description})"
    return ""


def _annotation(location: Path_) -> Any:
    """Follow the model's types along a path."""
    current: Any = Matrix
    for part in location:
        if isinstance(current, type) and issubclass(current, BaseModel):
            info = current.model_fields.get(str(part))
            current = _inner(info.annotation) if info is not None else None
        else:
            arguments = [a for a in typing.get_args(current) if a is not Ellipsis]
            current = _inner(arguments[-1]) if arguments else None
    return current


def _inner(annotation: Any) -> Any:
    """Strip Annotated and `| None`."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _inner(typing.get_args(annotation)[0])
    arguments = typing.get_args(annotation)
    if type(None) in arguments:
        return _inner(next(a for a in arguments if a is not type(None)))
    return annotation


def _cross_checks(matrix: Matrix, document: Document) -> Iterator[Problem]:
    """What no single key can know: names that refer to each other, and names that would collide."""
    targets = list(matrix.targets)
    lanes = [lane.id for lane in all_lanes(matrix)]

    def problem(location: Path_, text: str) -> Problem:
        return Problem(_value(document, location), text)

    for name, suite in matrix.suites.items():
        for index, pattern in enumerate(suite.targets):
            if not any(fnmatchcase(target, pattern) for target in targets):
                place: Path_ = ("suites", name, "targets", index)
                yield problem(place, _unknown(place, pattern, "target", targets))
        if not any(lane.endswith(f"/{name}") for lane in lanes):
            text = f"the suite {name!r} has no lane: none of its targets has a backend with copy modes"
            yield Problem(_key(document, ("suites", name)), text)
    for index, target in enumerate(matrix.ci.may_be_missing):
        if target not in targets:
            place = ("ci", "may_be_missing", index)
            yield problem(place, _unknown(place, target, "target", targets))
    for index, skip in enumerate(matrix.expected_skips):
        if not any(fnmatchcase(lane, skip.lane) for lane in lanes):
            place = ("expected_skips", index, "lane")
            yield problem(place, _unknown(place, skip.lane, "lane", lanes))
    for session, names in matrix.sessions.items():
        if session in BUILT_IN_SESSIONS:
            text = f"the session name {session!r} is taken; set another with session:"
            yield Problem(_key(document, ("targets", names[0])), text)
    for section, found in (("targets", list(matrix.targets)), ("suites", list(matrix.suites))):
        seen: dict[str, str] = {}
        for name in found:
            first = seen.setdefault(name.lower(), name)
            if first != name:
                text = f"{name!r} and {first!r} differ only by case and would share a folder on some disks"
                yield Problem(_key(document, (section, name)), text)


def _unknown(location: Path_, found: str, what: str, allowed: Sequence[str]) -> str:
    text = f"{_name(location)}: no {what} matches {found!r}; there are: {', '.join(allowed) or 'none'}"
    return text + did_you_mean(found, allowed)


def _warnings(matrix: Matrix, document: Document, today: dt.date) -> Iterator[tuple[Position, str]]:
    for index, skip in enumerate(matrix.expected_skips):
        if skip.until is not None and skip.until < today:
            where = _value(document, ("expected_skips", index, "until"))
            yield where, f"warning: this skip was expected until {skip.until}; it counts as unexpected now"
