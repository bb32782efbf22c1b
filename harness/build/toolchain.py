"""Asking compilers who they are and whether they can do what a target needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.system import process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NEWEST_CLANG = 40
"""Versioned names of clang are looked for from here downwards."""

_ASK_TIMEOUT_S = 60.0


@dataclass(slots=True)
class Rejected:
    """Compilers that were found and cannot be used, with the reason of each: for the final message."""

    reasons: list[str] = field(default_factory=list)

    def add(self, compiler: Path | str, reason: str) -> None:
        """Note one."""
        self.reasons.append(f"{compiler}: {reason}")

    def text(self, nothing: str) -> str:
        """All of them in one sentence, or `nothing` if none was found at all."""
        return f"{nothing}; passed over: {'; '.join(self.reasons)}" if self.reasons else nothing


def ask(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run a compiler with a question; exit status and all that it said.

    A compiler that cannot be started or does not answer within a minute gets
    status 127 and the reason as its answer.
    """
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        output = Path(scratch, "output")
        try:
            ended = process.run(
                command, output=output, environment=environment or os.environ, timeout_s=_ASK_TIMEOUT_S
            )
        except OSError as error:
            return 127, str(error.strerror)
        said = output.read_text(errors="backslashreplace").strip()
    if ended.timed_out or ended.status < 0:
        return 127, ended.text
    return ended.status, said


def version_of(compiler: Path) -> str:
    """The version that a compiler gives of itself, "" if it does not answer like a compiler."""
    status, said = ask([str(compiler), "--version"])
    found = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", said)
    return found.group(1) if status == 0 and found else ""


def on_path(names: Sequence[str]) -> Iterator[Path]:
    """Those of the names that are programs on PATH, in the order given."""
    for name in names:
        found = shutil.which(name)
        if found is not None:
            yield Path(found)


def clangs(oldest: int) -> Iterator[Path]:
    """Every clang++ on PATH from the newest to version `oldest`, then the one without a number."""
    yield from on_path([f"clang++-{number}" for number in range(NEWEST_CLANG, oldest - 1, -1)])
    for plain in on_path(["clang++"]):
        if major(version_of(plain)) >= oldest:
            yield plain


def major(version: str) -> int:
    """First number of a version; 0 if there is none."""
    head = version.partition(".")[0]
    return int(head) if head.isdigit() else 0


def compiles(
    compiler: Path, source: str, flags: Sequence[str], *, suffix: str = ".cpp", link: bool = True
) -> str:
    """Compile and link a program to see whether it works; "" if it does, else the first error."""
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        path = Path(scratch, f"probe{suffix}")
        path.write_text(source)
        end = ["-o", str(Path(scratch, "probe"))] if link else ["-c", "-o", str(Path(scratch, "probe.o"))]
        status, said = ask([str(compiler), *flags, str(path), *end])
    return "" if status == 0 else first_error(said) or f"exited with {status}"


_ERROR = re.compile(
    r"error:|fatal:|fatal error|CMake Error|undefined reference|undefined symbol|cannot find|\bfatal\s*:|"
    r"ld: |collect2|No space left|not found|unsupported|unrecogni[sz]ed",
    re.IGNORECASE,
)


def first_error(text: str) -> str:
    """The first line of the output of a compiler, linker or CMake that is an error; "" if none is."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _ERROR.search(line) and not line.startswith(("FAILED:", "ninja:")) and "in function" not in line:
            if line.startswith("CMake Error"):
                rest = [later.strip() for later in lines[number + 1 : number + 6] if later.strip()]
                return " ".join([line.strip(), *rest[:2]])
            return line.strip()
    return next((line.strip() for line in lines if line.startswith("ninja: error")), "")


def run_pip(arguments: Sequence[str], log: Path) -> int:
    """Run pip of this Python with its output in a log; its exit status."""
    with log.open("ab") as file:
        return subprocess.run(
            [sys.executable, "-m", "pip", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            check=False,
        ).returncode
