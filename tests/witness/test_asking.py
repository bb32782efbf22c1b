"""Lanes ask the witnesses that their claims need; none is forgotten, and none can stop a lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness import claims
from harness.claims import claims_of
from harness.evidence.model import Finding
from harness.witness import WITNESSES, absent, observe
from harness.witness.protocol import Point, Sighting, View, Witness
from tests.witness.views import CPU, GPU, view

if TYPE_CHECKING:
    from collections.abc import Iterator

LANES = (CPU, GPU)


def test_every_witness_is_needed_by_a_claim_of_some_lane() -> None:
    needed = {(claim.name, name) for lane in LANES for claim in claims_of(lane) for name in claim.witnesses}
    assert {(one.claim, one.name) for one in WITNESSES} <= needed


def test_no_two_witnesses_sign_with_one_name() -> None:
    names = [(one.claim, one.name) for one in WITNESSES]
    assert len(set(names)) == len(names)


def test_what_this_version_cannot_see_is_named() -> None:
    """Whoever builds one of these takes it from this list."""
    assert {(one.claim, one.witness, one.finding) for lane in LANES for one in absent(lane)} == {
        (claims.NATIVE_CODE, claims.LOADED, Finding.SILENT),
        (claims.PINNED, claims.COPY_RECORD, Finding.SILENT),
        (claims.PINNED, claims.CANARY, Finding.SILENT),
    }


@pytest.mark.parametrize("taken", WITNESSES, ids=lambda one: one.name)
def test_a_witness_that_is_taken_out_is_missed(taken: Witness) -> None:
    left = [one for one in WITNESSES if one is not taken]
    missed = {(one.claim, one.witness, one.finding) for lane in LANES for one in absent(lane, left)}
    assert (taken.claim, taken.name, Finding.SILENT) in missed


def test_a_lane_asks_only_at_the_right_point_and_only_for_its_claims() -> None:
    asked: list[str] = []

    def watching(name: str) -> Witness:
        def look(_: View) -> Iterator[Sighting]:
            asked.append(name)
            yield Sighting(Finding.CONFIRMS, "seen")

        return Witness(claims.DEVICE, name, Point.AFTER_RUN, look)

    witnesses = [watching(claims.RUNTIME), watching(claims.ONE_AT_A_TIME), watching("of no claim")]
    assert list(observe(Point.BUILT, view(CPU), witnesses)) == []
    (seen,) = observe(Point.AFTER_RUN, view(CPU), witnesses)
    assert (seen.claim, seen.witness, seen.text) == (claims.DEVICE, claims.RUNTIME, "seen")
    assert asked == [claims.RUNTIME], "the times of a CPU lane's cases are nobody's claim"
    assert len(list(observe(Point.AFTER_RUN, view(GPU), witnesses))) == 2


def test_a_witness_that_fails_is_silent_and_says_why() -> None:
    def broken(_: View) -> Iterator[Sighting]:
        yield Sighting(Finding.CONFIRMS, "half of it")
        raise RuntimeError("no such file")

    witnesses = [Witness(claims.DEVICE, claims.RUNTIME, Point.AFTER_RUN, broken)]
    (seen,) = observe(Point.AFTER_RUN, view(CPU), witnesses)
    assert (seen.finding, seen.text) == (Finding.SILENT, "the witness failed: RuntimeError: no such file")
