"""What a build tree remembers, so that a build with nothing to do asks no compiler again.

A compiler's answers hold while the question, the search path and the
compiler's file are the same; what was found in a program holds while that
file is the same.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.build.model import Census, Configuration, Toolchain
from harness.system.files import write_atomically
from harness.words import Sanitizer

if TYPE_CHECKING:
    from harness.matrix.model import Target

_VARIABLES = ("PATH", "CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "CPATH", "LIBRARY_PATH")
"""Variables that change which compiler is found or what it does."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_R = TypeVar("_R", bound=_Record)


class _FileState(_Record):
    path: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> _FileState | None:
        """The state of a file now; None if it is not there."""
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(path=str(path), size=status.st_size, mtime_ns=status.st_mtime_ns)

    @property
    def holds(self) -> bool:
        return _FileState.of(Path(self.path)) == self


class _Chosen(_Record):
    request: str
    compiler: str
    programs: tuple[_FileState, ...]
    kind: str
    version: str
    origin: str
    entries: dict[str, str]


class _Census(_Record):
    objects: int
    instrumented: dict[Sanitizer, int]
    binary: tuple[Sanitizer, ...]
    uninstrumented: tuple[str, ...]


class _Seen(_Record):
    driver: _FileState
    sha256: str
    architectures: tuple[str, ...]
    census: _Census | None


def request_of(target: Target) -> str:
    """Digest of everything that decides which toolchain a target gets, but the compilers themselves."""
    parts = [target.model_dump_json(), *(f"{name}={os.environ.get(name, '')}" for name in _VARIABLES)]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def recall_configuration(tree: Path, request: str) -> Configuration | None:
    """The configuration that was chosen for the same request, if its compiler's file has not changed."""
    chosen = _load(tree, "toolchain", _Chosen)
    if chosen is None or chosen.request != request or not all(state.holds for state in chosen.programs):
        return None
    chain = Toolchain(
        kind=chosen.kind, compiler=Path(chosen.compiler), version=chosen.version, origin=chosen.origin
    )
    programs = tuple(Path(state.path) for state in chosen.programs)
    return Configuration(toolchain=chain, entries=chosen.entries, programs=programs)


def remember_configuration(tree: Path, request: str, configuration: Configuration) -> None:
    """Keep a choice for the next build; raises OutputError."""
    chain = configuration.toolchain
    states = [state for path in configuration.programs if (state := _FileState.of(path)) is not None]
    chosen = _Chosen(
        request=request,
        compiler=str(chain.compiler),
        programs=tuple(states),
        kind=chain.kind,
        version=chain.version,
        origin=chain.origin,
        entries=dict(configuration.entries),
    )
    _save(tree, "toolchain", chosen)


def identity_of(configuration: Configuration) -> list[str]:
    """Tell apart every two states of the files that compile, as part of a build tree's key."""
    states = [_FileState.of(path) for path in configuration.programs]
    return [state.model_dump_json() for state in states if state is not None]


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found in a program."""

    sha256: str
    architectures: tuple[str, ...]
    census: Census | None


def recall_inspection(tree: Path, driver: Path) -> Inspection | None:
    """What was found in the program, if its file has not changed since."""
    seen = _load(tree, "inspection", _Seen)
    if seen is None or seen.driver != _FileState.of(driver):
        return None
    census = None
    if seen.census is not None:
        census = Census(
            objects=seen.census.objects,
            instrumented=seen.census.instrumented,
            binary=frozenset(seen.census.binary),
            uninstrumented=seen.census.uninstrumented,
        )
    return Inspection(sha256=seen.sha256, architectures=seen.architectures, census=census)


def remember_inspection(tree: Path, driver: Path, found: Inspection) -> None:
    """Keep what was found in the program for the next build; raises OutputError."""
    state = _FileState.of(driver)
    if state is None:
        return
    census = None
    if found.census is not None:
        census = _Census(
            objects=found.census.objects,
            instrumented=dict(found.census.instrumented),
            binary=tuple(sorted(found.census.binary)),
            uninstrumented=found.census.uninstrumented,
        )
    seen = _Seen(driver=state, sha256=found.sha256, architectures=found.architectures, census=census)
    _save(tree, "inspection", seen)


def _file(tree: Path, name: str) -> Path:
    return tree.with_name(f"{tree.name}.{name}.json")


def _save(tree: Path, name: str, record: _Record) -> None:
    write_atomically(_file(tree, name), record.model_dump_json(indent=1))


def _load(tree: Path, name: str, kind: type[_R]) -> _R | None:
    try:
        return kind.model_validate_json(_file(tree, name).read_bytes())
    except (OSError, ValidationError):
        return None
