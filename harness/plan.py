"""Which lanes a matrix has, in a stable order, and why each is in or out of a selection."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness.errors import ConfigurationError
from harness.matrix.lanes import Lane, all_lanes, why_excluded
from harness.matrix.suggest import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.matrix.model import Matrix


@dataclass(frozen=True, slots=True)
class Selection:
    """What a person asked for: names of sessions, and patterns of lanes or targets; nothing means all."""

    sessions: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    def reason(self, lane: Lane) -> str:
        """Why a lane is selected, or "" if it is not."""
        if not self.sessions and not self.patterns:
            return "everything is selected"
        if lane.session in self.sessions:
            return f"in session {lane.session}"
        for pattern in self.patterns:
            if fnmatchcase(lane.id, pattern) or fnmatchcase(lane.target_name, pattern):
                return f"matches {pattern}"
        return ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One pair of target and suite: whether it is selected, and why it is in or out."""

    lane: Lane
    selected: bool
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Every pair of target and suite, in the order of the file."""

    entries: tuple[Entry, ...]

    @property
    def selected(self) -> tuple[Lane, ...]:
        """The lanes that are to be built and run."""
        return tuple(entry.lane for entry in self.entries if entry.selected)


def plan(matrix: Matrix, selection: Selection | None = None) -> Plan:
    """Decide for every pair of target and suite whether it is in.

    Raises ConfigurationError if a session does not exist or a pattern matches
    no lane: a typing mistake must not look like an empty, green run.
    """
    wanted = selection or Selection()
    _check(matrix, wanted)
    entries = []
    for target_name, target in matrix.targets.items():
        for suite_name, suite in matrix.suites.items():
            lane = Lane(target_name, suite_name, target, suite)
            excluded, reason = why_excluded(target_name, target, suite), wanted.reason(lane)
            entries.append(Entry(lane, not excluded and bool(reason), excluded or reason or "not selected"))
    return Plan(tuple(entries))


def _check(matrix: Matrix, wanted: Selection) -> None:
    lanes = all_lanes(matrix)
    for session in wanted.sessions:
        if session not in matrix.sessions:
            text = f"there is no session {session!r}; there are: {listed(matrix.sessions)}"
            raise ConfigurationError(text + did_you_mean(session, list(matrix.sessions)))
        if not any(lane.session == session for lane in lanes):
            targets = ", ".join(matrix.sessions[session])
            raise ConfigurationError(f"the session {session!r} has no lane: no suite runs on {targets}")
    for pattern in wanted.patterns:
        if not any(Selection(patterns=(pattern,)).reason(lane) for lane in lanes):
            raise ConfigurationError(_no_lane(matrix, pattern, [lane.id for lane in lanes]))


def _no_lane(matrix: Matrix, pattern: str, lanes: list[str]) -> str:
    """Why a pattern matches no lane: it names a pair that is excluded, or nothing at all."""
    selection = Selection(patterns=(pattern,))
    for target_name, target in matrix.targets.items():
        for suite_name, suite in matrix.suites.items():
            pair = Lane(target_name, suite_name, target, suite)
            if selection.reason(pair):
                no_lane = f"{pair.id} is none: {why_excluded(target_name, target, suite)}"
                return f"{pattern!r} matches no lane; {no_lane}"
    text = f"no lane matches {pattern!r}; there are: {listed(lanes)}"
    return text + did_you_mean(pattern, [*lanes, *matrix.targets])


@dataclass(frozen=True, slots=True)
class Coverage:
    """One value that the matrix declares, and the lanes that cover it."""

    kind: str
    value: str
    lanes: tuple[str, ...]


def coverage(matrix: Matrix) -> tuple[Coverage, ...]:
    """Every value that a matrix declares with the lanes that cover it; some may be covered by none."""
    lanes = all_lanes(matrix)
    found: dict[tuple[str, str], list[str]] = {}

    def declare(kind: str, value: str, covering: Iterable[str] = ()) -> None:
        found.setdefault((kind, value), []).extend(covering)

    for name, target in matrix.targets.items():
        mine = [lane.id for lane in lanes if lane.target_name == name]
        declare("target", name, mine)
        declare("backend", target.backend, mine)
        if target.arch is not None:
            declare("architecture", target.arch, mine)
        for sanitizer in target.sanitizers.on if target.sanitizers is not None else ():
            declare("sanitizer", sanitizer, mine)
    for name, suite in matrix.suites.items():
        declare("suite", name, [lane.id for lane in lanes if lane.suite_name == name])
        for backend, modes in suite.modes.items():
            covering = [
                lane.id for lane in lanes if lane.suite_name == name and lane.target.backend is backend
            ]
            for mode in modes:
                declare("copy mode", f"{mode} on {backend} ({name})", covering)
    kinds = list(dict.fromkeys(kind for kind, _ in found))
    ordered = sorted(found.items(), key=lambda item: kinds.index(item[0][0]))
    return tuple(Coverage(kind, value, tuple(covering)) for (kind, value), covering in ordered)
