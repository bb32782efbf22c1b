"""Running one program so that neither a hang, a crash nor an interrupt leaves a process behind."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_GRACE_S = 2.0
"""Time between asking a process group to end and killing it."""

_INTERRUPT_GRACE_S = 0.2


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: `status` is its exit status, negative for a signal."""

    status: int
    timed_out: bool
    seconds: float

    @property
    def text(self) -> str:
        """For people: `exited with 3`, `was ended by SIGSEGV`, `did not end within 5 s`."""
        if self.timed_out:
            return f"did not end within {self.seconds:.0f} s and was killed"
        if self.status < 0:
            try:
                return f"was ended by {signal.Signals(-self.status).name}"
            except ValueError:
                return f"was ended by signal {-self.status}"
        return f"exited with {self.status}"


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run: its command line, and the file for standard output.

    Standard error goes to `errors`, by default to the same file as standard output.
    """

    command: Sequence[str]
    output: Path
    errors: Path | None = None


def run(
    command: Sequence[str],
    *,
    output: Path,
    errors: Path | None = None,
    environment: Mapping[str, str],
    timeout_s: float,
) -> Ended:
    """Run one program; as `run_all` with one."""
    program = Program(command, output, errors)
    return next(run_all([program], environment=environment, timeout_s=timeout_s))


def run_all(
    programs: Iterable[Program], *, environment: Mapping[str, str], timeout_s: float, at_once: int = 1
) -> Generator[Ended]:
    """Run programs, at most `at_once` at a time, and yield how each ended, in their order.

    Each has a process group of its own and no standard input.  After
    `timeout_s` seconds, and when this process is interrupted, a whole group is
    ended.  If this process is killed, the kernel kills the programs too.

    Raises OSError if a program cannot be started or a file not be opened.
    """
    running: deque[tuple[subprocess.Popen[bytes], float]] = deque()
    try:
        for program in programs:
            if len(running) == at_once:
                yield _finish_first(running, timeout_s)
            running.append((_start(program, environment), time.monotonic()))
        while running:
            yield _finish_first(running, timeout_s)
    finally:
        # An interrupted person waits; the programs' answers are not wanted any more.
        for process, _ in running:
            end_group(process, grace_s=_INTERRUPT_GRACE_S)


def _start(program: Program, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with contextlib.ExitStack() as files:
        out = files.enter_context(program.output.open("wb"))
        err = files.enter_context(program.errors.open("wb")) if program.errors is not None else out
        return subprocess.Popen(
            [*tied_to_parent(), *program.command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=dict(environment),
            start_new_session=True,
        )


def _finish_first(running: deque[tuple[subprocess.Popen[bytes], float]], timeout_s: float) -> Ended:
    process, start = running[0]
    timed_out = not wait_for_end(process, max(0.0, start + timeout_s - time.monotonic()))
    seconds = time.monotonic() - start
    if timed_out:
        end_group(process)
    # What it has started and left behind ends with it.
    _kill_group(process.pid)
    running.popleft()
    return Ended(status=process.returncode, timed_out=timed_out, seconds=seconds)


def wait_for_end(process: subprocess.Popen[bytes], timeout_s: float) -> bool:
    """Wait until a process has ended; False if it has not within `timeout_s` seconds.

    `Popen.wait` with a timeout looks again after pauses of up to 50 ms, which
    is more than many cases take; the kernel tells at once (pidfd_open(2)).
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # another system, an old kernel, or it has been waited for
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout_s)
        return process.returncode is not None
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        ended = bool(poll.poll(timeout_s * 1000))
    finally:
        os.close(descriptor)
    if ended:
        process.wait()
    return ended


def end_group(process: subprocess.Popen[bytes], *, grace_s: float = _GRACE_S) -> None:
    """Ask a process group to end, and kill what is left after `grace_s` seconds."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    wait_for_end(process, grace_s)
    _kill_group(process.pid)
    process.wait()


def _kill_group(group: int) -> None:
    """Kill what a process has left in its group; the leader may be gone already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


@cache
def tied_to_parent() -> tuple[str, ...]:
    """Command prefix that has the kernel kill the program when its parent dies; empty where there is none."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv is not None else ()


@contextlib.contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C while lanes run: stop, keep what was measured, report."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    previous = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        with contextlib.suppress(ValueError):  # not in the main thread
            previous[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def tail(path: Path, limit: int = 8192) -> str:
    """Last `limit` bytes of a file as text, with a mark where something was left out; "" if there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - limit))
            text = file.read().decode(errors="backslashreplace")
    except OSError:
        return ""
    return text if size <= limit else f"[{size - limit} bytes cut]…{text}"
