"""Driving CMake and Ninja: configure when something changed, build, and say what went wrong first."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.build.probe import ask, failure, first_error, unlike
from harness.errors import BuildFailedError, NotBuiltError
from harness.system.files import write_atomically
from harness.system.process import end_group, tied_to_parent
from harness.system.reaper import reaping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OLDEST_CMAKE = (3, 24)
_OLDEST_NINJA = (1, 10)
_KEY = "harness-key"


@dataclass(frozen=True, slots=True)
class Tools:
    """The two programs that build."""

    cmake: Path
    ninja: Path


def find_tools() -> Tools:
    """The machine's CMake and Ninja where they are good enough, else those of the PyPI packages.

    Raises NotBuiltError, with what is wrong with the machine's, if there is no package either.
    """
    return Tools(
        cmake=_find("cmake", "CMAKE_BIN_DIR", _OLDEST_CMAKE), ninja=_find("ninja", "BIN_DIR", _OLDEST_NINJA)
    )


def _find(name: str, folder: str, oldest: tuple[int, int]) -> Path:
    """A tool on PATH that is new enough, else that of the PyPI package which is called like it."""
    found = shutil.which(name)
    why_not = "is not on PATH"
    if found is not None:
        answer = ask([found, "--version"])
        version = re.search(r"\b(\d+)\.(\d+)", answer.said)
        if answer.why_not or version is None:
            why_not = f"{found} {answer.why_not or unlike(answer, name)}"
        elif (int(version.group(1)), int(version.group(2))) >= oldest:
            return Path(found)
        else:
            why_not = f"{found} is older than {'.'.join(map(str, oldest))}"
    try:
        return Path(getattr(importlib.import_module(name), folder), name)
    except (ImportError, AttributeError):
        install = f"python -m pip install '{name}>={'.'.join(map(str, oldest))}'"
        raise NotBuiltError(f"no {name}: {why_not}, and Python has no package {name}", install) from None


@dataclass(frozen=True, slots=True)
class Tree:
    """A build tree of one lane."""

    source: Path
    folder: Path
    log: Path
    tools: Tools

    def configure(self, entries: Mapping[str, str], identity: Sequence[str] = ()) -> bool:
        """Configure if entries, compilers, tools or source folder differ from the last time; True if so.

        `identity` tells the compilers' files apart.

        Everything is built anew then: another compiler or flag concerns every
        object.  Raises BuildFailedError.
        """
        wanted = json.dumps(
            [str(self.source), str(self.tools.cmake), dict(entries), *identity], sort_keys=True
        )
        key = hashlib.sha256(wanted.encode()).hexdigest()
        marker = self.folder / _KEY
        whole = all((self.folder / name).exists() for name in ("build.ninja", "CMakeCache.txt"))
        if whole and marker.exists() and marker.read_text() == key:
            return False
        self.discard()
        command = [str(self.tools.cmake), "-G", "Ninja", "-S", str(self.source), "-B", str(self.folder)]
        settings = {
            "CMAKE_MAKE_PROGRAM": str(self.tools.ninja),
            "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
            **entries,
        }
        command += [f"-D{name}={value}" for name, value in settings.items()]
        self._run(command)
        write_atomically(marker, key)
        return True

    def discard(self) -> None:
        """Throw the tree away, so that the next `configure` begins anew."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def build(self) -> bool:
        """Build what changed; True if anything was.  Raises BuildFailedError."""
        output = self._run([str(self.tools.ninja), "-C", str(self.folder)])
        return "ninja: no work to do." not in output

    def commands(self) -> list[dict[str, str]]:
        """The compile commands as CMake wrote them."""
        found: list[dict[str, str]] = json.loads((self.folder / "compile_commands.json").read_bytes())
        return found

    def objects(self) -> list[Path]:
        """The object files that the compile commands make (`output` is missing before CMake 4)."""
        found = []
        for entry in self.commands():
            words = shlex.split(entry["command"])
            output = entry.get("output") or (words[words.index("-o") + 1] if "-o" in words else "")
            if output:
                found.append(Path(entry["directory"], output))
        return found

    def dependencies(self) -> set[Path]:
        """Every file that the last build read, as Ninja knows it, and the CMake files."""
        listed = self._ask("deps").splitlines()
        found = {self.folder / line.strip() for line in listed if line.startswith("    ")}
        found |= {Path(entry["directory"], entry["file"]) for entry in self.commands()}
        names = (line.strip().removeprefix("| ") for line in self._ask("query", "build.ninja").splitlines())
        found |= {self.folder / name for name in names if name.endswith((".cmake", "CMakeLists.txt"))}
        return {Path(os.path.normpath(path)) for path in found}

    def _ask(self, *question: str) -> str:
        command = [str(self.tools.ninja), "-C", str(self.folder), "-t", *question]
        return subprocess.run(
            command, capture_output=True, text=True, errors="surrogateescape", check=False
        ).stdout

    def _run(self, command: Sequence[str]) -> str:
        """Run a step with its output appended to the log; its output if it succeeded."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            start = log.tell()
            # Ninja gives each compiler a process group of its own, which only the reaper reaches.
            with reaping():
                try:
                    process = subprocess.Popen(
                        [*tied_to_parent(), *command],
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                        env=_environment(),
                    )
                except OSError as error:
                    why = f"{command[0]} cannot be started: {error.strerror}"
                    raise BuildFailedError(why, " ".join(command), str(self.log)) from error
                try:
                    status = process.wait()
                except BaseException:
                    end_group(process, grace_s=0.2)
                    raise
        with self.log.open("rb") as log:
            log.seek(start)
            output = log.read().decode(errors="backslashreplace")
        if status != 0:
            how = f"{Path(command[0]).name} exited with {status}"
            reason = first_error(output) or failure(how, output)
            raise BuildFailedError(reason, _failing_command(output) or " ".join(command), str(self.log))
        return output


_NOT_INHERITED = frozenset(
    [
        *("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CUDAFLAGS", "HIPFLAGS"),
        *("CC", "CXX", "CUDACXX", "CUDAHOSTCXX", "CUDAARCHS", "HIPCXX"),
        *("NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"),
        *("HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND"),
        *("CMAKE_BUILD_TYPE", "CMAKE_GENERATOR", "CMAKE_TOOLCHAIN_FILE", "NINJAFLAGS", "NINJA_STATUS"),
        *("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "LD_PRELOAD"),
    ]
)
"""Variables that would change what is built without a trace in the cache entries or the key."""


def _environment() -> dict[str, str]:
    """Our environment without what changes a build behind its back, in a language that can be parsed."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    return {**kept, "LC_ALL": "C.UTF-8", "NINJA_STATUS": "[%f/%t] "}


def _failing_command(output: str) -> str:
    """The command that Ninja prints below `FAILED:`."""
    lines = output.splitlines()
    for number, line in enumerate(lines[:-1]):
        if line.startswith("FAILED:"):
            return lines[number + 1].strip()
    return ""
