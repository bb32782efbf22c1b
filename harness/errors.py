"""Errors that a person can act on, each with the exit status that it leads to.

0 qualified, 1 not qualified, 2 usage or configuration, 3 incomplete
(docs/verdicts.md).  Whatever derives from `HarnessError` is shown as its
message alone; any other exception is a defect of this program.
"""

from __future__ import annotations


class HarnessError(Exception):
    """Something that the message explains completely; no traceback is shown."""

    exit_status = 2


class ConfigurationError(HarnessError):
    """A file or an argument of the user is wrong."""


class NotBuiltError(HarnessError):
    """There is no toolchain for a lane; `hint` is the one command that would install it."""

    exit_status = 3

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(f"{reason}; to install it: {hint}" if hint else reason)
        self.reason = reason
        self.hint = hint


class BuildFailedError(HarnessError):
    """A toolchain was there and refused the source, or made something else than was asked for."""

    exit_status = 1

    def __init__(self, first_error: str, command: str, log: str) -> None:
        super().__init__(f"{first_error}\n  command: {command}\n  log: {log}")
        self.first_error = first_error
        self.command = command
        self.log = log
