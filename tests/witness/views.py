"""What a witness may look at, made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harness.build import Artifact, Census, Toolchain
from harness.evidence.model import CaseRecord, DeviceRecord
from harness.evidence.rows import Observed, Row
from harness.matrix.lanes import Lane, all_lanes
from harness.matrix.model import Matrix
from harness.suites.protocol import Command, Devices, PlantedDefect, Progress, Work
from harness.witness.protocol import View
from harness.words import Backend, CopyMode, Execution, Outcome

if TYPE_CHECKING:
    from harness.witness.protocol import Sighting, Witness

MATRIX = Matrix.model_validate(
    {
        "version": 1,
        "targets": {
            "cpu": {"backend": "cpu", "arch": "x86-64", "sanitizers": {"on": ["address", "undefined"]}},
            "gpu": {
                "backend": "cuda",
                "arch": "sm_86",
                "device": {"name": "NVIDIA GeForce RTX 3090", "min_memory_gib": 20},
            },
        },
        "suites": {
            "suite": {
                "kernels": "kernels/suite",
                "copy_modes": {"cpu": ["sync"], "cuda": ["sync", "pinned"]},
                "establish": {"transactions_per_copy_mode": 4, "pinned": "verified"},
            }
        },
    }
)
CPU, GPU = all_lanes(MATRIX)

PROCESSOR = DeviceRecord(source="runtime", backend=Backend.CPU, name="A processor", arch="x86-64")
CARD = DeviceRecord(
    source="runtime",
    backend=Backend.CUDA,
    name="NVIDIA GeForce RTX 3090",
    arch="sm_86",
    pci="0000:01:00.0",
    memory_bytes=24 << 30,
)


@dataclass(slots=True)
class FakeSuite:
    """A suite that answers from memory."""

    planted: tuple[PlantedDefect, ...] = ()
    keys: dict[str, frozenset[str]] = field(default_factory=dict)

    def build(self) -> None:
        return None

    def inputs(self) -> tuple[Path, ...]:
        return ()

    def devices(self) -> Devices | None:
        return None

    def cases(self) -> tuple[CaseRecord, ...]:
        return ()

    def defects(self) -> tuple[PlantedDefect, ...]:
        return self.planted

    def start(self, work: Work) -> Command:
        raise NotImplementedError

    def look(self) -> Progress:
        return Progress(0, 0, 0)

    def selected(self) -> frozenset[str]:
        return frozenset()

    def transactions(self, case: CaseRecord) -> frozenset[str]:
        return self.keys.get(case.name, frozenset())


def case(name: str, execution: Execution = Execution.REAL, group: str = "sweep") -> CaseRecord:
    mode = CopyMode(name.split("/")[0])
    return CaseRecord(name=name, mode=mode, group=group, execution=execution, transactions=2)


def row(
    name: str,
    outcome: Outcome = Outcome.PASSED,
    *,
    group: str = "sweep",
    device: DeviceRecord | None = None,
    memory: str | None = None,
    verified: int | None = None,
    span: tuple[float, float] | None = None,
) -> Row:
    started, ended = span if span is not None else (None, None)
    observed = Observed(
        mode=CopyMode(name.split("/")[0]),
        group=group,
        device=device,
        memory_kind=memory,
        oracle_transactions=verified,
        started=started,
        ended=ended,
    )
    return Row("t/s", name, outcome, observed=observed)


def artifact(*architectures: str, census: Census | None = None) -> Artifact:
    return Artifact(
        driver=Path("driver"),
        sha256="0" * 64,
        toolchain=Toolchain("g++", Path("g++"), "1.0", "PATH"),
        flags=(),
        architectures=architectures,
        census=census,
        inputs={},
        log=Path("build.log"),
        rebuilt=False,
        seconds=0.0,
    )


def view(
    lane: Lane = CPU,
    *rows: Row,
    suite: FakeSuite | None = None,
    planned: tuple[CaseRecord, ...] = (),
    built: Artifact | None = None,
    device: DeviceRecord | None = None,
    folder: Path = Path(),
    environment: dict[str, str] | None = None,
) -> View:
    return View(
        lane=lane,
        suite=suite or FakeSuite(),
        folder=folder,
        environment=environment or {},
        artifact=built,
        device=device,
        planned=planned,
        rows=rows,
    )


def seen(witness: Witness, what: View) -> list[Sighting]:
    """Everything that a witness says."""
    return list(witness.observe(what))
