"""A small valid matrix and ways to get it wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from harness.matrix.load import MatrixError, load

if TYPE_CHECKING:
    from pathlib import Path

VALID = """\
version: 1
targets:
  gpu: {backend: cuda, arch: sm_86}
  host: {backend: cpu}
suites:
  sweep:
    kernels: kernels/sweep
    copy_modes: {cuda: [sync, pinned], cpu: [sync]}
"""


class ProblemsOf(Protocol):
    """Gives the problems of a text as `line:column: what`, none if it is valid."""

    def __call__(self, text: str) -> list[str]: ...


@pytest.fixture
def problems_of(tmp_path: Path) -> ProblemsOf:
    path = tmp_path / "matrix.yaml"

    def problems(text: str) -> list[str]:
        path.write_text(text, encoding="utf-8")
        try:
            load(path)
        except MatrixError as error:
            lines = str(error).splitlines()
            assert all(line.startswith(f"{path}:") for line in lines)
            return [line.removeprefix(f"{path}:") for line in lines]
        return []

    return problems


def changed(old: str, new: str) -> str:
    """The valid matrix with one part replaced."""
    assert VALID.count(old) == 1, old
    return VALID.replace(old, new)
