"""What this machine is: its architecture, its processors, and whether it works for a CI service."""

from __future__ import annotations

import os
import platform
import sys

_NAMES = {"amd64": "x86-64", "x86_64": "x86-64", "arm64": "aarch64"}


def architecture() -> str:
    """This machine's architecture in the words of the matrix: x86-64, aarch64."""
    name = platform.machine()
    return _NAMES.get(name.lower(), name)


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def in_ci() -> bool:
    """The environment variable CI is set to something that does not mean no."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false", "no")
