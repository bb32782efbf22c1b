"""What no single key of a matrix can know: names that refer to each other, and names that would collide."""

from __future__ import annotations

import itertools
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from harness.matrix.explain import name_of
from harness.matrix.lanes import all_lanes
from harness.matrix.problems import Problem
from harness.matrix.suggest import did_you_mean, listed

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence

    from harness.matrix.model import Matrix
    from harness.matrix.yaml_reader import Document, KeyPath

BUILT_IN_SESSIONS = ("report", "tests", "lint", "docs", "mutants", "regression")

# What all stages together can hold; the largest fleets have a few hundred.
MOST_LANES = 10_000


def name_problems(document: Document) -> Iterator[Problem]:
    """Check references between names and collisions of names.

    Works on the plain data, which may have problems of any other kind, so that
    a person need not mend those first to see these.
    """
    data = document.data
    targets = [name for name in _mapping(data, "targets") if isinstance(name, str)]
    suites = _mapping(data, "suites")
    for suite, entry in suites.items():
        for index, pattern in _texts(entry, "targets"):
            if not _matches(pattern, targets):
                yield _unknown(document, ("suites", suite, "targets", index), pattern, "target", targets)
    for index, name in _texts(_mapping(data, "ci"), "may_be_missing"):
        if name not in targets:
            yield _unknown(document, ("ci", "may_be_missing", index), name, "target", targets)
    for section, names in (("targets", targets), ("suites", list(suites))):
        first: dict[str, str] = {}
        for name in names:
            other = first.setdefault(name.lower(), name)
            if other != name:
                text = f"{name!r} and {other!r} differ only by case and would share a folder on some disks"
                yield Problem(document.key((section, name)), text)


def session_problems(matrix: Matrix, document: Document) -> Iterator[Problem]:
    """Check that no session of the matrix takes the name of one that is built in."""
    for session, names in matrix.sessions.items():
        if session in BUILT_IN_SESSIONS:
            text = f"the nox session {session!r} is built in; name another one with the key 'session'"
            place: KeyPath = ("targets", names[0])
            own = matrix.targets[names[0]].session is not None
            yield Problem(document.value((*place, "session")) if own else document.key(place), text)


def lane_problems(matrix: Matrix, document: Document) -> Iterator[Problem]:
    """Check what needs the lanes: their number, and suites and expected skips without one."""
    pairs = len(matrix.targets) * len(matrix.suites)
    if pairs > MOST_LANES:
        text = f"{pairs} pairs of target and suite; allowed: at most {MOST_LANES}"
        yield Problem(document.key(("suites",)), text)
        return
    lanes = [lane.id for lane in all_lanes(matrix)]
    suites_with_lanes = {lane.partition("/")[2] for lane in lanes}
    for name, suite in matrix.suites.items():
        # A pattern without a target has been reported, and is the reason.
        if name not in suites_with_lanes and any(_matches(p, list(matrix.targets)) for p in suite.targets):
            text = f"the suite {name!r} has no lane: no target it runs on has a backend with copy modes in it"
            yield Problem(document.key(("suites", name)), text)
    for index, skip in enumerate(matrix.expected_skips):
        if not _matches(skip.lane, lanes):
            yield _unknown(document, ("expected_skips", index, "lane"), skip.lane, "lane", lanes)


def warnings(matrix: Matrix, document: Document, today: dt.date) -> Iterator[Problem]:
    """What is allowed and should still be looked at: expected skips that ended before `today`."""
    for index, skip in enumerate(matrix.expected_skips):
        if skip.until is not None and skip.until < today:
            text = f"warning: this skip was expected until {skip.until}; from then on it counts as unexpected"
            yield Problem(document.value(("expected_skips", index, "until")), text)


def _mapping(data: Any, key: str) -> dict[str, Any]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def _texts(data: Any, key: str) -> Iterator[tuple[int, str]]:
    value = data.get(key) if isinstance(data, dict) else None
    for index, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, str):
            yield index, item


def _matches(pattern: str, names: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names)


def _unknown(document: Document, place: KeyPath, found: str, what: str, allowed: Sequence[str]) -> Problem:
    text = f"{name_of(place)}: no {what} matches {found[:100]!r}; there are: {listed(allowed)}"
    return Problem(document.value(place), text + did_you_mean(found, allowed))


def first_of(problems: Iterator[Problem], most: int) -> list[Problem]:
    """The first problems of many, since each costs a comparison with all names."""
    return list(itertools.islice(problems, most))
