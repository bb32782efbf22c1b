"""The qualification as Markdown: what a reviewer reads in a pull request, most important things first."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from harness.junit.write import visible
from harness.report.words import by_concern, device_found, hint_title, own_non_claims, ran, single_reason
from harness.words import ClaimState, Execution, LaneVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.qualification import CopyModeResult, LaneQualification, Qualification

MOST_CHARACTERS = 60_000
"""Below the 65,536 that a comment or a check-run summary on GitHub may have."""

_MOST_LINE = 600

_MEMORY = {"not-asked": "kind not asked (no GPU runtime)"}


def markdown(qualification: Qualification, *, limit: int = MOST_CHARACTERS) -> str:
    """Render a qualification in at most `limit` characters.

    Sections are cut from the last to the first, each with a note that says how
    much was left out; the verdict is never cut.
    """
    head = "\n".join(_head(qualification))
    sections = [
        ("Lanes", list(_lanes(qualification))),
        ("Failures", list(_failures(qualification))),
        ("Not established", list(_not_established(qualification))),
        ("Established", list(_established(qualification))),
        ("Not claimed", list(_not_claimed(qualification))),
        ("Skips", list(_skips(qualification))),
        ("Evidence", list(_evidence(qualification))),
    ]
    parts, left = [head], limit - len(head) - 1
    for title, lines in sections:
        if not lines:
            continue
        text = _cut(title, lines, left)
        if text:
            parts.append(text)
            left -= len(text) + 1
    return "\n".join(parts) + "\n"


def _cut(title: str, lines: list[str], left: int) -> str:
    note = "\n*{} more lines were cut; qualification.json has them all.*\n"
    room = left - len(note) - 20
    text = f"\n### {title}\n\n"
    for number, line in enumerate(lines):
        if len(text) + len(line) + 1 > room:
            return text + note.format(len(lines) - number) if room > len(title) + 10 else ""
        text += f"{line}\n"
    return text.rstrip("\n")


def plain(text: str, most: int = _MOST_LINE) -> str:
    """Make text safe in a line or a table cell: nothing in it is markup, a mention or a second line."""
    line = " ".join(visible(text).split())
    if len(line) > most:
        line = f"{line[: most - 1]}…"
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    # An underscore inside a word is no markup, and sm_86 reads better without a backslash.
    return re.sub(
        r"[\\`*\[\]|~#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", lambda found: f"\\{found.group()}", line
    )


def code(text: str) -> str:
    """Make text an inline code span, whatever backticks it holds; line breaks become spaces."""
    line = " ".join(visible(text).split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _fenced(text: str) -> Iterator[str]:
    lines = visible(text).splitlines()
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}sh"
    yield from lines
    yield fence


def _head(q: Qualification) -> Iterator[str]:
    yield f"## {q.verdict}: {plain(q.revision.short)}"
    yield ""
    reason = single_reason(q)
    if reason:
        yield f"**{plain(reason)}**"
        yield ""
    yield f"{q.created:%Y-%m-%d %H:%M} UTC, run {code(q.run)}, gpu-test-matrix {q.harness_version}"


def _lanes(q: Qualification) -> Iterator[str]:
    yield (
        "| lane | device found | planned | ran | passed | failed | error | skipped | flaky | missing | exit "
        "| copy modes: verified transactions, memory as observed | verdict |"
    )
    yield "| --- | --- " + "| ---: " * 9 + "| --- | --- |"
    for lane in by_concern(q):
        counts = lane.counts
        numbers = (
            counts.planned,
            counts.executed,
            counts.passed,
            counts.failed,
            counts.error,
            counts.skipped,
            counts.flaky,
            counts.missing,
        )
        shown = " | ".join(str(number) for number in numbers) if counts.planned else " | ".join("-" * 8)
        exit_status = "-" if lane.exit_status is None else str(lane.exit_status)
        verdict = f"**{lane.verdict}**" if lane.verdict is not LaneVerdict.QUALIFIED else lane.verdict.value
        optional = "" if lane.required else " (optional)"
        yield (
            f"| {plain(lane.id)}{optional} | {plain(device_found(lane))} | {shown} | {exit_status} "
            f"| {_modes(lane)} | {verdict} |"
        )
    told = [lane for lane in by_concern(q) if ran(lane) or lane.verdict is LaneVerdict.FAILED]
    reasons = [(lane.id, reason) for lane in told for reason in lane.reasons]
    if reasons:
        yield ""
        yield from (f"- {plain(lane)}: {plain(reason)}" for lane, reason in reasons)


def _modes(lane: LaneQualification) -> str:
    if not ran(lane):
        return "not run"
    return "<br>".join(_mode(mode) for mode in lane.copy_modes)


def _mode(mode: CopyModeResult) -> str:
    of = f" of {mode.required:,}" if mode.required is not None else ""
    emulated = " on an emulated stream" if mode.execution is Execution.EMULATED else ""
    memory = plain(_MEMORY.get(mode.memory, mode.memory))
    return f"{mode.mode}{emulated}: {mode.transactions:,}{of}, memory {memory}"


def _failures(q: Qualification) -> Iterator[str]:
    """Group by message, so that one defect on many lanes is one entry."""
    groups: dict[str, list[tuple[LaneQualification, int]]] = defaultdict(list)
    for lane in q.lanes:
        for index, failure in enumerate(lane.failures):
            groups[failure.message].append((lane, index))
    for message, places in groups.items():
        lane, index = places[0]
        failure = lane.failures[index]
        lanes = list(dict.fromkeys(place.id for place, _ in places))
        also = f"; also on {', '.join(plain(name) for name in lanes[1:])}" if len(lanes) > 1 else ""
        rows = f" ({len(places)} cases)" if len(places) > 1 else ""
        yield f"- {plain(lane.id)} {code(failure.case)}{rows}{also}"
        yield f"  {plain(message) or failure.outcome}"
        if failure.reproduce:
            yield ""
            yield from (f"  {line}" for line in _fenced("\n".join(failure.reproduce)))


def _not_established(q: Qualification) -> Iterator[str]:
    silent: dict[tuple[str, str], list[str]] = defaultdict(list)
    for lane in q.lanes:
        if not ran(lane):
            hint = f" {hint_title(lane).capitalize()}: {code(lane.hint)}" if lane.hint else ""
            silent[(lane.reasons[0] if lane.reasons else "not run", hint)].append(lane.id)
    for (reason, hint), lanes in silent.items():
        yield f"- {plain(', '.join(lanes))}: nothing; {plain(reason)}.{hint}"
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for lane in q.lanes:
        for claim in lane.claims if ran(lane) else ():
            if claim.state in (ClaimState.NOT_ESTABLISHED, ClaimState.CONTRADICTED):
                groups[(claim.state, claim.title, claim.reason)].append(lane.id)
    for (state, title, reason), lanes in groups.items():
        mark = "**contradicted**" if state == ClaimState.CONTRADICTED else state
        yield f"- {plain(title)} {mark} on {plain(', '.join(lanes))}: {plain(reason)}"


def _established(q: Qualification) -> Iterator[str]:
    for lane in q.lanes:
        held = [claim for claim in lane.claims if claim.state is ClaimState.ESTABLISHED and ran(lane)]
        if held:
            yield f"- {plain(lane.id)}"
            yield from (f"  - {plain(claim.title)}: {plain(claim.reason)}" for claim in held)


def _not_claimed(q: Qualification) -> Iterator[str]:
    for text in (*q.not_claimed, *own_non_claims(q)):
        yield f"- {plain(text)}"


def _skips(q: Qualification) -> Iterator[str]:
    for lane in q.lanes:
        for skip in lane.skips:
            kind = f"expected: {plain(skip.reason)}" if skip.expected else "**unexpected**"
            yield f"- {plain(lane.id)} {code(skip.case)}: {kind}. It said: {plain(skip.said) or 'nothing'}"


def _evidence(q: Qualification) -> Iterator[str]:
    for lane in q.lanes:
        if lane.toolchain is None:
            continue
        chain = lane.toolchain
        time = f", {lane.seconds:.1f} s" if lane.seconds is not None else ""
        yield (
            f"- {plain(lane.id)}: {plain(chain.kind)} {plain(chain.version)} ({plain(chain.origin)}), "
            f"code for {plain(', '.join(lane.architectures))}, {lane.input_files} input files{time}, "
            f"{code(lane.folder)}"
        )
        if lane.flags:
            yield f"  flags {code(' '.join(lane.flags))}"
        for warning in lane.warnings:
            yield f"  warning: {plain(warning)}"
