"""The qualification as Markdown: what a reviewer reads in a pull request, most important things first."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from harness.evidence.model import NotRun
from harness.report.sections import Section, fit
from harness.report.sentences import (
    device_found,
    device_name,
    hint_title,
    listed,
    names,
    not_selected,
    other_reasons,
    own_non_claims,
    ran,
    selected,
    single_reason,
    why_nothing_ran,
)
from harness.report.text import MOST_LINE, code, fenced, plain
from harness.words import ClaimState, Execution, LaneVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.judge.qualification import CopyModeResult, Failure, LaneQualification, Qualification

MOST_BYTES = 60_000
"""Below the 65,536 that a comment or a check-run summary on GitHub may have."""

_FAILURES_IN_FULL = 3
_FAILURES_IN_SHORT = 20

_MEMORY = {"not-asked": "not asked"}

_COUNTS = {"planned": "planned", "executed": "ran", "passed": "passed", "failed": "failed"}
_COUNTS_IF_ANY = ("error", "skipped", "xfailed", "missing")
"""Columns that stand in the table where any lane has such a case; a table of zeros hides the rest."""


def markdown(qualification: Qualification, *, limit: int = MOST_BYTES) -> str:
    """Render a qualification in at most `limit` bytes (at least a few thousand).

    Sections that are too long are cut between two entries, each with a note
    that says how much was left out; the verdict is never cut.
    """
    sections = [
        _table(qualification),
        Section("What else happened", tuple(_other_reasons(qualification))),
        Section("Failures", tuple(_failures(qualification))),
        Section("Not established", tuple(_not_established(qualification))),
        Section("Established", tuple(_established(qualification))),
        Section("Not claimed", tuple(_not_claimed(qualification))),
        Section("Skips and expected failures", tuple(_skips(qualification))),
        Section("Evidence", tuple(_evidence(qualification))),
    ]
    return fit("\n".join(_head(qualification)) + "\n", sections, limit)


def _head(q: Qualification) -> Iterator[str]:
    yield f"## {q.verdict}: {plain(q.revision.short)}"
    yield ""
    yield f"**{plain(single_reason(q))}**"
    yield ""
    yield f"{q.created:%Y-%m-%d %H:%M} UTC, run {code(q.run)}, gpu-test-matrix {plain(q.harness_version)}"


def _table(q: Qualification) -> Section:
    """The lanes, those of concern on top; the verdict stands where a narrow page still shows it."""
    counts = [lane.counts.model_dump() for lane in q.lanes]
    seen = [name for name in _COUNTS_IF_ANY if any(of_lane[name] for of_lane in counts)]
    columns = [*_COUNTS, *seen]
    titles = [
        "lane",
        "verdict",
        "device found",
        *(_COUNTS.get(name, name) for name in columns),
        "exit",
        "copy modes: verified, memory observed",
    ]
    lead = f"| {' | '.join(titles)} |\n| --- | --- | --- {'| ---: ' * (len(columns) + 1)}| --- |"
    unseen = ", ".join(name for name in _COUNTS_IF_ANY if name not in seen)
    tails = [f"Observed nowhere: {unseen}."] if unseen else []
    left_out = not_selected(q)
    if left_out:
        tails.append(f"{plain(left_out[0].upper() + left_out[1:], most=4 * MOST_LINE)}.")
    tail = "\n" + "\n\n".join(tails) if tails else ""
    return Section("Lanes", tuple(_lane(lane, columns) for lane in selected(q)), lead, tail)


def _lane(lane: LaneQualification, columns: list[str]) -> str:
    counts = lane.counts.model_dump()
    row = [
        f"{plain(lane.id)}{'' if lane.required else ' (optional)'}",
        lane.verdict.value if lane.verdict is LaneVerdict.QUALIFIED else f"**{lane.verdict}**",
        plain(device_found(lane)),
        *(str(counts[name]) if lane.counts.planned or ran(lane) else "-" for name in columns),
        "-" if lane.exit_status is None else str(lane.exit_status),
        plain(why_nothing_ran(lane)) or "<br>".join(_mode(mode) for mode in lane.copy_modes),
    ]
    return f"| {' | '.join(row)} |"


def _mode(mode: CopyModeResult) -> str:
    of = f" of {mode.required:,}" if mode.required is not None else ""
    emulated = " on an emulated stream" if mode.execution is Execution.EMULATED else ""
    memory = plain(_MEMORY.get(mode.memory, mode.memory))
    return f"{mode.mode}{emulated}: {mode.transactions:,}{of}, memory {memory}"


def _other_reasons(q: Qualification) -> Iterator[str]:
    for lane in selected(q):
        yield from (f"- {plain(lane.id)}: {plain(reason)}" for reason in other_reasons(lane))


def _failures(q: Qualification) -> Iterator[str]:
    """Group by message, so that one defect on many lanes is one entry; the first of each lane come first."""
    groups: dict[str, list[tuple[int, LaneQualification, Failure]]] = defaultdict(list)
    for lane in q.lanes:
        for index, failure in enumerate(lane.failures):
            groups[failure.message].append((index, lane, failure))
    ordered = sorted(groups.values(), key=lambda places: places[0][0])
    for rank, places in enumerate(ordered[: _FAILURES_IN_FULL + _FAILURES_IN_SHORT]):
        yield _failure(places, in_full=rank < _FAILURES_IN_FULL)
    rest = [place for places in ordered[_FAILURES_IN_FULL + _FAILURES_IN_SHORT :] for place in places]
    if rest:
        yield f"- and {len(rest):,} more failing cases; qualification.json has them all"


def _failure(places: list[tuple[int, LaneQualification, Failure]], *, in_full: bool) -> str:
    _, first, failure = places[0]
    others = list({lane.id: lane for _, lane, _ in places if lane.id != first.id}.values())
    also = f"; also on {plain(names(others))}" if others else ""
    cases = list(dict.fromkeys(other.case for _, _, other in places))
    more = (
        f" and {len(cases) - 1} more cases" if len(cases) > 3 else "".join(f", {code(c)}" for c in cases[1:])
    )
    what = plain(failure.message or failure.outcome)
    head = f"- {plain(first.id)} {code(failure.case)}{more}{also}: {what}"
    if not in_full or not failure.reproduce:
        return head
    block = fenced("\n".join(failure.reproduce))
    return f"{head}\n\n" + "\n".join(f"  {line}" for line in block.split("\n")) + "\n"


def _not_established(q: Qualification) -> Iterator[str]:
    """Contradictions, then lanes of which nothing was observed, then open claims; each reason once."""
    yield from _claims(q, ClaimState.CONTRADICTED, "**contradicted** ")
    silent = [lane for lane in q.lanes if not ran(lane) and lane.not_run is not NotRun.NOT_SELECTED]
    if silent:
        yield f"- everything on {plain(names(silent))}: no case was observed there"
    hints: dict[tuple[str, str], list[LaneQualification]] = defaultdict(list)
    for lane in silent:
        if lane.hint:
            hints[(hint_title(lane), lane.hint)].append(lane)
    for (title, hint), lanes in hints.items():
        yield f"- {title} ({plain(names(lanes))}): {code(hint, most=4 * MOST_LINE)}"
    yield from _claims(q, ClaimState.NOT_ESTABLISHED, "")


def _claims(q: Qualification, state: ClaimState, mark: str) -> Iterator[str]:
    """The claims in one state: those with the same reason on the same lanes together."""
    by_claim: dict[tuple[str, str], list[LaneQualification]] = defaultdict(list)
    for lane in q.lanes:
        for claim in lane.claims:
            if claim.state is state and (ran(lane) or state is ClaimState.CONTRADICTED):
                by_claim[(claim.reason, claim.title)].append(lane)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (reason, title), lanes in by_claim.items():
        together[(reason, tuple(lane.id for lane in lanes))].append(title)
    for (reason, ids), titles in together.items():
        yield f"- {mark}{plain(', '.join(titles))} on {plain(listed(ids))}: {plain(reason)}"


def _established(q: Qualification) -> Iterator[str]:
    for lane in q.lanes:
        held = [claim for claim in lane.claims if claim.state is ClaimState.ESTABLISHED and ran(lane)]
        if held:
            lines = [f"  - {plain(claim.title)}: {plain(claim.reason)}" for claim in held]
            yield "\n".join([f"- {plain(lane.id)}", *lines])


def _not_claimed(q: Qualification) -> Iterator[str]:
    for text in (*q.not_claimed, *own_non_claims(q)):
        yield f"- {plain(text)}"


def _skips(q: Qualification) -> Iterator[str]:
    for lane in q.lanes:
        for skip in lane.skips:
            past = f", {plain(skip.reason)}" if skip.reason else ""
            kind = f"expected: {plain(skip.reason)}" if skip.expected else f"**unexpected**{past}"
            yield f"- {plain(lane.id)} {code(skip.case)}: {kind}. It said: {plain(skip.said) or 'nothing'}"
        c = lane.counts
        if c.xfailed:
            yield f"- {plain(lane.id)}: {c.xfailed} of {c.planned} cases failed as expected"


def _evidence(q: Qualification) -> Iterator[str]:
    for lane in q.lanes:
        if not lane.folder:
            continue
        parts = []
        if lane.toolchain is not None:
            chain = lane.toolchain
            parts.append(f"{plain(chain.kind)} {plain(chain.version)} ({plain(chain.origin)})")
            parts.append(f"code for {plain(', '.join(lane.architectures)) or 'nothing'} found in the program")
            parts.append(f"{lane.input_files} input files")
        if lane.seconds is not None:
            parts.append(f"{lane.seconds:.1f} s")
        if lane.revision is not None and lane.revision != q.revision:
            parts.append(f"**collected on {plain(lane.revision.short)}**")
        lines = [f"- {plain(lane.id)}: {', '.join([*parts, code(lane.folder)])}"]
        for device in lane.devices:
            known = (
                ("", device_name(device)),
                ("at ", device.pci or device.uuid),
                ("driver ", device.driver_version),
                ("runtime ", device.runtime_version),
            )
            lines.append(f"  - device {plain(', '.join(f'{word}{value}' for word, value in known if value))}")
        if lane.flags:
            lines.append(f"  - flags {code(' '.join(lane.flags))}")
        yield "\n".join(lines)
