"""What a build made, as it goes into evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.evidence.model import BuildRecord, CensusRecord, ToolchainRecord

if TYPE_CHECKING:
    from pathlib import Path

    from harness.build import Artifact


def build_record(artifact: Artifact, root: Path) -> BuildRecord:
    """The record of an artifact, with paths relative to the project where they are in it."""
    toolchain, census = artifact.toolchain, artifact.census
    return BuildRecord(
        toolchain=ToolchainRecord(
            kind=toolchain.kind,
            compiler=str(toolchain.compiler),
            version=toolchain.version,
            origin=toolchain.origin,
        ),
        driver=relative(artifact.driver, root),
        sha256=artifact.sha256,
        flags=artifact.flags,
        architectures=artifact.architectures,
        census=None
        if census is None
        else CensusRecord(
            objects=census.objects,
            instrumented=dict(census.instrumented),
            binary=tuple(sorted(census.binary)),
            uninstrumented=census.uninstrumented,
        ),
        rebuilt=artifact.rebuilt,
        seconds=artifact.seconds,
        log=relative(artifact.log, root),
    )


def relative(path: Path, root: Path) -> str:
    """A path relative to the project if it is in it, else as it is."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
