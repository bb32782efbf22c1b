"""Small projects that use this one as a library, with a driver that touches no device."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_SUPPORT = Path(__file__).parent.parent / "support"
_PACKAGE = Path(__file__).parent.parent.parent

HEARS_INTERRUPTS = ("env", "--default-signal=INT")
"""A test run in the background may have inherited that SIGINT is ignored."""

_MAIN = r"""
#include <unistd.h>
int main(int argc, char** argv) {
  char* arguments[64] = {const_cast<char*>(PYTHON), const_cast<char*>(SCRIPT)};
  for (int i = 1; i < argc && i < 60; ++i) arguments[i + 1] = argv[i];
  execv(PYTHON, arguments);
  return 2;
}
"""

_CMAKE = """
cmake_minimum_required(VERSION 3.24)
project(fake LANGUAGES CXX)
add_executable(fake main.cpp)
target_compile_definitions(fake PRIVATE
  "PYTHON=R\\"(${FAKE_PYTHON})\\"" "SCRIPT=R\\"(${CMAKE_CURRENT_SOURCE_DIR}/fake_driver.py)\\"")
"""

MATRIX = """
version: 1
targets:
  one: {backend: cpu}
  two: {backend: cpu}
suites:
  fake:
    kernels: kernels/fake
    copy_modes: {cpu: [sync, async]}
"""


@dataclass
class Project:
    """A project folder in which nox and harness can be run."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def cases(self, *names: str, **more: Any) -> None:
        """Say which cases the driver has."""
        device = {"index": 0, "name": "A processor", "arch": "x86-64"}
        config = {"cases": names, "backend": "cpu", "devices": {"devices": [device]}, **more}
        (self.root / "kernels/fake/fake_driver.json").write_text(json.dumps(config))

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*HEARS_INTERRUPTS, sys.executable, "-m", *command],
            cwd=self.root,
            env={**os.environ, **self.environment, "PYTHONPATH": str(_PACKAGE)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *command: str) -> tuple[int, str]:
        """Run a module of Python and give its exit status and all that it said."""
        with self.start(*command) as process:
            output, _ = process.communicate(timeout=300)
        assert "Traceback" not in output, output
        return process.returncode, output

    def nox(self, *arguments: str) -> tuple[int, str]:
        return self.run("nox", *arguments)

    def harness(self, *arguments: str) -> tuple[int, str]:
        return self.run("harness", *arguments)

    @property
    def qualification(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.root / "reports/latest/qualification.json").read_bytes())
        return loaded

    def lane(self, name: str) -> dict[str, Any]:
        """One lane of the last qualification, by `target/suite`."""
        (found,) = (
            lane for lane in self.qualification["lanes"] if f"{lane['target']}/{lane['suite']}" == name
        )
        return dict(found)

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A committed project with two CPU lanes, in a folder whose name is as hard as they come."""
    for name in ("HARNESS_RUN", "CI"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "a prøject with spaces"
    kernels = root / "kernels/fake"
    kernels.mkdir(parents=True)
    (kernels / "main.cpp").write_text(_MAIN)
    (kernels / "CMakeLists.txt").write_text(_CMAKE.replace("${FAKE_PYTHON}", sys.executable))
    shutil.copy(_SUPPORT / "fake_driver.py", kernels)
    (root / "matrix.yaml").write_text(MATRIX)
    (root / "noxfile.py").write_text('from harness.sessions import register\nregister("matrix.yaml")\n')
    made = Project(root)
    made.cases("sync/pass", "async/pass")
    made.git("init", "-q")
    (root / ".gitignore").write_text("reports\n.harness\n__pycache__\nkernels/fake/hanging\n")
    made.git("add", ".")
    made.git("commit", "-qm", "one")
    return made
