"""Building a lane's driver for exactly its target, and looking at what was built.

A backend is one module here that is called like its word and has the shape of
`model.Backend`.
"""

from __future__ import annotations

import importlib
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.build.census import take
from harness.build.cmake import Tree, find_tools
from harness.build.lock import holding
from harness.build.model import Artifact, Backend, Census, Toolchain
from harness.build.stamp import (
    Inspection,
    identity_of,
    recall_configuration,
    recall_inspection,
    remember_configuration,
    remember_inspection,
    request_of,
)
from harness.errors import BuildFailedError
from harness.evidence.folders import OWN_OUTPUT
from harness.system.files import OutputError, sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.build.model import Configuration
    from harness.matrix.lanes import Lane

__all__ = ["Artifact", "Census", "Toolchain", "build"]

_WITH_VALUE = ("-x", "-include")
_UNTOLD = ("-forward-unknown", "-D", "-I", "-o", "-c", "-M", "-isystem")


def build(
    lane: Lane,
    *,
    source: Path,
    root: Path,
    cache: Path,
    log: Path,
    say: Callable[[str], None] = lambda _: None,
) -> Artifact:
    """Build a lane's program if anything that it depends on changed, and inspect it.

    `source` is the folder with its CMakeLists.txt, after which the program is
    called, `root` is the project's, `cache` keeps build trees and toolchains
    between runs, `log` receives all output.  Raises NotBuiltError if there is
    no toolchain, BuildFailedError if there is one and it failed or made
    something for another architecture, OutputError if nothing can be written.
    """
    start = time.monotonic()
    folder = cache / "build" / lane.id
    with holding(folder, say):
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_bytes(b"")
            tree = Tree(source=source, folder=folder, log=log, tools=find_tools())
            made = _build(lane, tree, root, cache, say)
            return replace(made, seconds=time.monotonic() - start)
        except OSError as error:
            raise OutputError(f"cannot build in {folder}: {error.strerror}: {error.filename}") from error


def _build(lane: Lane, tree: Tree, root: Path, cache: Path, say: Callable[[str], None]) -> Artifact:
    backend: Backend = importlib.import_module(f"{__name__}.{lane.target.backend}")
    source, folder, log = tree.source, tree.folder, tree.log
    configuration = _configuration(lane, backend, cache, folder, say)
    if not (source / "CMakeLists.txt").is_file():
        raise BuildFailedError(
            f"{source}: there is no CMakeLists.txt; docs/driver.md says what a suite needs", "cmake", str(log)
        )
    entries = {
        "HARNESS_BACKEND": lane.target.backend.value,
        "HARNESS_ARCH": backend.expected_architecture(lane.target),
        **configuration.entries,
    }
    rebuilt = _make(tree, entries, identity_of(configuration))
    driver = folder / source.name
    found = None if rebuilt else recall_inspection(folder, driver)
    if found is None:
        found = _inspect(lane, backend, tree, driver)
        remember_inspection(folder, driver, found)
    return Artifact(
        driver=driver,
        sha256=found.sha256,
        toolchain=configuration.toolchain,
        flags=_flags(tree),
        architectures=found.architectures,
        census=found.census,
        inputs=_inputs(tree, root),
        log=log,
        rebuilt=rebuilt,
        seconds=0.0,
    )


def _make(tree: Tree, entries: Mapping[str, str], identity: list[str]) -> bool:
    """Configure and build; True if anything was made.

    A tree that Ninja itself cannot use, after a crash or a full disk, is made
    again from nothing, once.
    """
    configured = tree.configure(entries, identity)
    try:
        return tree.build() or configured
    except BuildFailedError as error:
        if configured or not error.first_error.startswith("ninja: error"):
            raise
    tree.discard()
    tree.configure(entries, identity)
    tree.build()
    return True


def _configuration(
    lane: Lane, backend: Backend, cache: Path, folder: Path, say: Callable[[str], None]
) -> Configuration:
    request = request_of(lane.target)
    known = recall_configuration(folder, request)
    if known is not None:
        return known
    chosen = backend.configure(lane.target, cache, say)
    remember_configuration(folder, request, chosen)
    return chosen


def _inspect(lane: Lane, backend: Backend, tree: Tree, driver: Path) -> Inspection:
    """Look at the program; raises BuildFailedError unless it holds code for exactly the target."""
    if not driver.is_file():
        raise BuildFailedError(
            f"the build made no program {driver.name}; the driver must be called like its folder",
            f"{tree.tools.ninja} -C {tree.folder}",
            str(tree.log),
        )
    architectures, wanted = backend.architectures(driver), backend.expected_architecture(lane.target)
    if architectures != (wanted,):
        raise BuildFailedError(
            f"{driver}: holds code for {', '.join(architectures) or 'no device'}, not for {wanted} alone",
            f"{tree.tools.ninja} -C {tree.folder}",
            str(tree.log),
        )
    sanitizers = lane.target.sanitizers
    census = take(tree.objects(), driver, sanitizers.on) if sanitizers is not None else None
    return Inspection(sha256=sha256_of(driver), architectures=architectures, census=census)


def _flags(tree: Tree) -> tuple[str, ...]:
    """Flags that every compile command of the build has and that change what is made."""
    common: list[str] | None = None
    for entry in tree.commands():
        words = shlex.split(entry["command"])[1:]
        common = words if common is None else [word for word in common if word in words]
    kept: list[str] = []
    takes_value = ""
    for word in common or ():
        if takes_value:
            kept.append(f"{takes_value} {word}")
        elif word.startswith("-") and word not in _WITH_VALUE and not word.startswith(_UNTOLD):
            kept.append(word)
        takes_value = word if word in _WITH_VALUE else ""
    return tuple(dict.fromkeys(kept))


def _inputs(tree: Tree, root: Path) -> dict[str, str]:
    """SHA-256 of each file inside the project that the build read, by its path in the project."""
    environment = Path(sys.prefix)
    inside = {
        path.relative_to(root): path
        for path in tree.dependencies()
        if path.is_relative_to(root) and not path.is_relative_to(environment) and path.is_file()
    }
    return {
        str(name): sha256_of(path) for name, path in sorted(inside.items()) if name.parts[0] not in OWN_OUTPUT
    }
