"""Compilers that the tests of the build stage need."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.build import probe
from harness.evidence.folders import CACHE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def nvcc(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's nvcc, else the one that a run of this checkout has installed from NVIDIA's wheels."""
    found = next(probe.on_path(["nvcc"]), None)
    if found is not None:
        return found
    installed = sorted((ROOT / CACHE / "toolchains").glob("cuda-*/nvidia/cu*/bin/nvcc"))
    if not installed:
        pytest.skip("not here: nvcc")
    monkeypatch.setenv("CUDA_HOME", str(installed[-1].parents[1]))
    return installed[-1]
