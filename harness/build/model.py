"""What the build stage takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from harness.matrix.model import Target
    from harness.words import Sanitizer


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What compiles a lane: the compiler, its version, and where it was found."""

    kind: str
    compiler: Path
    version: str
    origin: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """A toolchain for one target and the CMake cache entries that make it build for exactly that target.

    `programs` are the files that compile: where one of them changes,
    everything is built anew.
    """

    toolchain: Toolchain
    entries: Mapping[str, str]
    programs: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Census:
    """Instrumentation of the objects of the code under test, before linking, and of the linked program.

    `instrumented` counts objects by sanitizer; `uninstrumented` names those
    that lack one of the sanitizers asked for.
    """

    objects: int
    instrumented: Mapping[Sanitizer, int]
    binary: frozenset[Sanitizer]
    uninstrumented: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A built and inspected driver.

    `architectures` were found in the binary; `inputs` maps each file inside
    the project that the build read to its SHA-256.
    """

    driver: Path
    sha256: str
    toolchain: Toolchain
    flags: tuple[str, ...]
    architectures: tuple[str, ...]
    census: Census | None
    inputs: Mapping[str, str]
    log: Path
    rebuilt: bool
    seconds: float


class Backend(Protocol):
    """What a module of one backend offers: all of them have this shape and no other."""

    def configure(self, target: Target, cache: Path, say: Callable[[str], None]) -> Configuration:
        """Find a toolchain for the target; `say` gets one line for what takes long; raises NotBuiltError."""
        ...

    def architectures(self, driver: Path) -> tuple[str, ...]:
        """Architectures of the code for the target's device in a program."""
        ...

    def expected_architecture(self, target: Target) -> str:
        """The only architecture that may be in the program."""
        ...
