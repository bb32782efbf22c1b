"""What holds for every matrix and for every damage to its file."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.matrix.load import MatrixError, load
from harness.matrix.model import Matrix
from harness.matrix.yaml_reader import typed
from harness.words import Backend, CopyMode, Sanitizer, SanitizerCheck
from tests.matrix.conftest import VALID

# Each is read differently by some YAML reader if it is not quoted, and is a valid name.
TREACHEROUS = ("no", "on", "null", "true", "1e3", "010", "0x1f", "1.5", "12", "2027-06-01", "NaN", "y")

names = st.one_of(
    st.sampled_from(TREACHEROUS), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,12}", fullmatch=True)
)
texts = st.one_of(
    st.sampled_from(TREACHEROUS),
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp")), min_size=1, max_size=30).filter(
        lambda text: text.strip() == text and "\ufeff" not in text
    ),
)
ARCHITECTURES = {
    Backend.CUDA: ["sm_86", "sm_90a"],
    Backend.HIP: ["gfx1201", "gfx90a"],
    Backend.CPU: ["x86-64"],
}


def some(words: type[Any], *without: Any, least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(
        st.sampled_from([word.value for word in words if word not in without]), min_size=least, unique=True
    )


def optional(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keys)


@st.composite
def targets(draw: st.DrawFn, name: str) -> dict[str, Any]:
    backend = draw(st.sampled_from(Backend))
    target: dict[str, Any] = {"backend": backend.value}
    if backend is not Backend.CPU or draw(st.booleans()):
        target["arch"] = draw(st.sampled_from(ARCHITECTURES[backend]))
    if backend is not Backend.CUDA and draw(st.booleans()):
        target["sanitizers"] = {
            "on": draw(some(Sanitizer, Sanitizer.THREAD, least=1)),
            "off": draw(some(SanitizerCheck)),
        }
    number = st.floats(1e-6, 1e6, allow_nan=False)
    device = optional(name=texts, uuid=texts, pci=st.just("0000:01:00.0"), min_memory_gib=number)
    target |= draw(optional(device=device, compiler=texts, required=st.booleans()))
    target["session"] = f"s-{name}"[:64]
    return target


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    target_names = draw(st.lists(names, min_size=1, max_size=4, unique_by=str.lower))
    declared = {name: draw(targets(name)) for name in target_names}
    used = sorted({target["backend"] for target in declared.values()})
    suite_names = draw(st.lists(names, min_size=1, max_size=3, unique_by=str.lower))
    number = st.floats(1e-3, 86400, allow_nan=False)
    suites = {
        name: {
            "kernels": "kernels/" + name,
            "copy_modes": {backend: draw(some(CopyMode, CopyMode.PINNED, least=1)) for backend in used},
            **draw(
                optional(
                    timeout_s=number, establish=optional(transactions_per_copy_mode=st.integers(1, 10**15))
                )
            ),
        }
        for name in suite_names
    }
    skip = st.fixed_dictionaries(
        {
            "lane": st.sampled_from([f"{t}/{s}" for t in target_names for s in suite_names]),
            "case": texts,
            "reason": texts,
        },
        optional={"until": st.dates(dt.date(1900, 1, 1)).map(str)},
    )
    return Matrix.model_validate(
        {
            "version": 1,
            "targets": declared,
            "suites": suites,
            "expected_skips": draw(st.lists(skip, max_size=2)),
            "not_claimed": draw(st.lists(texts, max_size=2)),
            "ci": {"may_be_missing": draw(st.lists(st.sampled_from(target_names), max_size=2))},
        }
    )


def _load(text: str) -> Matrix:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return load(path)


@settings(max_examples=80, deadline=None)
@given(matrices(), st.booleans())
def test_a_matrix_that_is_written_as_yaml_is_read_back_equal(matrix: Matrix, flow: bool) -> None:
    data = matrix.model_dump(mode="json")
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, default_flow_style=flow)
    read = _load(text)
    assert read == matrix
    assert list(read.targets) == list(matrix.targets)
    assert list(read.suites) == list(matrix.suites)


FULL = (
    VALID
    + """\
expected_skips:
  - {lane: "gpu/*", case: '*hip_only*', reason: "needs a HIP device", until: 2027-06-01}
not_claimed:
  - throughput
  - |
    whole-model
    token parity
ci:
  may_be_missing: &missing [gpu]
"""
)

PIECES = (
    *("", ":", "\n", "\n  ", "- ", "{", "}", "[", "]", "'", '"', "\t", "#", "? ", "| ", "> ", "%", "@", "\\"),
    *(
        "*missing",
        "&a ",
        "!!str ",
        "---\n",
        "...\n",
        "<<: ",
        "null",
        "-1",
        "1e3",
        "no",
        "on: ",
        "version: 1\n",
    ),
    *("\r", "\x85", "\u2029", "\0", "\ufeff", "\ud800", "é", "\U0001f600"),
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    text = FULL
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=3))) + text[end:]
    return text


def _positions_are_inside(text: str, error: MatrixError) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert error.problems
    for problem in error.problems:
        assert 1 <= problem.position.line <= len(lines)
        assert 1 <= problem.position.column <= len(lines[problem.position.line - 1]) + 1
        assert "pydantic" not in problem.text
        assert "Input should" not in problem.text
        assert "\n" not in problem.text


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_damage_is_a_matrix_error_with_positions_inside_the_file(text: str) -> None:
    try:
        matrix = _load(text)
    except MatrixError as error:
        _positions_are_inside(text, error)
    else:
        assert matrix.targets


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_refused_with_a_position(text: str) -> None:
    try:
        _load(text)
    except MatrixError as error:
        _positions_are_inside(text, error)
    else:
        raise AssertionError(f"{text!r} cannot be a matrix")


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.from_regex(r"[-+.0-9eExo_:]{1,8}", fullmatch=True), st.sampled_from(TREACHEROUS)))
@example("1.0e3")
@example("1.0e+3")
@example("1.")
@example(".5")
@example("-0")
@example("+12")
@example("1_000")
def test_a_word_has_a_type_only_where_yaml_1_1_has_it_too(word: str) -> None:
    value = typed(word)
    if not isinstance(value, str):
        of_yaml_1_1 = yaml.safe_load(f"[{word}]")[0]
        assert (of_yaml_1_1, type(of_yaml_1_1)) == (value, type(value))
