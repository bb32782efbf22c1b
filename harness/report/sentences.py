"""Sentences that more than one report says: what a lane came to, and what is not claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.evidence.model import NotRun
from harness.words import Backend, ClaimState, Execution, LaneVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.evidence.model import DeviceRecord
    from harness.judge.qualification import LaneQualification, Qualification

_ORDER = {LaneVerdict.FAILED: 0, LaneVerdict.INCOMPLETE: 1, LaneVerdict.QUALIFIED: 2}

_FEW = 8
"""Lanes that one sentence names before it counts the rest."""


def by_concern(qualification: Qualification) -> list[LaneQualification]:
    """The lanes with failed ones first, then incomplete ones, each in the order of the matrix."""
    return sorted(qualification.lanes, key=lambda lane: _ORDER[lane.verdict])


def selected(qualification: Qualification) -> list[LaneQualification]:
    """The lanes that were part of the run, in the order of `by_concern`."""
    return [lane for lane in by_concern(qualification) if lane.not_run is not NotRun.NOT_SELECTED]


def not_selected(qualification: Qualification) -> str:
    """One sentence that names the lanes that were no part of the run; "" if all were."""
    left_out = [lane for lane in qualification.lanes if lane.not_run is NotRun.NOT_SELECTED]
    return f"not selected in this run: {names(left_out)}" if left_out else ""


def ran(lane: LaneQualification) -> bool:
    """Whether any case of the lane was executed."""
    return lane.counts.executed > 0


def hint_title(lane: LaneQualification) -> str:
    """What a lane's hint is for; "" if it has none."""
    if not lane.hint:
        return ""
    return "to install it" if lane.not_run is NotRun.NO_TOOLCHAIN else "to see it again"


def device_name(device: DeviceRecord) -> str:
    """A device's name, with its architecture unless the name has it already."""
    return device.name if device.arch in device.name else f"{device.name} ({device.arch})"


def device_found(lane: LaneQualification) -> str:
    """The device as the runtime named it, or that there was none."""
    return "; ".join(device_name(device) for device in lane.devices) or "none"


def counted(lane: LaneQualification) -> str:
    """`62/62`, or `not run`: executed of planned cases."""
    counts = lane.counts
    return f"{counts.executed}/{counts.planned}" if counts.planned or counts.executed else "not run"


def first_reason(lane: LaneQualification) -> str:
    """The reason that comes first for a lane's verdict; a qualification of other makers may have none."""
    return lane.reasons[0] if lane.reasons else "no reason was recorded"


def why_nothing_ran(lane: LaneQualification) -> str:
    """Say why a lane has no executed case; "" if it has.

    `not run: …` where the lane was not started, `no case ran: …` where it was,
    `not known: …` where what it left cannot be read.
    """
    if ran(lane):
        return ""
    if lane.started is None:
        what = "not run" if lane.verdict is LaneVerdict.INCOMPLETE else "not known"
    else:
        what = "no case ran" if lane.not_run is None else "not run"
    return f"{what}: {first_reason(lane)}"


def other_reasons(lane: LaneQualification) -> list[str]:
    """The reasons of a lane that neither its failures, nor its claims, nor `why_nothing_ran` say."""
    said = {f"{claim.title} {state}: {claim.reason}" for claim in lane.claims for state in ClaimState}
    if not ran(lane):
        said.update(lane.reasons[:1])
    failures = tuple(f"{failure.case}: {failure.message or failure.outcome}" for failure in lane.failures[:1])
    return [r for r in lane.reasons if r not in said and not (failures and r.startswith(failures))]


def names(lanes: Iterable[LaneQualification]) -> str:
    """The ids of lanes in a sentence; many are counted."""
    return listed([lane.id for lane in lanes])


def listed(ids: Sequence[str]) -> str:
    """Ids in a sentence; many are counted."""
    more = len(ids) - _FEW
    return ", ".join(ids) if more <= 1 else f"{', '.join(ids[:_FEW])} and {more} more"


def single_reason(qualification: Qualification) -> str:
    """One sentence for the verdict: what failed first, else what was not run, else what is open."""
    required = [lane for lane in qualification.lanes if lane.required]
    if qualification.verdict is Verdict.QUALIFIED:
        optional = [
            lane
            for lane in qualification.lanes
            if not lane.required and lane.verdict is not LaneVerdict.QUALIFIED
        ]
        note = f"; optional and not qualified: {names(optional)}" if optional else ""
        return f"every claim of {_number(required)} is established{note}"
    failed = [lane for lane in required if lane.verdict is LaneVerdict.FAILED]
    if failed:
        others = f"; {_number(failed[1:], 'more required lane')} failed" if len(failed) > 1 else ""
        return f"{failed[0].id}: {first_reason(failed[0])}{others}"
    parts = []
    unfinished = [lane for lane in required if lane.verdict is LaneVerdict.INCOMPLETE]
    left_out = [lane for lane in unfinished if lane.not_run is NotRun.NOT_SELECTED]
    silent = [lane for lane in unfinished if not ran(lane) and lane not in left_out]
    if silent:
        parts.append(f"{_number(silent)} not run: {names(silent)}")
    partly = [lane for lane in unfinished if ran(lane)]
    if partly:
        others = f"; {_number(partly[1:], 'more required lane')} incomplete" if len(partly) > 1 else ""
        parts.append(f"{partly[0].id}: {first_reason(partly[0])}{others}")
    if left_out:
        parts.append(f"{_number(left_out)} not selected")
    return "; ".join(parts) or "; ".join(qualification.reasons)


def _number(lanes: list[LaneQualification], what: str = "required lane") -> str:
    return f"{len(lanes)} {what}{'' if len(lanes) == 1 else 's'}"


def own_non_claims(qualification: Qualification) -> Iterator[str]:
    """What the program knows by itself that the lanes do not show."""
    lanes = qualification.lanes
    unrun = [lane for lane in lanes if lane.built and not ran(lane)]
    if unrun:
        built = ", ".join(dict.fromkeys(arch for lane in unrun for arch in lane.architectures))
        yield f"anything about {names(unrun)} beyond being built and inspected for {built}"
    emulated: dict[str, list[LaneQualification]] = {}
    checks: dict[str, list[LaneQualification]] = {}
    for lane in filter(ran, lanes):
        for mode in lane.copy_modes:
            if mode.execution is Execution.EMULATED:
                emulated.setdefault(mode.mode, []).append(lane)
        if lane.switched_off:
            checks.setdefault(", ".join(lane.switched_off), []).append(lane)
    for mode_name, of_mode in emulated.items():
        yield f"a real stream for {mode_name} on {names(of_mode)}: an emulated one was used"
    for off, with_it in checks.items():
        yield f"what the checks {off} would find on {names(with_it)}: the matrix switches them off"
    sanitized = [lane for lane in lanes if lane.sanitizers and ran(lane)]
    if sanitized:
        yield f"errors inside system libraries on {names(sanitized)}: only code of this build is instrumented"
    for backend in Backend:
        archs = sorted({lane.arch for lane in lanes if lane.backend is backend and lane.arch})
        if archs and backend.facts.plain_device_code:
            why = backend.facts.plain_device_code
            yield f"AddressSanitizer in device code on {', '.join(archs)}: {why}"
