"""Sentences that more than one report says: what a lane came to, and what is not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.words import Backend, Execution, LaneVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.qualification import LaneQualification, Qualification

_ORDER = {LaneVerdict.FAILED: 0, LaneVerdict.INCOMPLETE: 1, LaneVerdict.QUALIFIED: 2}


def by_concern(qualification: Qualification) -> list[LaneQualification]:
    """The lanes with failed ones first, then incomplete ones, each in the order of the matrix."""
    return sorted(qualification.lanes, key=lambda lane: _ORDER[lane.verdict])


def ran(lane: LaneQualification) -> bool:
    """Whether any case of the lane was executed."""
    return lane.counts.executed > 0


def device_found(lane: LaneQualification) -> str:
    """The device as the runtime named it, or that there was none."""
    names = [
        device.name if device.arch in device.name else f"{device.name} ({device.arch})"
        for device in lane.devices
    ]
    return "; ".join(names) or "none"


def counted(lane: LaneQualification) -> str:
    """`62/62`, or `not run`: executed of planned cases."""
    return f"{lane.counts.executed}/{lane.counts.planned}" if lane.counts.planned else "not run"


def own_non_claims(qualification: Qualification) -> Iterator[str]:
    """What the program knows by itself that the lanes do not show."""
    for lane in qualification.lanes:
        if lane.built and not ran(lane):
            yield f"{lane.id} beyond its build: code for {', '.join(lane.architectures)}, never run"
    emulated = [
        f"{mode.mode} on {lane.id}"
        for lane in qualification.lanes
        for mode in lane.copy_modes
        if mode.execution is Execution.EMULATED and ran(lane)
    ]
    if emulated:
        yield f"a real stream for {', '.join(emulated)}: an emulated stream was used"
    for lane in qualification.lanes:
        if lane.switched_off:
            yield f"the checks {', '.join(lane.switched_off)} on {lane.id}: the matrix switches them off"
    hip = sorted({lane.arch for lane in qualification.lanes if lane.backend is Backend.HIP and lane.arch})
    if hip:
        yield f"AddressSanitizer in device code on {', '.join(hip)}: no compiler can instrument that code"
