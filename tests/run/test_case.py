"""One case of a driver: every way in which it can end gives one clear outcome."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.evidence.model import CaseRecord
from harness.suites.driver.case import CaseFailedError, CaseReport, CaseRun, CaseSkippedError, run_case
from harness.words import CopyMode, Execution

if TYPE_CHECKING:
    from tests.conftest import MakeDriver

ORACLE = """
from harness.oracle import Difference, Verification

def verify(case, records):
    {verify}

def explain(case, state):
    return Difference(state["key"], "explained")
"""


def _run(driver: Path, name: str, tmp_path: Path, *, timeout_s: float = 60, oracle: str = "") -> CaseRun:
    path = None
    if oracle:
        path = tmp_path / "oracle.py"
        path.write_text(ORACLE.format(verify=oracle))
    return CaseRun(
        case=CaseRecord(
            name=name, mode=CopyMode.PINNED, group="sweep", execution=Execution.REAL, transactions=3
        ),
        driver=driver,
        device=None,
        environment=dict(os.environ),
        timeout_s=timeout_s,
        nonce="fresh",
        oracle=path,
        folder=tmp_path / "cases",
        root=tmp_path,
    )


def test_a_case_that_passes_records_what_was_observed(make_driver: MakeDriver, tmp_path: Path) -> None:
    run = _run(make_driver("pinned/pass"), "pinned/pass", tmp_path)
    report = CaseReport()
    run_case(run, report)
    assert report.observed.transactions == 3
    assert report.observed.memory_kind == "page-locked"
    assert report.observed.device is not None
    assert report.observed.device.name == "A processor"
    assert report.observed.reproduce == ()
    assert len(run.keys.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        (
            "mismatch",
            "pos=0 q=1 accepted=0 tensor=0 row=4 column=2 expected=0x3c00 got=0x0000 (1 of 3 transactions",
        ),
        ("segfault", "was ended by SIGSEGV after 2 transactions"),
        ("sanitizer", "AddressSanitizer: heap-buffer-overflow"),
        ("garbage", "jsonl:6: not a JSON record"),
        ("cut", 'not a JSON record: \'{"type": "end", "transac\''),
        ("noend", "its records have no end"),
        ("no-records", "no records were written"),
        ("short", "3 transactions were planned, the driver counted 2"),
        ("repeated", "its records hold 3 of which 1 are distinct"),
        ("foreign", "the records are of another run"),
        ("othercase", "the records are of another case: 'other'"),
        ("status3", "exited with 3"),
        ("lying", "the driver failed and did not say why"),
    ],
)
def test_a_case_that_goes_wrong_fails_and_says_how(
    make_driver: MakeDriver, tmp_path: Path, behaviour: str, says: str
) -> None:
    name = f"pinned/{behaviour}"
    run = _run(make_driver(name), name, tmp_path)
    report = CaseReport()
    with pytest.raises(CaseFailedError) as caught:
        run_case(run, report)
    assert says in caught.value.headline
    assert f"--run {name}" in report.observed.reproduce[0]
    assert not run.keys.exists(), "a failed case must not count as coverage"


def test_a_mismatch_is_reproduced_by_its_transaction_alone(make_driver: MakeDriver, tmp_path: Path) -> None:
    report = CaseReport()
    with pytest.raises(CaseFailedError):
        run_case(_run(make_driver("pinned/mismatch"), "pinned/mismatch", tmp_path), report)
    assert "--only pinned/mismatch:1" in report.observed.reproduce[0]


def test_a_hang_is_ended_with_all_its_processes(make_driver: MakeDriver, tmp_path: Path) -> None:
    driver = make_driver("pinned/hang")
    with pytest.raises(CaseFailedError, match=r"did not end within .* after 2 transactions"):
        run_case(_run(driver, "pinned/hang", tmp_path, timeout_s=4), CaseReport())
    for pid in (driver.parent / "hanging").read_text().split():
        assert not _alive(int(pid)), "the driver ignored SIGTERM and its child was in its group"


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_no_device_is_a_skip_with_the_reason(make_driver: MakeDriver, tmp_path: Path) -> None:
    with pytest.raises(CaseSkippedError, match=r"cudaErrorNoDevice \(100\)"):
        run_case(_run(make_driver("pinned/no-device"), "pinned/no-device", tmp_path), CaseReport())


def test_a_driver_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(CaseFailedError, match=r"exited with 127|cannot be started"):
        run_case(_run(tmp_path / "absent", "pinned/pass", tmp_path), CaseReport())


@pytest.mark.parametrize(
    ("behaviour", "kind"), [("pageable", "unregistered"), ("half", "mixed: page-locked, unregistered")]
)
def test_the_memory_kind_is_what_the_runtime_said(
    make_driver: MakeDriver, tmp_path: Path, behaviour: str, kind: str
) -> None:
    name = f"pinned/{behaviour}"
    report = CaseReport()
    run_case(_run(make_driver(name), name, tmp_path), report)
    assert report.observed.memory_kind == kind
    assert report.observed.recorded_mode == "pinned"


@pytest.mark.parametrize(
    ("device", "says"),
    [({"name": 5}, "name Input should be a valid string"), ({"memory_bytes": "much"}, "memory_bytes")],
)
def test_a_device_that_is_none_fails_the_case(
    make_driver: MakeDriver, tmp_path: Path, device: dict[str, object], says: str
) -> None:
    driver = make_driver("pinned/pass", other_devices={"pass": device})
    with pytest.raises(CaseFailedError) as caught:
        run_case(_run(driver, "pinned/pass", tmp_path), CaseReport())
    assert "the device record is not as docs/driver.md wants it" in caught.value.headline
    assert says in caught.value.headline


def test_who_speaks_is_not_for_the_driver_to_say(make_driver: MakeDriver, tmp_path: Path) -> None:
    lie = {"source": "operating system", "backend": "hip"}
    report = CaseReport()
    run_case(_run(make_driver("pinned/pass", other_devices={"pass": lie}), "pinned/pass", tmp_path), report)
    assert report.observed.device is not None
    assert (report.observed.device.source, report.observed.device.backend) == ("runtime", "cpu")


def test_an_oracle_that_disagrees_fails_the_case(make_driver: MakeDriver, tmp_path: Path) -> None:
    oracle = "return Verification(3, 2, Difference(records[1]['key'], 'tensor 0 differs'))"
    report = CaseReport()
    with pytest.raises(CaseFailedError, match=r"tensor 0 differs \(the oracle disagrees in 2 of 3"):
        run_case(_run(make_driver("pinned/pass"), "pinned/pass", tmp_path, oracle=oracle), report)
    assert "--dump" in report.observed.reproduce[0]


@pytest.mark.parametrize("oracle", ["raise KeyError('digests')", "return records[7]"])
def test_an_oracle_that_breaks_fails_the_case(make_driver: MakeDriver, tmp_path: Path, oracle: str) -> None:
    with pytest.raises(CaseFailedError, match="the oracle cannot read the driver's records"):
        run_case(_run(make_driver("pinned/pass"), "pinned/pass", tmp_path, oracle=oracle), CaseReport())


def test_endless_output_is_kept_short(make_driver: MakeDriver, tmp_path: Path) -> None:
    run = _run(make_driver("pinned/verbose"), "pinned/verbose", tmp_path)
    report = CaseReport()
    run_case(run, report)
    assert len(report.observed.model_dump_json()) < 10_000
