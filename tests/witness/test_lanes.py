"""Through a whole lane: every witness is asked, and what it denies reaches the report.

The driver touches no device and nothing is built; all else is as in a real
lane: pytest and its worker, the records, the judge, the page.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from harness import claims, report
from harness.build import Artifact, Census
from harness.evidence.folders import Run
from harness.evidence.model import Finding, NotRun
from harness.matrix.lanes import all_lanes
from harness.matrix.model import Matrix
from harness.run.conclusion import Conclusion
from harness.run.options import Options
from harness.run.series import run_session
from harness.suites.driver import kind
from harness.suites.driver import rows as driver_rows
from harness.suites.environment import FOUND
from harness.system.machine import architecture
from harness.witness import WITNESSES
from harness.words import ClaimState, LaneVerdict, Sanitizer
from tests.witness.views import artifact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.evidence.model import Evidence
    from harness.evidence.rows import Row
    from harness.judge.qualification import LaneQualification
    from tests.conftest import MakeDriver

CARD = {"index": 0, "name": "A card", "arch": "sm_86", "pci": "0000:01:00.0", "memory_bytes": 1 << 30}
HOST = architecture()
PROCESSOR = {"index": 0, "name": "A processor", "arch": HOST}

ORACLE = """
from harness.oracle import Verification

def verify(case, records):
    return Verification(len(records), 0)
"""


@dataclass
class Given:
    """A lane in which every witness confirms; a test changes one thing."""

    cases: list[str]
    target: dict[str, Any]
    device: dict[str, Any]
    backend: str
    built: Artifact
    transactions: int
    others: dict[str, dict[str, Any]] = field(default_factory=dict)
    plant_status: int = FOUND
    rows: Callable[[tuple[Row, ...]], tuple[Row, ...]] = lambda rows: rows


def gpu() -> Given:
    return Given(
        cases=["sync/one", "pinned/one"],
        target={"backend": "cuda", "arch": "sm_86"},
        device=CARD,
        backend="cuda",
        built=artifact("sm_86"),
        transactions=3,
    )


def cpu() -> Given:
    everything = Census(2, {Sanitizer.ADDRESS: 2}, frozenset({Sanitizer.ADDRESS}), ())
    return Given(
        cases=["sync/one"],
        target={"backend": "cpu", "sanitizers": {"on": ["address"]}},
        device=PROCESSOR,
        backend="cpu",
        built=artifact(HOST, census=everything),
        transactions=3,
    )


class RunLane:
    """Runs a given lane and judges it."""

    def __init__(self, make_driver: MakeDriver, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._make_driver = make_driver
        self._root = root
        self._patch = monkeypatch
        self.page = ""

    def __call__(self, given: Given) -> LaneQualification:
        plant = {"name": "bounds", "sanitizer": "address", "report": "heap-buffer-overflow"}
        driver = self._make_driver(
            *given.cases,
            backend=given.backend,
            devices=[given.device],
            other_devices=given.others,
            plants=[{**plant, "file": "plants.cpp", "line": 4}],
            plant_status=given.plant_status,
        )
        (self._root / "kernels").mkdir(parents=True)
        (self._root / "kernels" / "oracle.py").write_text(ORACLE)

        def build(lane: object, **_: object) -> Artifact:
            return replace(given.built, driver=driver, sha256="0" * 64)

        rows_of = driver_rows.rows_of

        def rows(folder: Path, evidence: Evidence, *, ended: bool) -> tuple[Row, ...]:
            return given.rows(rows_of(folder, evidence, ended=ended))

        self._patch.setattr(kind, "build", build)
        self._patch.setattr(kind, "rows_of", rows)
        matrix = Matrix.model_validate(
            {
                "version": 1,
                "targets": {"target": given.target},
                "suites": {
                    "suite": {
                        "kernels": "kernels",
                        "copy_modes": {"cuda": ["sync", "pinned"], "cpu": ["sync"]},
                        "establish": {"transactions_per_copy_mode": given.transactions, "pinned": "verified"},
                    }
                },
            }
        )
        conclusion = Conclusion(matrix, Run(self._root, "run"))
        run_session(conclusion, all_lanes(matrix), Options(), stream=io.StringIO())
        qualification = conclusion.write()
        self.page = report.markdown(qualification)
        return qualification.lanes[0]


@pytest.fixture
def run_lane(make_driver: MakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunLane:
    return RunLane(make_driver, tmp_path / "project", monkeypatch)


def findings(lane: LaneQualification) -> dict[tuple[str, str], set[Finding]]:
    """What each witness said about each claim, whatever part of it."""
    found: dict[tuple[str, str], set[Finding]] = {}
    for claim in lane.claims:
        for witness in claim.witnesses:
            found.setdefault((claim.claim, witness.witness), set()).add(witness.finding)
    return found


@pytest.mark.parametrize("given", [gpu, cpu])
def test_where_all_is_well_every_witness_confirms(run_lane: RunLane, given: Callable[[], Given]) -> None:
    lane = run_lane(given())
    assert lane.counts.passed == lane.counts.planned > 0, lane.reasons
    built = {(one.claim, one.name) for one in WITNESSES}
    said = {pair: seen for pair, seen in findings(lane).items() if pair in built}
    if given is gpu:  # this version does not ask the operating system about GPUs
        assert said.pop((claims.DEVICE, claims.SYSTEM)) == {Finding.SILENT}
    assert set(map(frozenset, said.values())) == {frozenset({Finding.CONFIRMS})}, said


def _overlapping(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(
        replace(row, observed=row.observed.model_copy(update={"started": 1.0 + i / 10, "ended": 2.0}))
        for i, row in enumerate(rows)
    )


ELSEWHERE = "aarch64" if HOST != "aarch64" else "x86-64"

DENIALS: list[tuple[str, str, Given, str]] = [
    (
        claims.DEVICE,
        claims.RUNTIME,
        replace(gpu(), cases=["sync/one", "sync/two"], others={"two": {"pci": "0000:02:00.0"}}),
        "rows come from 2 devices: 0000:01:00.0, 0000:02:00.0",
    ),
    (
        claims.DEVICE,
        claims.RUNTIME,
        replace(gpu(), others={"one": {"arch": "sm_89"}}),
        "A card is sm_89, not sm_86",
    ),
    (
        claims.DEVICE,
        claims.ONE_AT_A_TIME,
        replace(gpu(), rows=_overlapping),
        "sync/one and pinned/one ran on one device at the same time",
    ),
    (
        claims.DEVICE,
        claims.SYSTEM,
        replace(cpu(), device={**PROCESSOR, "arch": ELSEWHERE}),
        f"the kernel calls this machine {HOST}, the driver was built for {ELSEWHERE}, the target is any",
    ),
    (
        claims.NATIVE_CODE,
        claims.BINARY,
        replace(gpu(), built=artifact("sm_86", "compute_86")),
        "the binary holds code for sm_86, compute_86, not for sm_86 alone",
    ),
    (
        claims.PINNED,
        claims.POINTER,
        replace(gpu(), cases=["sync/one", "pinned/one", "pinned/pageable"], transactions=6),
        "pinned/pageable used unregistered memory",
    ),
    (
        claims.SANITIZER,
        claims.CENSUS,
        replace(
            cpu(),
            built=artifact(
                HOST,
                census=Census(2, {Sanitizer.ADDRESS: 1}, frozenset({Sanitizer.ADDRESS}), ("plain.o",)),
            ),
        ),
        "only 1 of 2 objects are instrumented; without any: plain.o",
    ),
    (
        claims.SANITIZER,
        claims.PLANTED,
        replace(cpu(), plant_status=0),
        "bounds was not reported: the program exited with 0",
    ),
    (
        claims.COVERAGE,
        claims.DRIVER,
        replace(cpu(), cases=["sync/one", "sync/two"]),
        "6 transactions where the matrix says 3",
    ),
    (
        claims.COVERAGE,
        claims.ORACLE,
        replace(cpu(), cases=["sync/one", "sync/two"]),
        "6 transactions where the matrix says 3",
    ),
]


def test_every_witness_has_a_lane_in_which_it_denies() -> None:
    assert {(claim, name) for claim, name, _, _ in DENIALS} == {(one.claim, one.name) for one in WITNESSES}


@pytest.mark.parametrize(("claim", "witness", "given", "text"), DENIALS, ids=[text for *_, text in DENIALS])
def test_a_denial_reaches_the_report(
    run_lane: RunLane, claim: str, witness: str, given: Given, text: str
) -> None:
    lane = run_lane(given)
    assert Finding.DENIES in findings(lane)[(claim, witness)]
    contradicted = [one for one in lane.claims if one.state is ClaimState.CONTRADICTED]
    assert claim in {one.claim for one in contradicted}
    assert lane.verdict is LaneVerdict.FAILED
    assert text in run_lane.page.replace("\\", "")
    assert "**contradicted**" in run_lane.page


def test_a_driver_of_another_backend_is_refused(run_lane: RunLane) -> None:
    """It would list cases and devices of a machine that the target is not."""
    lane = run_lane(replace(gpu(), backend="hip"))
    assert (lane.verdict, lane.not_run) == (LaneVerdict.FAILED, NotRun.LISTING_FAILED)
    assert "is a hip driver, the target is cuda" in lane.reasons[0]


def test_the_processes_of_a_cpu_lane_see_no_gpu(
    run_lane: RunLane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "0")
    run_lane(replace(cpu(), cases=["sync/environment"]))
    seen = json.loads((tmp_path / "driver" / "environment.json").read_text())
    masks = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    assert {seen[name] for name in masks} == {""}
