"""Witnesses: each observes one thing about a claim by one route, and says only what it saw.

Every module here but `protocol` is a witness and is found by being here, so
that none can be built and forgotten.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from harness.claims import JUDGED, claims_of
from harness.evidence.model import Finding, Observation
from harness.witness.protocol import Sighting, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.matrix.lanes import Lane
    from harness.witness.protocol import Point, View


def _found() -> tuple[Witness, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "protocol")
    return tuple(importlib.import_module(f"{__name__}.{name}").WITNESS for name in names)


WITNESSES = _found()
"""All witnesses of this version."""


def observe(point: Point, view: View, witnesses: Iterable[Witness] = WITNESSES) -> Iterator[Observation]:
    """Ask every witness of a point that a claim of the lane needs."""
    needed = set(_needed(view.lane))
    for witness in witnesses:
        if witness.at is point and (witness.claim, witness.name) in needed:
            for seen in _ask(witness, view):
                yield Observation(
                    claim=witness.claim,
                    witness=witness.name,
                    finding=seen.finding,
                    text=seen.text,
                    subject=seen.subject,
                    value=seen.value,
                    execution=seen.execution,
                )


def _ask(witness: Witness, view: View) -> list[Sighting]:
    """What a witness saw; one that fails has seen nothing, says so, and costs no other its say."""
    try:
        return list(witness.observe(view))
    except Exception as error:
        return [Sighting(Finding.SILENT, f"the witness failed: {type(error).__name__}: {error}")]


def absent(lane: Lane, witnesses: Iterable[Witness] = WITNESSES) -> Iterator[Observation]:
    """The silence of each witness that a claim of the lane needs and this version does not have."""
    built = {(witness.claim, witness.name) for witness in witnesses}
    for claim, name in _needed(lane):
        if name not in JUDGED and (claim, name) not in built:
            yield Observation(
                claim=claim,
                witness=name,
                finding=Finding.SILENT,
                text="this version has no witness for it",
            )


def _needed(lane: Lane) -> list[tuple[str, str]]:
    """Names of claims and of the witnesses that they need, each pair once."""
    pairs = [(claim.name, witness) for claim in claims_of(lane) for witness in claim.witnesses]
    return list(dict.fromkeys(pairs))
