"""The portability layer by itself, under the sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.kernels.conftest import Tools


def test_streams_launches_and_maths(tools: Tools, tmp_path: Path) -> None:
    program = tmp_path / "portability"
    sources = [Path(__file__).with_name("portability.cpp"), *sorted((tools.kernels / "src").glob("*.cpp"))]
    tools.checked(
        tools.compiler, "-std=c++17", *tools.flags, "-Wall", "-Wextra", "-Wconversion", "-Werror",
        "-DHARNESS_BACKEND_CPU", "-I", tools.kernels / "include", *sources, "-o", program,
    )  # fmt: skip
    done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["-DHARNESS_BACKEND=metal"], "must be cpu, cuda or hip"),
        ([], "must be cpu, cuda or hip"),
        (["-DHARNESS_BACKEND=cuda", "-DHARNESS_ARCH=sm_90"], "cuda needs an explicit architecture"),
        (["-DHARNESS_BACKEND=hip", "-DHARNESS_ARCH=native"], "hip needs a gfx architecture"),
    ],
)
def test_a_target_that_is_not_named_is_refused(
    entries: list[str], said: str, tools: Tools, tmp_path: Path
) -> None:
    """Above all, nothing is ever built for whatever device happens to be there."""
    done = subprocess.run(
        [
            tools.cmake, "-G", "Ninja", "-S", tools.suite, "-B", tmp_path / "tree",
            f"-DCMAKE_MAKE_PROGRAM={tools.ninja}", f"-DCMAKE_CXX_COMPILER={tools.compiler}", *entries,
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert said in " ".join(done.stderr.split())
