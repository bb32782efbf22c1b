"""One sanitized CPU driver for all tests of the kernels, and drivers with one planted defect."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from types import ModuleType

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
SUITE = KERNELS / "ds4_rollback"
FLAGS = "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"


@dataclass(frozen=True)
class Ran:
    """What one call of a driver did."""

    status: int
    out: str
    err: str
    records: tuple[dict[str, Any], ...]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == kind]


@dataclass(frozen=True)
class Driver:
    """An executable as docs/driver.md describes it."""

    path: Path

    def call(self, *options: str, **environment: str) -> Ran:
        done = subprocess.run(
            [self.path, *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=1", **environment},
        )
        return Ran(done.returncode, done.stdout, done.stderr, ())

    def run(self, case: str, records: Path, *options: str, **environment: str) -> Ran:
        records.unlink(missing_ok=True)
        ran = self.call("--run", case, "--json", str(records), *options, **environment)
        lines = records.read_text().splitlines() if records.exists() else []
        return Ran(ran.status, ran.out, ran.err, tuple(json.loads(line) for line in lines))

    def list(self, *options: str) -> dict[str, Any]:
        ran = self.call("--list", *options)
        assert ran.status == 0, ran.err
        listing: dict[str, Any] = json.loads(ran.out)
        return listing


def tool(name: str) -> str:
    """A program of this environment or of the machine."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    assert found, f"{name} is needed to test the kernels"
    return found


def compiler() -> str:
    names = [os.environ.get("CXX", ""), "g++", "clang++", "c++"]
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    assert found, "a C++ compiler is needed to test the kernels: g++ or clang++"
    return found


def checked(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Tools:
    """What builds things, and from where."""

    kernels: Path
    suite: Path
    compiler: str
    cmake: str
    ninja: str
    flags: tuple[str, ...]

    def checked(self, *command: str | Path) -> str:
        """Run a command that must succeed; its output."""
        return checked(*command)


@pytest.fixture(scope="session")
def tools() -> Tools:
    return Tools(KERNELS, SUITE, compiler(), tool("cmake"), tool("ninja"), tuple(FLAGS.split()))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this run of pytest share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "kernels"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def build(shared: Path) -> Path:
    """The build tree of the suite, built once with warnings shown."""
    tree = shared / "build tree"
    log = shared / "build.log"
    with FileLock(shared / "lock"):
        if not log.exists():
            checked(
                tool("cmake"), "-G", "Ninja", "-S", SUITE, "-B", tree,
                f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_CXX_COMPILER={compiler()}",
                f"-DCMAKE_CXX_FLAGS={FLAGS}", "-DHARNESS_BACKEND=cpu", "-DHARNESS_ARCH=x86-64",
            )  # fmt: skip
            said = checked(tool("ninja"), "-C", tree)
            log.write_text(said)
    return tree


@pytest.fixture(scope="session")
def driver(build: Path) -> Driver:
    return Driver(build / "ds4_rollback")


@dataclass(frozen=True)
class Defects:
    """Makes drivers with one changed line, from the objects of the good one."""

    build: Path
    folder: Path

    def plant(self, source: str, old: str, new: str) -> Driver:
        text = (SUITE / source).read_text()
        assert text.count(old) == 1, f"{old!r} must be in {source} once, to be replaced"
        changed = self.folder / Path(source).name
        changed.write_text(text.replace(old, new))
        commands = json.loads((self.build / "compile_commands.json").read_text())
        command = next(c for c in commands if Path(c["file"]) == SUITE / source)
        words = [word.replace(str(SUITE / source), str(changed)) for word in shlex.split(command["command"])]
        instead = self.folder / "changed.o"
        words[words.index("-o") + 1] = str(instead)
        checked(*words)
        objects = [
            instead if Path(c["file"]) == SUITE / source else self.build / c["output"] for c in commands
        ]
        program = self.folder / "defective"
        checked(compiler(), *FLAGS.split(), *objects, "-o", program)
        return Driver(program)


@pytest.fixture
def defects(build: Path, tmp_path: Path) -> Defects:
    return Defects(build, tmp_path)


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    """The suite's oracle, imported as the harness does."""
    name = "tested_oracle_of_ds4_rollback"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, SUITE / "oracle.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
