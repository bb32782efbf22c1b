"""Ending every process that a run has started, also those whose parents have died.

A test can start a process that outlives it, in a session of its own where no
signal to a process group reaches it.  While `reaping` is active the kernel
makes such orphans children of this process (PR_SET_CHILD_SUBREAPER, prctl(2)),
and at the end of the block they are killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PR_SET_CHILD_SUBREAPER = 36


@contextlib.contextmanager
def reaping() -> Iterator[None]:
    """Adopt orphans while the block runs and kill at its end every child that was not there before.

    Does nothing on systems other than Linux.
    """
    if sys.platform != "linux":
        yield
        return
    before = _children()
    _become_subreaper()
    try:
        yield
    finally:
        # Killing a parent turns its children into ours: repeat until none is left.
        while orphans := _children() - before:
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)


def _become_subreaper() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _children() -> set[int]:
    """Direct children of all threads of this process, zombies included."""
    found: set[int] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(int(pid) for pid in path.read_text().split())
    return found
