"""Asking compilers and tools who they are and what they can do, and saying in their words why they can't.

Advice to install something is given only for what is not there; a compiler
that is there and fails has said why, and that is the reason.
"""

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
    from collections.abc import Callable, Iterator, Mapping, Sequence

NEWEST_CLANG = 40
"""Versioned names of clang are looked for from here downwards."""

_ASK_TIMEOUT_S = 60.0

NOT_THERE = "is not there"


@dataclass(slots=True)
class Rejected:
    """Compilers that were found and cannot be used, with the reason of each: for the final message."""

    reasons: list[str] = field(default_factory=list)
    lacking: bool = False

    def add(self, compiler: Path | str, reason: str, *, lacking: bool = False) -> None:
        """Note one; `lacking` says that something could be installed that it lacks."""
        self.reasons.append(f"{compiler}: {reason}")
        self.lacking = self.lacking or lacking or lacks_a_part(reason)

    def text(self, nothing: str) -> str:
        """All of them in one sentence, or `nothing` if none was found at all."""
        return f"{nothing}; passed over: {'; '.join(self.reasons)}" if self.reasons else nothing

    def advice(self, install: str) -> str:
        """What to install, if nothing was found or something lacked a part; else nothing."""
        return install if self.lacking or not self.reasons else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered: its exit status, all that it said, and, unless it succeeded, why not."""

    status: int
    said: str
    why_not: str = ""


def ask(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Answer:
    """Run a tool with a question.

    A tool that cannot be started or does not answer within a minute has status
    127.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
            output = Path(scratch, "output")
            try:
                ended = process.run(
                    command, output=output, environment=environment or os.environ, timeout_s=_ASK_TIMEOUT_S
                )
            except OSError as error:
                return Answer(127, "", _not_started(command[0], error.strerror or str(error)))
            said = output.read_text(errors="backslashreplace").strip()
    except OSError as error:
        return Answer(127, "", f"no temporary folder can be used: {error.strerror or error}")
    if ended.timed_out:
        return Answer(127, said, f"did not answer within {_ASK_TIMEOUT_S:.0f} s")
    if ended.status in (126, 127) and said.startswith("setpriv: failed to execute"):
        return Answer(127, "", _not_started(command[0], said.rpartition(": ")[2]))
    return Answer(ended.status, said, failure(ended.text, said) if ended.status != 0 else "")


def _not_started(program: str, reason: str) -> str:
    if reason == os.strerror(2):
        return "needs an interpreter that is not there" if Path(program).exists() else NOT_THERE
    return "is not executable" if reason == os.strerror(13) else reason


def failure(how: str, said: str) -> str:
    """How a tool ended and the most telling line of what it said."""
    text = first_error(said) or _last_line(said)
    if not text:
        return f"{how} and said nothing"
    folder = os.environ.get("TMPDIR")
    about_files = re.search(r"temporary|no space left|read-only file system", text, re.IGNORECASE)
    where = f" (TMPDIR is {folder})" if folder and about_files else ""
    return f"{how}: {text}{where}"


def lacks_a_part(reason: str) -> bool:
    """Whether a compiler's words mean that a header or library that can be installed is not there."""
    return (
        re.search(
            r"cannot find -l|cannot find \S*clang_rt|file not found|unable to find library|"
            r"no such file or directory: '\S*clang_rt|cannot open \S*clang_rt|error: \S+\.h\S*: No such file",
            reason,
        )
        is not None
    )


def version_of(compiler: Path) -> tuple[str, str]:
    """The version that a compiler gives of itself, "" if it gives none, and then why."""
    answer = ask([str(compiler), "--version"])
    if answer.why_not:
        return "", answer.why_not
    found = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", answer.said)
    if found is None:
        return "", unlike(answer, "a compiler")
    return found.group(1), ""


def unlike(answer: Answer, tool: str) -> str:
    """What is wrong with the answer of something that succeeded and is no such tool."""
    said = f"it said {_last_line(answer.said)[:100]!r}" if answer.said else "it said nothing"
    return f"does not answer like {tool}: {said}"


def on_path(names: Sequence[str], rejected: Rejected | None = None) -> Iterator[Path]:
    """Those of the names that are programs on PATH, in the order given.

    A file that is there and cannot be executed is `rejected`.
    """
    for name in names:
        found = shutil.which(name)
        if found is not None:
            yield Path(found)
        elif rejected is not None:
            folders = [""] if os.sep in name else os.environ.get("PATH", os.defpath).split(os.pathsep)
            there = next((Path(f, name) for f in folders if Path(f, name).is_file()), None)
            if there is not None:
                rejected.add(there, "is not executable")


def clangs(oldest: int, rejected: Rejected | None = None) -> Iterator[Path]:
    """Every clang++ on PATH from the newest to version `oldest`, then the one without a number."""
    yield from on_path([f"clang++-{number}" for number in range(NEWEST_CLANG, oldest - 1, -1)], rejected)
    for plain in on_path(["clang++"], rejected):
        version, why_not = version_of(plain)
        if major(version) >= oldest:
            yield plain
        elif rejected is not None:
            rejected.add(plain, why_not or f"is version {version}, older than {oldest}", lacking=not why_not)


def major(version: str) -> int:
    """First number of a version; 0 if there is none."""
    head = version.partition(".")[0]
    return int(head) if head.isdigit() else 0


def compiles(compiler: Path, source: str, flags: Sequence[str]) -> str:
    """Compile and link a program to see whether it works; "" if it does, else why not."""
    return tries(source, lambda path, made: [[str(compiler), *flags, str(path), "-o", str(made)]])


def tries(source: str, commands: Callable[[Path, Path], Sequence[Sequence[str]]]) -> str:
    """Run commands that make a program from a source until one fails; "" if none does, else why."""
    try:
        with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
            path = Path(scratch, "probe.cpp")
            path.write_text(source)
            for command in commands(path, Path(scratch, "probe")):
                answer = ask(command)
                if answer.why_not:
                    return answer.why_not
    except OSError as error:
        return f"no temporary folder can be used: {error.strerror or error}: {error.filename or ''}".rstrip(
            ": "
        )
    return ""


_ERROR = re.compile(
    r"error:|fatal:|fatal error|CMake Error|undefined reference|undefined symbol|cannot find|\bfatal\s*:|"
    r"ld: |collect2|No space left|not found|unsupported|unrecogni[sz]ed|Cannot create temporary file|"
    r"Read-only file system|failed to execute",
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


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


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
