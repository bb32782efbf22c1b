"""Writing files so that a crash at any moment leaves either the old or the new one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from harness.errors import HarnessError


class OutputError(HarnessError):
    """A result could not be written."""

    exit_status = 3


def write_atomically(path: Path, data: str | bytes) -> None:
    """Replace `path` by `data` (text as UTF-8) in one step that survives a crash.

    Raises OutputError if the folder cannot be made or the disk is full; the
    old file is then still there.
    """
    payload = data.encode() if isinstance(data, str) else data
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes as 64 hexadecimal digits; raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
