"""From the bytes of a YAML file to plain data and the position of every key and value in it.

YAML 1.1 and 1.2 read some words differently: `on`, `no`, `010`, `1e3`, `12:30`.
Such a word stays text here; what both read alike has its type.  What can make a
small file huge or slow (aliases, depth, size) is bounded before it is expanded.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from harness.matrix.yaml_messages import plain_words

if TYPE_CHECKING:
    from pathlib import Path

# The largest that passes is read in about a second without PyYAML's C library,
# which is not everywhere and whose messages differ from the Python ones.  A
# matrix of 500 targets has 50 KiB and 5,000 values.
MOST_BYTES = 256 << 10
MOST_NODES = 20_000
MOST_DEPTH = 40

KeyPath = tuple[str | int, ...]
"""Keys and indices from the root of the document to a value."""

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]{1,3})?")

_BREAK = re.compile(r"\r\n|\r|\n")
# Characters that YAML does not allow, and those that are line breaks in YAML
# 1.1 only, after which lines would be counted differently by every program.
_REFUSED = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The same for what escapes in double quotes make: \0, \ud800.
_REFUSED_IN_VALUE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Line and column, both from 1, the column in characters."""

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
    values: dict[KeyPath, Position] = field(default_factory=dict)
    keys: dict[KeyPath, Position] = field(default_factory=dict)
    problems: list[tuple[Position, str]] = field(default_factory=list)

    def value(self, path: KeyPath) -> Position:
        """Where a value stands, or the nearest thing around it that is in the file."""
        while path not in self.values:
            path = path[:-1]
        return self.values[path]

    def key(self, path: KeyPath) -> Position:
        """Where the key of a value stands, or the value itself where it has none."""
        return self.keys.get(path) or self.value(path)


_START = Position(1, 1)


def read(path: Path) -> Document:
    """Read a file; raises YamlError if it is no readable YAML document at all."""
    return parse(_decode(_bytes(path)))


def _bytes(path: Path) -> bytes:
    try:
        kind = path.stat()
        if stat.S_ISDIR(kind.st_mode):
            raise YamlError(_START, "is a folder, not a file")
        if not stat.S_ISREG(kind.st_mode):
            # A pipe without a writer would be waited for, a device may never end.
            raise YamlError(_START, "is not a regular file")
        if kind.st_size > MOST_BYTES:
            raise _too_large()
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise YamlError(_START, "there is no such file") from None
    except OSError as error:
        raise YamlError(_START, f"cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise _too_large()
    return content


def _too_large() -> YamlError:
    return YamlError(_START, f"is larger than {MOST_BYTES >> 10} KiB, which no matrix needs")


def _decode(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlError(_START, "is UTF-16 or UTF-32; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        raise YamlError(
            _end_of(before), f"is not UTF-8 text: found byte 0x{content[error.start]:02x}"
        ) from None
    refused = _REFUSED.search(text)
    if refused is not None:
        code = f"U+{ord(refused[0]):04X}"
        raise YamlError(
            _end_of(text[: refused.start()]), f"found the character {code}, which has no place here"
        )
    return text


def _end_of(text: str) -> Position:
    """The position just after a text."""
    breaks = list(_BREAK.finditer(text))
    return Position(len(breaks) + 1, len(text) - (breaks[-1].end() if breaks else 0) + 1)


def parse(text: str) -> Document:
    """Parse YAML text; raises YamlError if there is no single, bounded document in it."""
    try:
        nodes = _compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(_position(mark) if mark is not None else _START, plain_words(error)) from None
    except yaml.YAMLError as error:
        raise YamlError(_START, f"is not YAML: {error}") from None
    if not nodes:
        raise YamlError(_START, "is empty")
    document = Document()
    document.data = _Builder(document).build(nodes[0], ())
    return document


def _compose(text: str) -> list[yaml.Node]:
    loader = _Loader(text)
    nodes: list[yaml.Node] = []
    try:
        while loader.check_node():
            if nodes:
                raise YamlError(loader.here(), "a second document begins here; a matrix is one document")
            node = loader.get_node()
            if node is not None:
                nodes.append(node)
    finally:
        loader.dispose()
    return nodes


class _Loader(yaml.SafeLoader):
    """Composes nodes within bounds; every plain scalar keeps its text, since types are decided here."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - replaces PyYAML's own table

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        self._nodes += 1
        if self._depth > MOST_DEPTH:
            raise YamlError(self.here(), f"is nested more than {MOST_DEPTH} deep, which no matrix needs")
        if self._nodes > MOST_NODES:
            raise YamlError(self.here(), f"holds more than {MOST_NODES} values, which no matrix needs")
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def here(self) -> Position:
        """Where the next thing of the file begins."""
        return _position(self.peek_event().start_mark)  # type: ignore[no-untyped-call]


def _position(mark: yaml.Mark) -> Position:
    return Position(mark.line + 1, mark.column + 1)


class _Builder:
    """Turns nodes into data; aliases are expanded, within bounds."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._open: set[int] = set()
        self._built = 0

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        where = _position(node.start_mark)
        self._built += 1
        if self._built > MOST_NODES:
            raise YamlError(where, f"its aliases expand to more than {MOST_NODES} values")
        if id(node) in self._open:
            raise YamlError(where, "contains itself through an alias")
        # Depth through aliases is not the depth of the text.
        if len(path) > MOST_DEPTH:
            raise YamlError(where, f"its aliases nest more than {MOST_DEPTH} deep")
        self._document.values[path] = where
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                self._refuse_tag(node, "tag:yaml.org,2002:map")
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                self._refuse_tag(node, "tag:yaml.org,2002:seq")
                return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._scalar(node)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(key_node, "a key must be text; found " + _kind(key_node))
                continue
            key = self._text(key_node)
            if key == "<<" and key_node.style is None:
                self._problem(key_node, "merge keys (<<) are not supported; write the keys out")
                continue
            if key in found:
                first = self._document.keys[(*path, key)]
                self._problem(key_node, f"the key {key!r} is there twice, first in line {first.line}")
                continue
            self._refuse_tag(key_node, "tag:yaml.org,2002:str")
            self._document.keys[(*path, key)] = _position(key_node.start_mark)
            found[key] = self.build(value_node, (*path, key))
        return found

    def _scalar(self, node: yaml.Node) -> Any:
        text = self._text(node)
        self._refuse_tag(node, "tag:yaml.org,2002:str")
        return typed(text) if getattr(node, "style", None) is None else text

    def _text(self, node: yaml.Node) -> str:
        text = str(node.value)
        refused = _REFUSED_IN_VALUE.search(text)
        if refused is not None:
            self._problem(node, f"the text holds U+{ord(refused[0]):04X}, which has no place here")
            return _REFUSED_IN_VALUE.sub("\N{REPLACEMENT CHARACTER}", text)
        return text

    def _refuse_tag(self, node: yaml.Node, plain: str) -> None:
        if node.tag != plain:
            shown = node.tag.replace("tag:yaml.org,2002:", "!!")
            self._problem(node, f"the tag {shown} is not allowed; write the value without a tag")

    def _problem(self, node: yaml.Node, text: str) -> None:
        self._document.problems.append((_position(node.start_mark), text))


def _kind(node: yaml.Node) -> str:
    return "a list" if isinstance(node, yaml.SequenceNode) else "keys with values"


def typed(text: str) -> str | int | float | bool | None:
    """The value of a word without quotes: what YAML 1.1 and 1.2 both make of it, else the word itself."""
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        number = float(text)
        return number if abs(number) < float("inf") else text
    return text
