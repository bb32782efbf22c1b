"""Fixtures that several parts of the suite share."""

from __future__ import annotations

import json
import os
import shutil
import sys
from fnmatch import fnmatchcase
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


_skipped: list[tuple[str, str]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        _skipped.append((report.nodeid, reason))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a check that did not run is a failure unless it is on the list of expected skips."""
    if hasattr(session.config, "workerinput") or not os.environ.get("CI"):
        return
    unexpected = [f"{name}: {reason}" for name, reason in _skipped if not _expected(name)]
    if unexpected:
        sys.stderr.write("\nskipped, and not in tests/expected-skips.txt:\n" + "\n".join(unexpected) + "\n")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _expected(name: str) -> bool:
    lines = (Path(__file__).parent / "expected-skips.txt").read_text().splitlines()
    patterns = [line.split(maxsplit=1)[0] for line in lines if line.strip() and not line.startswith("#")]
    return any(fnmatchcase(name, pattern) for pattern in patterns)
