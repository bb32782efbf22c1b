"""One build at a time in a build tree, with word of who is building."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from harness.system.files import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def holding(tree: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a build tree; a wait is announced with the process that holds it.

    The lock is the operating system's and ends with its holder, however that
    dies.  Raises OutputError if the folder cannot be written.
    """
    path = tree.with_name(f"{tree.name}.lock")
    holder = tree.with_name(f"{tree.name}.holder.json")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"waiting for {_who(holder)}, which is building in {tree}")
            lock.acquire()
    except OSError as error:
        raise OutputError(f"cannot lock {path}: {error.strerror or error}") from error
    try:
        _sign(holder)
        yield
    finally:
        lock.release()


def _sign(holder: Path) -> None:
    now = dt.datetime.now().astimezone().strftime("%H:%M:%S")
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200]
    with contextlib.suppress(OSError):
        holder.write_text(json.dumps({"pid": os.getpid(), "command": command, "since": now}))


def _who(holder: Path) -> str:
    try:
        found = json.loads(holder.read_text())
        return f"pid {found['pid']} ({found['command']}, since {found['since']})"
    except (OSError, ValueError, KeyError):
        return "another process"
