"""Programs are run so that none is left, whatever happens, and their end is seen when it comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.system.process import Program, run, run_all, wait_for_end

if TYPE_CHECKING:
    import pytest

SCRIPT = """
import os, pathlib, sys, time
mine, other = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
mine.touch()
for _ in range(int(sys.argv[3])):
    if other.exists():
        sys.exit(7)
    time.sleep(0.01)
mine.unlink()
"""


def _meeting(tmp_path: Path, rounds: int) -> list[Program]:
    """Two programs that exit with 7 if they see each other."""
    a, b = tmp_path / "a", tmp_path / "b"
    words = [sys.executable, "-c", SCRIPT]
    return [
        Program([*words, str(a), str(b), str(rounds)], tmp_path / "a.out"),
        Program([*words, str(b), str(a), str(rounds)], tmp_path / "b.out"),
    ]


def test_programs_run_together_and_answer_in_order(tmp_path: Path) -> None:
    programs = [
        *_meeting(tmp_path, 3000),
        Program([sys.executable, "-c", "import sys; sys.exit(3)"], tmp_path / "c.out"),
    ]
    ended = run_all(programs, environment=os.environ, timeout_s=60, at_once=2)
    assert [end.status for end in ended] == [7, 7, 3]


def test_one_at_a_time_is_one_at_a_time(tmp_path: Path) -> None:
    ended = run_all(_meeting(tmp_path, 3), environment=os.environ, timeout_s=60, at_once=1)
    assert [end.status for end in ended] == [0, 0]


def test_a_program_that_does_not_end_is_ended_and_the_others_are_not(tmp_path: Path) -> None:
    hang = Program([sys.executable, "-c", "import time; time.sleep(1000)"], tmp_path / "hang.out")
    good = Program([sys.executable, "-c", "print('here')"], tmp_path / "good.out")
    first, second = run_all([hang, good], environment=os.environ, timeout_s=3, at_once=2)
    assert first.timed_out
    assert first.text == "did not end within 3 s and was killed"
    assert (second.timed_out, second.status) == (False, 0)
    assert (tmp_path / "good.out").read_text() == "here\n"


def test_whoever_stops_asking_leaves_no_program(tmp_path: Path) -> None:
    write = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))"
    write += "; time.sleep(1000)"
    good = Program([sys.executable, "-c", "pass"], tmp_path / "good.out")
    pid = tmp_path / "pid"
    hang = Program([sys.executable, "-c", write, str(pid)], tmp_path / "hang.out")
    asked = run_all([good, hang], environment=os.environ, timeout_s=600, at_once=2)
    assert next(asked).status == 0
    while not (pid.exists() and pid.read_text()):
        pass
    asked.close()  # as an interrupt does on its way up
    assert not Path(f"/proc/{pid.read_text()}").exists()


def test_without_the_kernel_s_help_an_end_is_seen_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    python, out = [sys.executable, "-c"], tmp_path / "out"
    end = run([*python, "raise SystemExit(5)"], output=out, environment=os.environ, timeout_s=60)
    assert (end.status, end.timed_out) == (5, False)
    hung = run([*python, "import time; time.sleep(99)"], output=out, environment=os.environ, timeout_s=0.2)
    assert hung.timed_out


def test_a_process_that_was_waited_for_has_ended(tmp_path: Path) -> None:
    process: subprocess.Popen[bytes] = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    assert wait_for_end(process, 0.1)


def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    try:
        end = run([str(tmp_path / "absent")], output=tmp_path / "out", environment=os.environ, timeout_s=60)
    except FileNotFoundError:
        return
    assert end.status == 127
    assert "absent" in (tmp_path / "out").read_text()
