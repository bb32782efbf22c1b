"""From the bytes of a YAML file to plain data and the position of every key and value in it.

Only what YAML 1.2's core schema calls a boolean is one: `on`, `off`, `yes` and
`no` stay text, and so do `1e3` and `12:30`.  What can make a small file huge
or slow (aliases, depth, size) is bounded before anything is expanded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 256 << 10
MOST_DEPTH = 40
MOST_NODES = 50_000

Path_ = tuple[str | int, ...]
"""Keys and indices from the root of the document to a value."""

_CORE = {
    "tag:yaml.org,2002:null": re.compile(r"^(~|null|Null|NULL|)$"),
    "tag:yaml.org,2002:bool": re.compile(r"^(true|True|TRUE|false|False|FALSE)$"),
    "tag:yaml.org,2002:int": re.compile(r"^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"),
    "tag:yaml.org,2002:float": re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"),
}
"""YAML 1.2.2, section 10.3.2, without infinities and not-a-number, which no key of ours takes."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Line and column, both from 1."""

    line: int
    column: int


class YamlError(Exception):
    """The one thing that keeps a file from being read at all."""

    def __init__(self, position: Position, text: str) -> None:
        super().__init__(text)
        self.position = position
        self.text = text


@dataclass(slots=True)
class Document:
    """Plain data, where each value and key stands, and what was wrong on the way."""

    data: Any = None
    values: dict[Path_, Position] = field(default_factory=dict)
    keys: dict[Path_, Position] = field(default_factory=dict)
    problems: list[tuple[Position, str]] = field(default_factory=list)


class _Loader(yaml.SafeLoader):
    """Composes nodes; every plain scalar keeps its text, since the core schema is applied here."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - replaces PyYAML's own table


_START = Position(1, 1)


def read(path: Path) -> Document:
    """Read a file; raises YamlError if it is no readable YAML document at all."""
    return parse(_decode(_bytes(path)))


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise YamlError(_START, "is a folder, not a file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise YamlError(_START, "there is no such file") from None
    except OSError as error:
        raise YamlError(_START, f"cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise YamlError(_START, f"is larger than {MOST_BYTES >> 10} KiB, which no matrix needs")
    return content


def _decode(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlError(_START, "is UTF-16; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise YamlError(_at(content, error.start), "is not UTF-8 text") from error
    for index, character in enumerate(text):
        if character < " " and character not in "\t\n\r":
            position = _at(text[:index].encode(), len(text[:index].encode()))
            raise YamlError(position, f"holds the control character {character!r}")
    return text


def _at(content: bytes, offset: int) -> Position:
    before = content[:offset]
    return Position(before.count(b"\n") + 1, offset - (before.rfind(b"\n") + 1) + 1)


def parse(text: str) -> Document:
    """Parse YAML text; raises YamlError if there is no single, bounded document in it."""
    try:
        _bound(text)
        nodes = list(yaml.compose_all(text, _Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Position(mark.line + 1, mark.column + 1) if mark is not None else _START
        raise YamlError(where, _plain(error)) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise YamlError(_START, f"is not YAML: {error}") from error
    if len(nodes) > 1:
        raise YamlError(_position(nodes[1]), "a second document begins here; a matrix is one document")
    if not nodes or nodes[0] is None:
        raise YamlError(_START, "is empty")
    document = Document()
    document.data = _Builder(document).build(nodes[0], ())
    return document


def _bound(text: str) -> None:
    """Refuse depth and length from the stream of events, which uses no memory for either."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, _Loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MOST_DEPTH or number > MOST_NODES:
            mark = event.start_mark
            where = Position(mark.line + 1, mark.column + 1) if mark is not None else _START
            what = f"is nested deeper than {MOST_DEPTH}" if depth > MOST_DEPTH else "has too many entries"
            raise YamlError(where, what)


def _plain(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context or "is not YAML")
    if "'\\t'" in problem:
        return "a tab cannot be used here; indent with spaces"
    context = f" {error.context}" if error.context and error.context != problem else ""
    return f"is not YAML: {problem}{context}"


def _position(node: yaml.Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


class _Builder:
    """Turns nodes into data; aliases are expanded, within bounds."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: set[int] = set()
        self._built = 0

    def build(self, node: yaml.Node, path: Path_) -> Any:
        self._built += 1
        if self._built > MOST_NODES:
            raise YamlError(_position(node), "grows beyond all bounds when its aliases are expanded")
        if id(node) in self._open:
            raise YamlError(_position(node), "contains itself through an alias")
        self._document.values[path] = _position(node)
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                self._tag(node, "tag:yaml.org,2002:map")
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                self._tag(node, "tag:yaml.org,2002:seq")
                return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._scalar(node)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: Path_) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, "a key must be text")
                continue
            key = str(key_node.value)
            if key == "<<" and key_node.style is None:
                self._problem(key_node, "merge keys (<<) are not supported; write the keys out")
                continue
            if key in found:
                first = self._document.keys[(*path, key)]
                self._problem(key_node, f"the key {key!r} is there twice, first in line {first.line}")
                continue
            self._document.keys[(*path, key)] = _position(key_node)
            found[key] = self.build(value_node, (*path, key))
        return found

    def _scalar(self, node: yaml.Node) -> Any:
        text = str(node.value)
        if not self._tag(node, "tag:yaml.org,2002:str") or getattr(node, "style", None) is not None:
            return text
        for tag, pattern in _CORE.items():
            if pattern.match(text):
                return _converted(tag, text)
        return text

    def _tag(self, node: yaml.Node, plain: str) -> bool:
        if node.tag == plain:
            return True
        shown = node.tag.replace("tag:yaml.org,2002:", "!!")
        self._problem(node, f"the tag {shown} is not allowed; write the value without a tag")
        return False

    def _problem(self, node: yaml.Node, text: str) -> None:
        self._document.problems.append((_position(node), text))


def _converted(tag: str, text: str) -> Any:
    kind = tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    if kind == "int":
        digits = text.lstrip("+-")
        if len(digits) > 30:
            return text
        base = {"0o": 8, "0x": 16}.get(digits[:2], 10)
        return int(text, base) if base != 10 else int(text)
    return float(text)
