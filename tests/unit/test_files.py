"""A result file is always the old one or the new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.system.files import OutputError, write_atomically


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "file"
    write_atomically(path, "one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert [p.name for p in path.parent.iterdir()] == ["file"]


def test_what_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match=r"cannot write .*evidence"):
        write_atomically(tmp_path / "file" / "evidence", "x")


def test_a_full_disk_leaves_the_old_file() -> None:
    """Python's own writes go to /dev/shm or the like; a limit on the size of files stands for a full disk."""
    script = """
import pathlib, resource, sys, tempfile
from harness.system.files import OutputError, write_atomically
path = pathlib.Path(tempfile.mkdtemp()) / "file"
write_atomically(path, "old")
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    write_atomically(path, "x" * 1000)
except OutputError as error:
    print(error)
print(path.read_text(), [p.name for p in path.parent.iterdir()])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("cannot write ")
    assert second == "old ['file']"


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    script = """
import pathlib, sys
from harness.system.files import write_atomically
path = pathlib.Path(sys.argv[1])
number = 0
while True:
    number += 1
    write_atomically(path, str(number % 10) * 100_000)
    print(number, flush=True)
"""
    path = tmp_path / "file"
    for rounds in range(1, 6):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, cwd=Path.cwd()
        ) as process:
            assert process.stdout is not None
            for _ in range(rounds):
                process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
        text = path.read_text()
        assert len(text) == 100_000
        assert len(set(text)) == 1
