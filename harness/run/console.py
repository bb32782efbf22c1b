"""What a person sees while lanes run: lines that stay, and one that renews itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from harness.suites.protocol import Progress


class Console:
    """Progress for people: one line that renews itself on a terminal, plain lines now and then elsewhere."""

    _EVERY_S = 15.0
    _MOST_FAILURES = 5

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._shown = ""
        self._last = time.monotonic()
        self._failures = 0

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self.end()
        self._write(f"{text}\n")

    def progress(self, lane: str, progress: Progress, seconds: float) -> None:
        """Show how far a lane is, and its first failures as lines that stay."""
        if progress.last_failure:
            self._failures += 1
            if self._failures <= self._MOST_FAILURES:
                self.say(f"{lane}: FAILED {progress.last_failure}")
            elif self._failures == self._MOST_FAILURES + 1:
                self.say(f"{lane}: further failures are in the report")
        failed = f", {progress.failed} failed" if progress.failed else ""
        text = f"{lane}: {progress.done}/{progress.total} cases{failed}, {seconds:.0f} s"
        if self._live:
            if text != self._shown:
                self._write(f"\r\x1b[K{text}")
                self._shown = text
        elif time.monotonic() - self._last > self._EVERY_S:
            self._last = time.monotonic()
            self._write(f"{text}\n")

    def end(self) -> None:
        """Clear the line that renews itself."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
