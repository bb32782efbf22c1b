"""Fixtures that several parts of the suite share."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any, Protocol

import pytest

_SUPPORT = Path(__file__).parent / "support"

CPU_DEVICE = {"index": 0, "name": "A processor", "arch": "x86-64"}


class MakeDriver(Protocol):
    """Makes a fake driver and returns its path."""

    def __call__(
        self, *cases: str, backend: str = ..., devices: list[dict[str, Any]] | None = ..., **more: Any
    ) -> Path: ...


@pytest.fixture
def make_driver(tmp_path: Path) -> MakeDriver:
    """A driver that touches no device and whose cases do what their names say (tests/support)."""

    def make(
        *cases: str, backend: str = "cpu", devices: list[dict[str, Any]] | None = None, **more: Any
    ) -> Path:
        folder = tmp_path / "driver"
        folder.mkdir(exist_ok=True)
        path = folder / "fake_driver.py"
        source = (_SUPPORT / "fake_driver.py").read_text()
        path.write_text(source.replace("/usr/bin/env python3", sys.executable, 1))
        shutil.copymode(sys.executable, path)
        found = [CPU_DEVICE] if devices is None else devices
        config = {"cases": cases, "backend": backend, "devices": {"devices": found}, **more}
        (folder / "fake_driver.json").write_text(json.dumps(config))
        return path

    return make
