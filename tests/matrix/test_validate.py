"""What a person sees for each kind of mistake in matrix.yaml."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from harness.matrix.load import MatrixError, load_with_warnings
from harness.matrix.problems import MOST_SHOWN
from tests.matrix.conftest import VALID, ProblemsOf, changed

if TYPE_CHECKING:
    from pathlib import Path

GPU = "gpu: {backend: cuda, arch: sm_86}"
HOST = "host: {backend: cpu}"
MODES = "copy_modes: {cuda: [sync, pinned], cpu: [sync]}"
LISTS = "copy_modes: {cuda: [sync, pinned], cpu: [sync]}\n"

MISTAKES = {
    "wrong backend": (
        changed(GPU, "gpu: {backend: cud, arch: sm_86}"),
        "3:18: targets.gpu.backend: found 'cud'; allowed: cuda, hip, cpu; did you mean 'cuda'?",
    ),
    "no arch": (
        changed(GPU, "gpu: {backend: cuda}"),
        "3:3: targets.gpu: a cuda target needs the key 'arch' (sm_86, sm_90, sm_120, …)",
    ),
    "arch of another backend": (
        changed(GPU, "gpu: {backend: hip, arch: sm_86}"),
        "3:29: targets.gpu.arch: 'sm_86' is not an architecture of hip; allowed: gfx1201, gfx1151, gfx942, …",
    ),
    "unknown key": (
        changed(HOST, "host: {backend: cpu, devcie: {}}"),
        "4:24: unknown key 'devcie' in targets.host; allowed: backend, arch, device, sanitizers, compiler, "
        "session, required; did you mean 'device'?",
    ),
    "unknown key of the file": (
        VALID + "expected_skip: []\n",
        "9:1: unknown key 'expected_skip' in the file; allowed: version, targets, suites, expected_skips, "
        "not_claimed, ci; did you mean 'expected_skips'?",
    ),
    "unknown backend as key": (
        changed("cpu: [sync]", "CPU: [sync]"),
        "8:40: unknown key 'CPU' in suites.sweep.copy_modes; allowed: cuda, hip, cpu; did you mean 'cpu'?",
    ),
    "unknown copy mode": (
        changed("cpu: [sync]", "cpu: [sync, asynch]"),
        "8:52: suites.sweep.copy_modes.cpu[1]: found 'asynch'; allowed: sync, async, pinned, device; "
        "did you mean 'async'?",
    ),
    "missing key": (
        changed("    kernels: kernels/sweep\n", ""),
        "6:3: suites.sweep needs the key 'kernels' (folder of the suite, relative to this file)",
    ),
    "no version": (
        changed("version: 1\n", ""),
        "1:1: the file needs the key 'version' (version of this format)",
    ),
    "later version": (changed("version: 1", "version: 2"), "1:10: version: found 2; allowed: 1"),
    "duplicate key": (
        changed(HOST, "host: {backend: cpu, backend: hip}"),
        "4:24: the key 'backend' is there twice, first in line 4",
    ),
    "duplicate target": (
        changed(HOST, "host: {backend: cpu}\n  gpu: {backend: cpu}"),
        "5:3: the key 'gpu' is there twice, first in line 3",
    ),
    "no, which is text": (
        changed(HOST, "host: {backend: cpu, required: no}"),
        "4:34: targets.host.required: found no (text; write false); allowed: true or false",
    ),
    "on, which is text": (
        changed(HOST, "host: {backend: cpu, required: on}"),
        "4:34: targets.host.required: found on (text; write true); allowed: true or false",
    ),
    "true in quotes": (
        changed(HOST, "host: {backend: cpu, required: 'true'}"),
        "4:34: targets.host.required: found 'true' in quotes (text; write true); allowed: true or false",
    ),
    "a time for a number": (
        changed(LISTS, LISTS + "    timeout_s: 12:30\n"),
        "9:16: suites.sweep.timeout_s: found 12:30 (text; if that is a time, write 750); allowed: a number",
    ),
    "an exponent": (
        changed(LISTS, LISTS + "    timeout_s: 1e3\n"),
        "9:16: suites.sweep.timeout_s: found 1e3 (text; write 1000); allowed: a number",
    ),
    "an octal number": (
        changed(LISTS, LISTS + "    timeout_s: 010\n"),
        "9:16: suites.sweep.timeout_s: found 010 (text; write it without the leading 0); allowed: a number",
    ),
    "a number in groups": (
        changed(LISTS, LISTS + "    establish: {transactions_per_copy_mode: 3_456}\n"),
        "9:45: suites.sweep.establish.transactions_per_copy_mode: found 3_456 (text; write 3456); "
        "allowed: a whole number",
    ),
    "a number in quotes": (
        changed(LISTS, LISTS + "    timeout_s: '30'\n"),
        "9:16: suites.sweep.timeout_s: found '30' in quotes (text; write 30); allowed: a number",
    ),
    "a broken number": (
        changed(LISTS, LISTS + "    establish: {transactions_per_copy_mode: 3.5}\n"),
        "9:45: suites.sweep.establish.transactions_per_copy_mode: found 3.5; allowed: a whole number",
    ),
    "too small": (
        changed(LISTS, LISTS + "    timeout_s: 0\n"),
        "9:16: suites.sweep.timeout_s: found 0; allowed: a number > 0",
    ),
    "too large": (
        changed(LISTS, LISTS + "    timeout_s: 86401\n"),
        "9:16: suites.sweep.timeout_s: found 86401; allowed: a number <= 86400",
    ),
    "endless": (
        changed(HOST, "host: {backend: cpu, device: {min_memory_gib: .inf}}"),
        "4:49: targets.host.device.min_memory_gib: found '.inf'; allowed: a number",
    ),
    "a number for text": (
        changed(HOST, "host: {backend: cpu, device: {uuid: 860}}"),
        "4:39: targets.host.device.uuid: found 860 (a number; put it in quotes to make it text); "
        "allowed: text",
    ),
    "empty text": (
        changed(HOST, "host: {backend: cpu, compiler: ''}"),
        "4:34: targets.host.compiler: found ''; allowed: at least 1 character",
    ),
    "no value": (
        changed("kernels: kernels/sweep", "kernels:"),
        "7:13: suites.sweep.kernels: found nothing; allowed: text",
    ),
    "text for keys": (
        changed(HOST, "host: cpu"),
        "4:9: targets.host: found 'cpu'; allowed: keys with values",
    ),
    "text for a list": (
        VALID + "not_claimed: throughput\n",
        "9:14: not_claimed: found 'throughput'; allowed: a list",
    ),
    "empty list": (
        changed(LISTS, LISTS + "    targets: []\n"),
        "9:14: suites.sweep.targets: found 0 values; allowed: at least 1 value",
    ),
    "bad name": (
        changed(HOST, "my host: {backend: cpu}"),
        "4:3: targets: found the key 'my host'; allowed: a name of letters, digits, '.', '_' and '-', "
        "at most 64, that begins with a letter or digit",
    ),
    "name that leaves its folder": (
        changed(HOST, "../host: {backend: cpu}"),
        "4:3: targets: found the key '../host'; allowed: a name of letters, digits, '.', '_' and '-', "
        "at most 64, that begins with a letter or digit",
    ),
    "PCI address": (
        changed(HOST, "host: {backend: cpu, device: {pci: '01:00.0'}}"),
        "4:38: targets.host.device.pci: found '01:00.0'; "
        "allowed: a PCI address in small letters, as 0000:01:00.0",
    ),
    "sanitizers that exclude each other": (
        changed(HOST, "host: {backend: cpu, sanitizers: {on: [address, thread]}}"),
        "4:24: targets.host.sanitizers: address and thread cannot be built into one program: use two targets",
    ),
    "sanitizer twice": (
        changed(HOST, "host: {backend: cpu, sanitizers: {on: [address, address]}}"),
        "4:41: targets.host.sanitizers.on: address is named twice",
    ),
    "sanitizers of a GPU": (
        changed(GPU, "gpu: {backend: cuda, arch: sm_86, sanitizers: {on: [address]}}"),
        "3:37: targets.gpu.sanitizers: sanitizers of a cuda target are not supported; use a cpu target",
    ),
    "pinned on cpu": (
        changed("cpu: [sync]", "cpu: [pinned]"),
        "8:5: suites.sweep.copy_modes: cpu has no page-locked memory to verify: "
        "pinned is not a mode of cpu lanes",
    ),
    "copy mode twice": (
        changed("cpu: [sync]", "cpu: [sync, sync]"),
        "8:5: suites.sweep.copy_modes: sync is named twice for cpu",
    ),
    "folder outside": (
        changed("kernels/sweep", "../sweep"),
        "7:14: suites.sweep.kernels: must be a folder below this file: no leading / and no ..",
    ),
    "pattern without target": (
        changed(LISTS, LISTS + "    targets: [gpu, hots]\n"),
        "9:20: suites.sweep.targets[1]: no target matches 'hots'; there are: gpu, host; did you mean 'host'?",
    ),
    "absent target that CI may miss": (
        VALID + "ci: {may_be_missing: [gpu1]}\n",
        "9:23: ci.may_be_missing[0]: no target matches 'gpu1'; there are: gpu, host; did you mean 'gpu'?",
    ),
    "skip for no lane": (
        VALID + "expected_skips:\n  - {lane: gpu/swep, case: x, reason: y}\n",
        "10:12: expected_skips[0].lane: no lane matches 'gpu/swep'; there are: gpu/sweep, host/sweep; "
        "did you mean 'gpu/sweep'?",
    ),
    "not a date": (
        VALID + "expected_skips:\n  - {lane: gpu/*, case: x, reason: y, until: 2027-06-31}\n",
        "10:46: expected_skips[0].until: found '2027-06-31'; allowed: a date, as 2027-06-01",
    ),
    "a date without lines": (
        VALID + "expected_skips:\n  - {lane: gpu/*, case: x, reason: y, until: 20270601}\n",
        "10:46: expected_skips[0].until: found 20270601; allowed: a date, as 2027-06-01",
    ),
    "suite without lane": (
        changed(MODES, "copy_modes: {hip: [sync]}"),
        "6:3: the suite 'sweep' has no lane: no target it runs on has a backend with copy modes in it",
    ),
    "targets that differ by case": (
        changed(HOST, "host: {backend: cpu}\n  GPU: {backend: cpu}"),
        "5:3: 'GPU' and 'gpu' differ only by case and would share a folder on some disks",
    ),
    "suites that differ by case": (
        VALID + "  Sweep: {kernels: a, copy_modes: {cpu: [sync]}}\n",
        "9:3: 'Sweep' and 'sweep' differ only by case and would share a folder on some disks",
    ),
    "target named as a session": (
        changed(HOST, "lint: {backend: cpu}"),
        "4:3: the nox session 'lint' is built in; name another one with the key 'session'",
    ),
    "session that is built in": (
        changed(HOST, "host: {backend: cpu, session: report}"),
        "4:33: the nox session 'report' is built in; name another one with the key 'session'",
    ),
    "merge key": (
        changed(GPU, "gpu: &g {backend: cuda, arch: sm_86}").replace(HOST, "host: {<<: *g, backend: cpu}"),
        "4:10: merge keys (<<) are not supported; write the keys out",
    ),
    "list as a key": (
        changed(HOST, "host: {backend: cpu, [a]: b}"),
        "4:24: a key must be text; found a list",
    ),
    "tab": (changed("  " + HOST, "\t" + HOST), "4:1: a tab cannot be used here; indent with spaces"),
    "open bracket": (
        changed("cpu: [sync]}", "cpu: [sync"),
        "9:1: found the end of the file where ',' or ']' should be; it began in line 8",
    ),
    "open quotes": (
        changed("kernels/sweep", "'kernels/sweep"),
        "9:1: the quotes are not closed; it began in line 7",
    ),
    "colon in text": (
        changed("kernels: kernels/sweep", "kernels: a: b"),
        "7:15: found a ':' that cannot be here; put the text in quotes",
    ),
    "wrong indentation": (
        changed("  host", " host"),
        "4:2: found a key that does not fit the indentation above; it began in line 1",
    ),
    "unknown alias": (changed(HOST, "host: *gpu"), "4:9: the alias *gpu has no anchor &gpu before it"),
    "at sign": (changed(HOST, "host: @home"), "4:9: a value cannot begin with @; put it in quotes"),
    "NUL by an escape": (
        changed("kernels/sweep", '"a\\0b"'),
        "7:14: the text holds U+0000, which has no place here",
    ),
    "surrogate by an escape": (
        changed("kernels/sweep", '"\\ud800"'),
        "7:14: the text holds U+D800, which has no place here",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_mistake_is_one_line_at_its_place(mistake: str, problems_of: ProblemsOf) -> None:
    text, expected = MISTAKES[mistake]
    assert problems_of(text) == [expected]


def test_all_problems_at_once_in_the_order_of_the_file(problems_of: ProblemsOf) -> None:
    text = """\
targets:
  gpu: {backend: cuda, devcie: {}}
  host: {backend: cpu, required: no}
  HOST: {backend: cpu}
suites:
  sweep:
    copy_modes: {cuda: [sync]}
    targets: [hots]
ci: {may_be_missing: [gpo]}
"""
    assert problems_of(text) == [
        "1:1: the file needs the key 'version' (version of this format)",
        "2:3: targets.gpu: a cuda target needs the key 'arch' (sm_86, sm_90, sm_120, …)",
        "2:24: unknown key 'devcie' in targets.gpu; allowed: backend, arch, device, sanitizers, compiler, "
        "session, required; did you mean 'device'?",
        "3:34: targets.host.required: found no (text; write false); allowed: true or false",
        "4:3: 'HOST' and 'host' differ only by case and would share a folder on some disks",
        "6:3: suites.sweep needs the key 'kernels' (folder of the suite, relative to this file)",
        "8:15: suites.sweep.targets[0]: no target matches 'hots'; there are: gpu, host, HOST; "
        "did you mean 'host'?",
        "9:23: ci.may_be_missing[0]: no target matches 'gpo'; there are: gpu, host, HOST; "
        "did you mean 'gpu'?",
    ]


def test_a_wrong_entry_of_a_list_hides_nothing(problems_of: ProblemsOf) -> None:
    text = changed(GPU, "gpu: {backend: hip, sanitizers: {on: [addres, undefined]}}")
    assert problems_of(text) == [
        "3:3: targets.gpu: a hip target needs the key 'arch' (gfx1201, gfx1151, gfx942, …)",
        "3:41: targets.gpu.sanitizers.on[0]: found 'addres'; allowed: address, undefined, thread; "
        "did you mean 'address'?",
    ]


def test_a_wrong_arch_is_not_reported_as_a_missing_one_too(problems_of: ProblemsOf) -> None:
    text = changed(GPU, "gpu: {backend: cuda, arch: gfx942, required: maybe}")
    assert [line.partition(" ")[0] for line in problems_of(text)] == ["3:30:", "3:48:"]


def test_very_many_problems_are_counted(problems_of: ProblemsOf) -> None:
    lines = problems_of(VALID + "".join(f"unknown{i}: 1\n" for i in range(MOST_SHOWN + 5)))
    assert len(lines) == MOST_SHOWN + 1
    assert lines[-1] == " and 5 more problems"


def test_words_of_yaml_1_1_are_text_where_text_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(
        changed(HOST, "no: {backend: cpu, compiler: yes, device: {name: 1e3, uuid: 12:30}}\n")
        + "not_claimed: [on, 0o17, 010, 2027-06-01]\n"
    )
    matrix = load_with_warnings(path, today=dt.date(2026, 1, 1)).matrix
    target = matrix.targets["no"]
    assert (target.compiler, target.device.name, target.device.uuid) == ("yes", "1e3", "12:30")
    assert matrix.not_claimed == ("on", "0o17", "010", "2027-06-01")


def test_aliases_and_a_byte_order_mark_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    text = changed(GPU, "gpu: &gpu {backend: cuda, arch: sm_86}").replace(HOST, "other: *gpu")
    path.write_text(text, encoding="utf-8-sig")
    matrix = load_with_warnings(path, today=dt.date(2026, 1, 1)).matrix
    assert matrix.targets["other"] == matrix.targets["gpu"]


def test_a_skip_past_its_date_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(VALID + "expected_skips:\n  - {lane: 'gpu/*', case: x, reason: y, until: 2027-06-01}\n")
    assert load_with_warnings(path, today=dt.date(2027, 6, 1)).warnings == ()
    assert load_with_warnings(path, today=dt.date(2027, 6, 2)).warnings == (
        f"{path}:10:48: warning: this skip was expected until 2027-06-01; "
        "from then on it counts as unexpected",
    )


def test_the_error_carries_its_problems(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(changed("sm_86", "sm_8"))
    with pytest.raises(MatrixError) as caught:
        load_with_warnings(path, today=dt.date(2026, 1, 1))
    (problem,) = caught.value.problems
    assert (problem.position.line, problem.position.column) == (3, 30)
    assert "sm_8" in problem.text


def _validate(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness", "validate", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_says_what_a_valid_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "mein Gerät.yaml"
    path.write_text(VALID)
    done = _validate(path)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"{path}: ok, 2 targets, 1 suite, 2 lanes\n",
        "",
    )


def test_the_command_prints_problems_to_standard_error(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(changed("cpu: [sync]", "cpu: [asynch]"))
    done = _validate(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"{path}:8:46: suites.sweep.copy_modes.cpu[0]: found 'asynch'; "
        "allowed: sync, async, pinned, device; did you mean 'async'?\n"
    )


def test_the_command_prints_warnings_and_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_text(VALID + "expected_skips: [{lane: gpu/*, case: x, reason: y, until: 2020-01-01}]\n")
    done = _validate(path)
    assert done.returncode == 0
    assert done.stderr.startswith(f"{path}:9:59: warning: this skip was expected until 2020-01-01")
    assert done.stdout.endswith("ok, 2 targets, 1 suite, 2 lanes\n")
