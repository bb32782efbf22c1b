"""What the model finds wrong with the data of a file, said in plain words at the place in the file."""

from __future__ import annotations

import re
import typing
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from harness.matrix.model import NAME_PATTERN, PCI_PATTERN, Matrix
from harness.matrix.problems import Problem, shown
from harness.matrix.suggest import did_you_mean, listed
from harness.matrix.yaml_reader import typed
from harness.suites.keys import KINDS, SuiteKeys, keys_of

if TYPE_CHECKING:
    from harness.matrix.yaml_reader import Document, KeyPath

_NAME_WORDS = "a name of letters, digits, '.', '_' and '-', at most 64, that begins with a letter or digit"

_DATE_WORDS = "a date, as 2027-06-01"

_WORDS = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
}

_PATTERN_WORDS = {NAME_PATTERN: _NAME_WORDS, PCI_PATTERN: "a PCI address in small letters, as 0000:01:00.0"}

_COMPARISONS = {
    "greater_than": ("gt", ">"),
    "greater_than_equal": ("ge", ">="),
    "less_than_equal": ("le", "<="),
}

_MINUTES = re.compile(r"\d{1,9}(:[0-5]?\d){1,2}")


def explain(document: Document, error: Any) -> Problem:
    """One of pydantic's findings (an element of `ValidationError.errors()`) as a problem of the file."""
    location, typed_path = location_of(error), _typed_path(error)
    kind, context, found = error["type"], error.get("ctx", {}), error.get("input")
    name = name_of(location)
    if kind == "union_tag_invalid":
        allowed = list(KINDS)
        text = f"{name}.kind: found {shown(context['tag'])}; allowed: {listed(allowed)}"
        return Problem(document.value((*location, "kind")), text + did_you_mean(context["tag"], allowed))
    if kind == "missing":
        parent, key = location[:-1], location[-1]
        return Problem(
            document.key(parent), f"{name_of(parent)} needs the key {key!r}{_described(typed_path)}"
        )
    if kind == "extra_forbidden":
        parent, key = location[:-1], str(location[-1])
        allowed = _fields(typed_path[:-1])
        text = f"unknown key {key!r} in {name_of(parent)}; allowed: {listed(allowed)}"
        return Problem(document.key(location), text + did_you_mean(key, allowed))
    if "[key]" in error["loc"]:
        return Problem(document.key(location), _bad_key(location, kind, context))
    if kind == "value_error":
        # Of an object as a whole: the key that names it, not the first of its own keys.
        whole = isinstance(found, dict)
        where = document.key(location) if whole else document.value(location)
        return Problem(where, f"{name}: {context['error']}")
    if kind in ("enum", "literal_error"):
        allowed = _options(context)
        text = f"{name}: found {shown(found)}; allowed: {listed(allowed)}"
        return Problem(document.value(location), text + did_you_mean(str(found), allowed))
    text = f"{name}: found {_found(kind, found)}; allowed: {_allowed(kind, context)}"
    return Problem(document.value(location), text)


def location_of(error: Any) -> KeyPath:
    """Path from the root of the file to what an error is about."""
    path = _typed_path(error)
    return path[:2] + path[3:] if _names_kind(path) else path


def _typed_path(error: Any) -> KeyPath:
    """The same through the models: below a suite's name comes the kind by which its model was chosen."""
    return tuple(part for part in error["loc"] if part != "[key]")


def _names_kind(path: KeyPath) -> bool:
    return len(path) > 2 and path[0] == "suites" and path[2] in KINDS


def name_of(location: KeyPath) -> str:
    """A path for people: `suites.sweep.targets[0]`."""
    name = ""
    for part in location:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else str(part)
    return name or "the file"


def _bad_key(location: KeyPath, kind: str, context: dict[str, Any]) -> str:
    key = str(location[-1])
    if kind in ("enum", "literal_error"):
        allowed = _options(context)
        text = f"unknown key {key!r} in {name_of(location[:-1])}; allowed: {listed(allowed)}"
        return text + did_you_mean(key, allowed)
    return f"{name_of(location[:-1])}: found the key {shown(key)}; allowed: {_NAME_WORDS}"


def _allowed(kind: str, context: dict[str, Any]) -> str:
    if kind in _WORDS:
        return _WORDS[kind]
    if kind.startswith("date"):
        return _DATE_WORDS
    if kind == "string_pattern_mismatch":
        return _PATTERN_WORDS.get(context["pattern"], f"text that matches {context['pattern']}")
    things = "character" if kind.startswith("string") else "value"
    if kind in ("too_short", "string_too_short"):
        return f"at least {_count(context['min_length'], things)}"
    if kind in ("too_long", "string_too_long"):
        return f"at most {_count(context['max_length'], things)}"
    if kind in _COMPARISONS:
        name, sign = _COMPARISONS[kind]
        return f"a number {sign} {context[name]:g}"
    return kind.replace("_", " ")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _found(kind: str, found: Any) -> str:
    """The value found; where YAML reads it as another type than a person may think, how and what to write."""
    if kind in ("too_short", "too_long") and isinstance(found, list | dict):
        return _count(len(found), "value")
    if kind == "string_too_long":
        return f"{len(found)} characters"
    if kind == "string_type" and isinstance(found, bool | int | float):
        what = "true or false" if isinstance(found, bool) else "a number"
        return f"{shown(found)} ({what}; put it in quotes to make it text)"
    if isinstance(found, str):
        if kind == "bool_type":
            return _not_boolean(found)
        if kind in ("int_type", "int_from_float", "float_type"):
            return _not_number(found)
    return shown(found)


def _not_boolean(found: str) -> str:
    meant = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
    if found.lower() in meant:
        return f"{found} (text; write {meant[found.lower()]})"
    if isinstance(typed(found), bool):
        return f"{found!r} in quotes (text; write {found.lower()})"
    return shown(found)


def _not_number(found: str) -> str:
    """Numbers that YAML 1.1 reads, 1.2 reads, or both read if they are not in quotes."""
    if isinstance(typed(found), int | float) and not isinstance(typed(found), bool):
        return f"{found!r} in quotes (text; write {found})"
    if _MINUTES.fullmatch(found):
        total = 0
        for part in found.split(":"):
            total = total * 60 + int(part)
        return f"{found} (text; if that is a time, write {total})"
    if re.fullmatch(r"[-+]?0\d+", found):
        return f"{found} (text; write it without the leading 0)"
    if re.fullmatch(r"[-+]?\d[\d_]*_[\d_]*", found):
        return f"{found} (text; write {found.replace('_', '')})"
    if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", found):
        return f"{found} (text; write {_without_exponent(float(found))})"
    return shown(found)


def _without_exponent(number: float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 1e18 else f"{number:f}"


def _options(context: dict[str, Any]) -> list[str]:
    return [part.strip(" '\"") for part in str(context["expected"]).replace(" or ", ", ").split(",")]


def _fields(path: KeyPath) -> list[str]:
    """Keys that the model allows at a place, by its path through the models."""
    model = _annotation(path)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _described(path: KeyPath) -> str:
    model = _annotation(path[:-1])
    if isinstance(model, type) and issubclass(model, BaseModel):
        description = model.model_fields[str(path[-1])].description
        if description:
            return f" ({description})"
    return ""


def _annotation(path: KeyPath) -> Any:
    """Follow the models' types along a path."""
    current: Any = Matrix
    for part in path:
        if current is SuiteKeys:
            current = keys_of(str(part))
        elif isinstance(current, type) and issubclass(current, BaseModel):
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
