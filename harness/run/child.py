"""Running the program that does a lane's work: watched, interruptible, and leaving no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.evidence.folders import RUN_LOG
from harness.system.process import end_group, tied_to_parent, wait_for_end
from harness.system.reaper import reaping

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.suites.protocol import Command

_LOOK_EVERY_S = 0.1
_INTERRUPT_GRACE_S = 10.0


@dataclass(frozen=True, slots=True)
class ChildEnded:
    """How the program ended: its exit status, negative where a signal ended it, and whether we stopped it."""

    exit_status: int
    interrupted: bool


def run_watched(command: Command, folder: Path, watch: Callable[[], None]) -> ChildEnded:
    """Run a program in a lane's folder, with its output in `run.log` there; `watch` is called meanwhile.

    An interrupt (KeyboardInterrupt) is passed on to the program, which writes
    what it has; the answer then says `interrupted`.  Raises OSError if it
    cannot be started.
    """
    interrupted = False
    with (folder / RUN_LOG).open("wb") as log, reaping():
        process = subprocess.Popen(
            [*tied_to_parent(), *command.words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(command.environment),
            cwd=folder,
            start_new_session=True,
        )
        try:
            while not wait_for_end(process, _LOOK_EVERY_S):
                watch()
        except KeyboardInterrupt:
            interrupted = True
            _interrupt(process)
        finally:
            end_group(process)
    watch()
    return ChildEnded(process.returncode, interrupted)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Let the program end by itself, as after Ctrl-C, so that its report has all rows that finished.

    The whole group is told: pytest's workers then end their drivers at once,
    and the controller need not wait for them.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    with contextlib.suppress(KeyboardInterrupt):
        wait_for_end(process, _INTERRUPT_GRACE_S)
