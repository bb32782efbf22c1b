"""Which lanes there are, which are selected and why, and what no lane covers."""

from __future__ import annotations

import json
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cli.plan import UNCOVERED, as_text
from harness.errors import ConfigurationError
from harness.matrix.lanes import all_lanes
from harness.matrix.model import Matrix
from harness.plan import Selection, coverage, plan

ROOT = Path(__file__).parents[2]

LANES = "old/sweep, old/image, new/sweep, asan/sweep, plain/sweep"

MATRIX = Matrix.model_validate(
    {
        "version": 1,
        "targets": {
            "old": {"backend": "cuda", "arch": "sm_86"},
            "new": {"backend": "cuda", "arch": "sm_90", "required": False},
            "red": {"backend": "hip", "arch": "gfx1201"},
            "asan": {"backend": "cpu", "sanitizers": {"on": ["address"]}},
            "plain": {"backend": "cpu", "session": "host"},
        },
        "suites": {
            "sweep": {"kernels": "a", "copy_modes": {"cuda": ["sync", "pinned"], "cpu": ["sync"]}},
            "image": {
                "kernels": "b",
                "copy_modes": {"cuda": ["device"], "hip": []},
                "targets": ["old", "r*"],
            },
        },
    }
)


def chosen(*sessions: str, patterns: tuple[str, ...] = ()) -> list[str]:
    return [lane.id for lane in plan(MATRIX, Selection(sessions, patterns)).selected]


def test_every_pair_is_in_the_plan_in_the_order_of_the_file_with_a_reason() -> None:
    entries = [(e.lane.id, e.selected, e.why) for e in plan(MATRIX, Selection(("cuda",), ("plain",))).entries]
    only = "the suite runs on old, r* only"
    assert entries == [
        ("old/sweep", True, "in session cuda"),
        ("old/image", True, "in session cuda"),
        ("new/sweep", True, "in session cuda"),
        ("new/image", False, only),
        ("red/sweep", False, "the suite has no copy modes for hip"),
        ("red/image", False, "the suite has no copy modes for hip"),
        ("asan/sweep", False, "not selected"),
        ("asan/image", False, only),
        ("plain/sweep", True, "matches plain"),
        ("plain/image", False, only),
    ]


def test_nothing_selected_means_everything() -> None:
    assert chosen() == [lane.id for lane in all_lanes(MATRIX)]
    assert {entry.why for entry in plan(MATRIX).entries if entry.selected} == {"everything is selected"}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("old", ["old/sweep", "old/image"]),
        ("old/image", ["old/image"]),
        ("*/image", ["old/image"]),
        ("*/sweep", ["old/sweep", "new/sweep", "asan/sweep", "plain/sweep"]),
        ("?ew", ["new/sweep"]),
        ("*", ["old/sweep", "old/image", "new/sweep", "asan/sweep", "plain/sweep"]),
    ],
)
def test_a_pattern_names_lanes_or_whole_targets(pattern: str, expected: list[str]) -> None:
    assert chosen(patterns=(pattern,)) == expected


def test_sessions_and_patterns_add_up_in_the_order_of_the_file() -> None:
    assert chosen("host", patterns=("*/image",)) == ["old/image", "plain/sweep"]
    assert chosen("host", "asan") == ["asan/sweep", "plain/sweep"]


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (
            Selection(("cud",)),
            "there is no session 'cud'; there are: cuda, hip, asan, host; did you mean 'cuda'?",
        ),
        (Selection(("cpu",)), "there is no session 'cpu'; there are: cuda, hip, asan, host"),
        (Selection(("hip",)), "the session 'hip' has no lane: no suite runs on red"),
        (
            Selection(patterns=("old/sweeep",)),
            f"no lane matches 'old/sweeep'; there are: {LANES}; did you mean 'old/sweep'?",
        ),
        (
            Selection(patterns=("assn",)),
            f"no lane matches 'assn'; there are: {LANES}; did you mean 'asan'?",
        ),
        (
            Selection(patterns=("asan/image",)),
            "'asan/image' matches no lane; asan/image is none: the suite runs on old, r* only",
        ),
        (
            Selection(("cuda",), ("red",)),
            "'red' matches no lane; red/sweep is none: the suite has no copy modes for hip",
        ),
        (
            Selection(patterns=("",)),
            f"no lane matches ''; there are: {LANES}",
        ),
    ],
)
def test_what_does_not_exist_is_refused(selection: Selection, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        plan(MATRIX, selection)
    assert str(caught.value) == message


def test_coverage_names_the_lanes_of_each_declared_value() -> None:
    rows = {(row.kind, row.value): row.lanes for row in coverage(MATRIX)}
    assert rows == {
        ("target", "old"): ("old/sweep", "old/image"),
        ("target", "new"): ("new/sweep",),
        ("target", "red"): (),
        ("target", "asan"): ("asan/sweep",),
        ("target", "plain"): ("plain/sweep",),
        ("backend", "cuda"): ("old/sweep", "old/image", "new/sweep"),
        ("backend", "hip"): (),
        ("backend", "cpu"): ("asan/sweep", "plain/sweep"),
        ("architecture", "sm_86"): ("old/sweep", "old/image"),
        ("architecture", "sm_90"): ("new/sweep",),
        ("architecture", "gfx1201"): (),
        ("sanitizer", "address"): ("asan/sweep",),
        ("suite", "sweep"): ("old/sweep", "new/sweep", "asan/sweep", "plain/sweep"),
        ("suite", "image"): ("old/image",),
        ("copy mode", "sync on cuda (sweep)"): ("old/sweep", "new/sweep"),
        ("copy mode", "pinned on cuda (sweep)"): ("old/sweep", "new/sweep"),
        ("copy mode", "sync on cpu (sweep)"): ("asan/sweep", "plain/sweep"),
        ("copy mode", "device on cuda (image)"): ("old/image",),
    }


def test_the_text_marks_what_no_lane_covers() -> None:
    text = as_text(plan(MATRIX), coverage(MATRIX))
    marked = [line.split()[0] for line in text.splitlines() if line.endswith(UNCOVERED)]
    assert marked == ["red", "hip", "gfx1201"]


def test_long_names_stay_whole_and_long_lists_are_counted() -> None:
    suites = [f"{'s' * 60}{n}" for n in range(8)]
    matrix = Matrix.model_validate(
        {
            "version": 1,
            "targets": {"t" * 60: {"backend": "cpu"}},
            "suites": {name: {"kernels": "k", "copy_modes": {"cpu": ["sync"]}} for name in suites},
        }
    )
    words = as_text(plan(matrix), coverage(matrix)).replace(",", " ").split()
    # In the list of lanes, and beside target, backend, suite and copy mode.
    assert words.count(f"{'t' * 60}/{suites[0]}") == 5
    # Of the eight lanes of the target and of the backend six are named.
    assert words.count(f"{'t' * 60}/{suites[7]}") == 3
    assert words.count("(8") == 2


words = st.text("abcdef", min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(words, min_size=1, max_size=5, unique=True), st.lists(words, min_size=1, max_size=4, unique=True)
)
def test_the_text_keeps_to_80_columns_unless_a_name_is_longer(targets: list[str], suites: list[str]) -> None:
    matrix = Matrix.model_validate(
        {
            "version": 1,
            "targets": {name: {"backend": "cpu"} for name in targets},
            "suites": {name: {"kernels": "k", "copy_modes": {"cpu": ["sync", "async"]}} for name in suites},
        }
    )
    text = as_text(plan(matrix), coverage(matrix))
    for line in text.splitlines():
        assert len(line) <= 80 or max(len(word) for word in line.split()) + 46 > 80
    for name in (*targets, *suites):
        assert name in text


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["cuda", "asan", "host"]), max_size=3),
    st.lists(st.sampled_from(["old", "*/sweep", "old/*", "plain", "?ew", "*"]), max_size=3),
)
def test_a_lane_is_selected_exactly_if_something_asks_for_it(
    sessions: list[str], patterns: list[str]
) -> None:
    wanted = {
        lane.id
        for lane in all_lanes(MATRIX)
        if not (sessions or patterns)
        or lane.session in sessions
        or any(fnmatchcase(lane.id, p) or fnmatchcase(lane.target_name, p) for p in patterns)
    }
    selected = chosen(*sessions, patterns=tuple(patterns))
    assert set(selected) == wanted
    assert len(selected) == len(wanted)


def _plan(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", "plan", "--matrix", str(ROOT / "matrix.yaml"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_this_project_s_plan_fits_a_terminal_and_covers_everything() -> None:
    done = _plan("-s", "cuda")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert lines[1] == "  in   rtx3090/ds4-rollback       sm_86: sync, async, pinned; in session cuda"
    assert "  out  r9700/ds4-rollback         not selected" in lines
    assert UNCOVERED not in done.stdout


def test_the_plan_as_json() -> None:
    done = _plan("--json", "cpu-sanitize")
    data: dict[str, Any] = json.loads(done.stdout)
    assert list(data) == ["schema_version", "lanes", "coverage"]
    assert data["lanes"][-1] == {
        "lane": "cpu-sanitize/ds4-rollback",
        "target": "cpu-sanitize",
        "suite": "ds4-rollback",
        "session": "cpu-sanitize",
        "backend": "cpu",
        "arch": None,
        "copy_modes": ["sync", "async"],
        "required": True,
        "selected": True,
        "why": "matches cpu-sanitize",
    }
    assert [lane["selected"] for lane in data["lanes"]] == [False, False, False, False, True]
    assert {"kind": "sanitizer", "value": "address", "lanes": ["cpu-sanitize/ds4-rollback"]} in data[
        "coverage"
    ]


def test_an_unknown_lane_ends_the_command_with_a_message() -> None:
    done = _plan("rtx3091")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("no lane matches 'rtx3091'; there are: rtx3090/ds4-rollback, ")
    assert done.stderr.endswith("; did you mean 'rtx3090'?\n")
