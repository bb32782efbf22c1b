"""Sentences that more than one report says: what a lane came to, and what is not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.evidence import NotRun
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


def hint_title(lane: LaneQualification) -> str:
    """What a lane's hint is for; "" if it has none."""
    if not lane.hint:
        return ""
    return "to install it" if lane.not_run is NotRun.NO_TOOLCHAIN else "to see it again"


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


def single_reason(qualification: Qualification) -> str:
    """One sentence for the verdict: what failed first, else what was not run, else what is open."""
    required = [lane for lane in qualification.lanes if lane.required]
    failed = [lane for lane in required if lane.verdict is LaneVerdict.FAILED]
    if failed:
        others = f"; {len(failed) - 1} more required lane(s) failed" if len(failed) > 1 else ""
        return f"{failed[0].id}: {failed[0].reasons[0]}{others}"
    silent = [lane for lane in required if lane.verdict is LaneVerdict.INCOMPLETE and not ran(lane)]
    parts = []
    if silent:
        names = ", ".join(lane.id for lane in silent)
        parts.append(f"{len(silent)} required lane(s) not run: {names}")
    partly = [lane for lane in required if lane.verdict is LaneVerdict.INCOMPLETE and ran(lane)]
    parts.extend(f"{lane.id}: {lane.reasons[0]}" for lane in partly[:1])
    return "; ".join(parts) or "; ".join(qualification.reasons)


def own_non_claims(qualification: Qualification) -> Iterator[str]:
    """What the program knows by itself that the lanes do not show."""
    unrun = [lane.id for lane in qualification.lanes if lane.built and not ran(lane)]
    if unrun:
        yield f"anything about {', '.join(unrun)} beyond being built and inspected"
    emulated = [
        f"{mode.mode} on {lane.id}"
        for lane in qualification.lanes
        for mode in lane.copy_modes
        if mode.execution is Execution.EMULATED and ran(lane)
    ]
    if emulated:
        yield f"a real stream for {', '.join(emulated)}: an emulated one was used"
    for lane in qualification.lanes:
        if lane.switched_off and ran(lane):
            yield f"the checks {', '.join(lane.switched_off)} on {lane.id}: the matrix switches them off"
    hip = sorted({lane.arch for lane in qualification.lanes if lane.backend is Backend.HIP and lane.arch})
    if hip:
        yield f"AddressSanitizer in device code on {', '.join(hip)}: no compiler can instrument that code"
