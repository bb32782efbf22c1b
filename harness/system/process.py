"""Running one program so that neither a hang, a crash nor an interrupt leaves a process behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
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


def run(
    command: Sequence[str],
    *,
    output: Path,
    errors: Path | None = None,
    environment: Mapping[str, str],
    timeout_s: float,
) -> Ended:
    """Run `command` in a process group of its own with no standard input.

    Standard output goes to the file `output`, standard error to `errors` (by
    default to the same file).  After `timeout_s` seconds, and when this
    process is interrupted, the whole group is ended.  If this process is
    killed, the kernel kills the program too.

    Raises OSError if the program cannot be started or a file not be opened.
    """
    start = time.monotonic()
    with contextlib.ExitStack() as files:
        out = files.enter_context(output.open("wb"))
        err = files.enter_context(errors.open("wb")) if errors is not None else out
        process = subprocess.Popen(
            [*tied_to_parent(), *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=dict(environment),
            start_new_session=True,
        )
        timed_out = False
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            end_group(process)
        except BaseException:
            # An interrupted person waits; the program's answer is not wanted any more.
            end_group(process, grace_s=_INTERRUPT_GRACE_S)
            raise
        finally:
            _kill_group(process.pid)
    return Ended(status=process.returncode, timed_out=timed_out, seconds=time.monotonic() - start)


def end_group(process: subprocess.Popen[bytes], *, grace_s: float = _GRACE_S) -> None:
    """Ask a process group to end, and kill what is left after `grace_s` seconds."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(grace_s)
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
