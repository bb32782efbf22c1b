"""A backend is one entry in the words and one module that builds for it; nothing else names it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from harness.evidence.devices import device_variables, renames
from harness.matrix.model import Target
from harness.suites.environment import environment_of
from harness.words import Backend

PACKAGE = Path(__file__).resolve().parents[2] / "harness"


@pytest.mark.parametrize("backend", Backend)
def test_each_backend_has_a_module_of_one_shape(backend: Backend) -> None:
    module = importlib.import_module(f"harness.build.{backend}")
    for name in ("configure", "architectures", "expected_architecture"):
        assert callable(getattr(module, name))


@pytest.mark.parametrize("backend", Backend)
def test_its_examples_are_its_architectures(backend: Backend) -> None:
    for example in backend.facts.examples.removesuffix(", …").split(", "):
        assert re.fullmatch(backend.facts.architecture, example)
        assert Target.model_validate({"backend": backend.value, "arch": example}).arch == example


def test_no_other_module_decides_by_a_backend_s_name() -> None:
    """Whatever depends on the backend depends on a fact of it, so that another one needs no change there."""
    named = re.compile(r"\bBackend\.(CUDA|HIP|CPU)\b")
    found = {
        str(path.relative_to(PACKAGE)): found
        for path in PACKAGE.rglob("*.py")
        if (found := named.findall(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_variables_that_change_devices_are_those_of_the_backends() -> None:
    given = {
        "HSA_OVERRIDE_GFX_VERSION": "11.0.0",
        "HSA_OVERRIDE_GFX_VERSION_1": "11.0.0",
        "HSA_OVERRIDE_GFX_VERSIONS": "no such variable",
        "CUDA_VISIBLE_DEVICES": "",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "HSA_XNACK": "1",
        "PATH": "/bin",
    }
    assert set(device_variables(given)) == set(given) - {"PATH", "HSA_OVERRIDE_GFX_VERSIONS"}
    (hip,) = (backend for backend in Backend if backend.facts.renames)
    assert renames("HSA_OVERRIDE_GFX_VERSION_0", hip)
    assert not any(renames("", backend) for backend in Backend)


def test_a_lane_without_a_device_finds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for backend in Backend:
        for name in backend.facts.masks:
            monkeypatch.setenv(name, "0")
    host = environment_of(Target.model_validate({"backend": "cpu"}))
    card = environment_of(Target.model_validate({"backend": "cuda", "arch": "sm_86"}))
    masks = [name for backend in Backend for name in backend.facts.masks]
    assert {host[name] for name in masks} == {""}
    assert {card[name] for name in masks} == {"0"}
