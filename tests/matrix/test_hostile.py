"""Files that are made to hurt: each gets one message, soon, and without much memory.

Every file is read by a process of its own whose address space and processor
time the kernel limits, so that exceeding a bound is a failure and not a matter
of this machine's speed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from harness.matrix.yaml_reader import MOST_BYTES
from tests.matrix.conftest import VALID, changed

if TYPE_CHECKING:
    from pathlib import Path

MOST_MEMORY = 600 << 20
# Seconds of processor time: several times what the slowest takes on a slow machine.
MOST_SECONDS = 20


READ = """
import sys
from harness.cli import main
sys.exit(main(['validate', sys.argv[1]]))
"""


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def _refusal(path: Path) -> str:
    """The one message about a file, without the file's name."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=_limit,
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{path}:")
    return line.removeprefix(f"{path}:")


def _bomb(levels: int, width: int) -> str:
    lines = [f"x0: &x0 [{', '.join('a' * width)}]"]
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def _chain(length: int) -> str:
    return "x0: &x0 [a]\n" + "".join(f"x{n}: &x{n} [*x{n - 1}]\n" for n in range(1, length))


TEXTS = {
    "anchor bomb": (_bomb(9, 9), "1:5: its aliases expand to more than 20000 values"),
    "deep through aliases": (_chain(200), "1:10: its aliases nest more than 40 deep"),
    "alias of itself": ("&a [*a]\n", "1:1: contains itself through an alias"),
    "alias of what is around it": ("a: &a\n  b: {c: *a}\n", "1:4: contains itself through an alias"),
    "deep lists": ("[" * 200_000, "1:41: is nested more than 40 deep, which no matrix needs"),
    "deep dashes": ("- " * 100_000, "1:81: is nested more than 40 deep, which no matrix needs"),
    "deep keys": ("{a: " * 60_000, "1:158: is nested more than 40 deep, which no matrix needs"),
    "many values": ("- a\n" * 60_000, "20000:3: holds more than 20000 values, which no matrix needs"),
    "python object": (
        changed("kernels/sweep", "!!python/object/apply:os.system kernels"),
        "7:14: the tag !!python/object/apply:os.system is not allowed; write the value without a tag",
    ),
    "a tag of its own": (
        changed("kernels/sweep", "!folder kernels"),
        "7:14: the tag !folder is not allowed; write the value without a tag",
    ),
    "a tag of YAML": (
        changed("version: 1", "version: !!int 1"),
        "1:10: the tag !!int is not allowed; write the value without a tag",
    ),
    "two documents": (
        VALID + "---\n" + VALID,
        "9:1: a second document begins here; a matrix is one document",
    ),
    "empty": ("", "1:1: is empty"),
    "only a comment": ("# to be done\n", "1:1: is empty"),
    "only text": ("matrix\n", "1:1: the file: found 'matrix'; allowed: keys with values"),
    "a list": ("[a]\n", "1:1: the file: found a list; allowed: keys with values"),
    "line separator of YAML 1.1 only": (
        changed("kernels/sweep", "a\u2028b"),
        "7:15: found the character U+2028, which has no place here",
    ),
    "a number with very many digits": (
        changed("version: 1", "version: " + "9" * 250_000),
        "1:10: version: found '" + "9" * 57 + "…'; allowed: 1",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_gets_one_message(name: str, tmp_path: Path) -> None:
    text, expected = TEXTS[name]
    path = tmp_path / "matrix.yaml"
    path.write_text(text, encoding="utf-8")
    refusal = _refusal(path)
    assert refusal == expected


BYTES = {
    "NUL": (VALID.encode() + b"\0", "9:1: found the character U+0000, which has no place here"),
    "UTF-16": (VALID.encode("utf-16"), "1:1: is UTF-16 or UTF-32; save it as UTF-8"),
    "Latin-1": (
        b"# \xc3\xa4\n# \xc3\xa4, ger\xe4t\n" + VALID.encode(),
        "2:9: is not UTF-8 text: found byte 0xe4",
    ),
    "a program": (
        b"\x7fELF\x02\x01\x01\0" + bytes(200),
        "1:1: found the character U+007F, which has no place here",
    ),
    "an escape sequence": (
        b"version: 1 # \x1b[2J\n",
        "1:14: found the character U+001B, which has no place here",
    ),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_that_are_no_text_get_one_message(name: str, tmp_path: Path) -> None:
    content, expected = BYTES[name]
    path = tmp_path / "matrix.yaml"
    path.write_bytes(content)
    assert _refusal(path) == expected


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    with path.open("wb") as file:
        file.truncate(100 << 30)
    assert _refusal(path) == "1:1: is larger than 256 KiB, which no matrix needs"


@pytest.mark.parametrize("content", ["\n", "# ", "a", "a: b, "])
def test_the_largest_file_that_is_read_ends_in_time(content: str, tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text((content * MOST_BYTES)[:MOST_BYTES])
    assert _refusal(path)


def test_no_file_a_folder_a_pipe_and_a_loop(tmp_path: Path) -> None:
    pipe, loop = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    assert _refusal(tmp_path / "none.yaml") == "1:1: there is no such file"
    assert _refusal(tmp_path) == "1:1: is a folder, not a file"
    assert _refusal(pipe) == "1:1: is not a regular file"
    assert _refusal(loop).startswith("1:1: cannot be read: ")
    assert _refusal(tmp_path / ("n" * 300)).startswith("1:1: cannot be read: ")


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(VALID)
    path.chmod(0)
    if os.access(path, os.R_OK):
        # The superuser reads everything: let the folder of somebody's process take its place.
        path = tmp_path / "file" / "matrix.yaml"
        path.parent.write_text("not a folder")
        assert _refusal(path) == "1:1: cannot be read: Not a directory"
    else:
        assert _refusal(path) == "1:1: cannot be read: Permission denied"


def test_more_lanes_than_anything_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    targets = "".join(f"  t{i}: {{backend: cpu}}\n" for i in range(400))
    suites = "".join(f"  s{i}: {{kernels: k, copy_modes: {{cpu: [sync]}}}}\n" for i in range(400))
    path.write_text(f"version: 1\ntargets:\n{targets}suites:\n{suites}")
    assert _refusal(path) == "403:1: 160000 pairs of target and suite; allowed: at most 10000"


def test_more_targets_than_anything_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(
        changed("  host: {backend: cpu}\n", "".join(f"  t{i}: {{backend: cpu}}\n" for i in range(600)))
    )
    assert _refusal(path) == "3:3: targets: found 601 values; allowed: at most 500 values"
