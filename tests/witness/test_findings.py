"""For every witness: the smallest record by which it confirms, denies, and stays silent."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.build import Census
from harness.evidence.model import Finding
from harness.suites.environment import FOUND
from harness.suites.protocol import PlantedDefect
from harness.system import machine
from harness.witness import (
    binary_code,
    driver_count,
    instrumentation,
    one_at_a_time,
    oracle_count,
    planted_defects,
    pointer_kind,
    runtime_device,
    system_device,
)
from harness.words import Execution, Outcome, Sanitizer
from tests.witness.views import CARD, CPU, GPU, PROCESSOR, FakeSuite, artifact, case, row, seen, view

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from harness.witness.protocol import View, Witness

OTHER = CARD.model_copy(update={"pci": "0000:02:00.0"})
SMALL = CARD.model_copy(update={"memory_bytes": 8 << 30})
ADA = CARD.model_copy(update={"arch": "sm_89", "name": "NVIDIA L4"})
BOTH = {Sanitizer.ADDRESS: 3, Sanitizer.UNDEFINED: 3}
IN_BINARY = frozenset(BOTH)

FINDINGS = [
    (
        runtime_device,
        view(GPU, row("sync/a", device=CARD)),
        Finding.CONFIRMS,
        "every row ran on NVIDIA GeForce",
    ),
    (runtime_device, view(GPU, row("sync/a", device=ADA)), Finding.DENIES, "NVIDIA L4 is sm_89, not sm_86"),
    (runtime_device, view(GPU, row("sync/a", device=SMALL)), Finding.DENIES, "it has 8.0 GiB, less than 20"),
    (
        runtime_device,
        view(GPU, row("sync/a", device=CARD), row("sync/b", device=OTHER)),
        Finding.DENIES,
        "rows come from 2 devices: 0000:01:00.0, 0000:02:00.0",
    ),
    (runtime_device, view(GPU, row("sync/a")), None, ""),
    (
        one_at_a_time,
        view(GPU, row("sync/a", span=(1, 2)), row("sync/b", span=(2, 3))),
        Finding.CONFIRMS,
        "no two cases ran",
    ),
    (
        one_at_a_time,
        view(GPU, row("sync/a", span=(1, 2)), row("sync/b", span=(1.5, 3)), row("sync/c", span=(3, 4))),
        Finding.DENIES,
        "sync/a and sync/b ran on one device at the same time",
    ),
    (
        one_at_a_time,
        view(GPU, row("sync/a", span=(1, 2)), row("sync/b", Outcome.FAILED)),
        Finding.SILENT,
        "1 of 2 cases did not say when they ran",
    ),
    (one_at_a_time, view(GPU), None, ""),
    (system_device, view(CPU, device=PROCESSOR), Finding.CONFIRMS, "the kernel calls this machine x86-64"),
    (
        system_device,
        view(CPU, device=PROCESSOR.model_copy(update={"arch": "aarch64"})),
        Finding.DENIES,
        "the driver was built for aarch64, the target is x86-64",
    ),
    (
        system_device,
        view(replace(CPU, target=CPU.target.model_copy(update={"arch": "aarch64"})), device=PROCESSOR),
        Finding.DENIES,
        "the target is aarch64",
    ),
    (system_device, view(GPU, device=CARD), Finding.SILENT, "does not ask the operating system about GPUs"),
    (system_device, view(CPU), None, ""),
    (binary_code, view(GPU, built=artifact("sm_86")), Finding.CONFIRMS, "the binary holds code for sm_86"),
    (
        binary_code,
        view(GPU, built=artifact("sm_86", "sm_90")),
        Finding.DENIES,
        "holds code for sm_86, sm_90, not for sm_86 alone",
    ),
    (binary_code, view(GPU, built=artifact()), Finding.DENIES, "code for nothing"),
    (binary_code, view(GPU), None, ""),
    (
        pointer_kind,
        view(GPU, row("pinned/a", memory="page-locked")),
        Finding.CONFIRMS,
        "page-locked before and after the copies, in 1 rows",
    ),
    (
        pointer_kind,
        view(GPU, row("pinned/a", memory="page-locked"), row("pinned/b", memory="unregistered")),
        Finding.DENIES,
        "pinned/b used unregistered memory",
    ),
    (
        pointer_kind,
        view(GPU, row("pinned/a", memory="unknown"), row("pinned/b", memory="mixed: page-locked, unknown")),
        Finding.DENIES,
        "pinned/b used mixed",
    ),
    (
        pointer_kind,
        view(GPU, row("pinned/a", memory="page-locked"), row("pinned/b", memory="unknown")),
        Finding.SILENT,
        "pinned/b: the runtime did not say",
    ),
    (pointer_kind, view(GPU, row("sync/a", memory="unregistered"), row("pinned/a")), None, ""),
    (pointer_kind, view(GPU, row("pinned/a", memory="unregistered", group="edge")), None, ""),
    (
        instrumentation,
        view(CPU, built=artifact("x86-64", census=Census(3, BOTH, IN_BINARY, ()))),
        Finding.CONFIRMS,
        "all 3 objects and the program are instrumented",
    ),
    (
        instrumentation,
        view(CPU, built=artifact("x86-64", census=Census(4, BOTH, IN_BINARY, ("plain.o",)))),
        Finding.DENIES,
        "only 3 of 4 objects are instrumented; without any: plain.o",
    ),
    (
        instrumentation,
        view(CPU, built=artifact("x86-64", census=Census(3, BOTH, frozenset(), ()))),
        Finding.DENIES,
        "the linked program is not",
    ),
    (
        instrumentation,
        view(CPU, built=artifact("x86-64", census=Census(0, {}, IN_BINARY, ()))),
        Finding.SILENT,
        "no object of this build was examined",
    ),
    (instrumentation, view(CPU, built=artifact("x86-64")), Finding.SILENT, "no object of this build"),
    (planted_defects, view(CPU), Finding.SILENT, "the suite has no planted defect for address"),
]


@pytest.mark.parametrize(
    ("module", "what", "finding", "text"), FINDINGS, ids=[f"{m.__name__}-{f}" for m, _, f, _ in FINDINGS]
)
def test_each_finding(module: ModuleType, what: View, finding: Finding | None, text: str) -> None:
    witness: Witness = module.WITNESS
    if machine.architecture() != "x86-64" and module is system_device:
        pytest.skip("these views are of x86-64 machines")
    said = seen(witness, what)
    if finding is None:
        assert said == [], "a witness that saw nothing says nothing"
    else:
        assert {one.finding for one in said} == {finding}
        assert text in said[0].text


def test_a_census_speaks_for_each_sanitizer_by_itself() -> None:
    census = Census(3, {Sanitizer.ADDRESS: 3, Sanitizer.UNDEFINED: 2}, IN_BINARY, ("a.o",))
    said = seen(instrumentation.WITNESS, view(CPU, built=artifact("x86-64", census=census)))
    assert [(one.subject, one.finding) for one in said] == [
        ("address", Finding.CONFIRMS),
        ("undefined", Finding.DENIES),
    ]


def _plant(name: str, program: str, sanitizer: Sanitizer = Sanitizer.ADDRESS) -> PlantedDefect:
    return PlantedDefect(
        name, sanitizer, "heap-buffer-overflow", "plants.cpp", 41, (sys.executable, "-c", program)
    )


@pytest.mark.parametrize(
    ("program", "finding", "text"),
    [
        (
            f"import sys; print('heap-buffer-overflow in plants.cpp:41'); sys.exit({FOUND})",
            Finding.CONFIRMS,
            "1 planted defects were reported (bounds)",
        ),
        (
            f"import sys; print('heap-buffer-overflow'); sys.exit({FOUND})",
            Finding.CONFIRMS,
            "1 planted defects were reported",
        ),
        (
            f"import sys; print('heap-buffer-overflow in plants.cpp:77'); sys.exit({FOUND})",
            Finding.DENIES,
            "bounds was reported at line 77, not at line 41",
        ),
        (
            f"import sys; print('use-after-free in plants.cpp:41'); sys.exit({FOUND})",
            Finding.DENIES,
            "bounds was not reported as heap-buffer-overflow",
        ),
        (
            "print('heap-buffer-overflow')",
            Finding.DENIES,
            "bounds was not reported: the program exited with 0",
        ),
    ],
)
def test_a_planted_defect_must_be_reported_as_what_it_is(
    tmp_path: Path, program: str, finding: Finding, text: str
) -> None:
    suite = FakeSuite(planted=(_plant("bounds", program),))
    said = seen(
        planted_defects.WITNESS, view(CPU, suite=suite, folder=tmp_path, environment=dict(os.environ))
    )
    assert (said[0].subject, said[0].finding) == ("address", finding)
    assert text in said[0].text
    assert (said[1].subject, said[1].finding) == ("undefined", Finding.SILENT)
    assert (tmp_path / "planted" / "bounds.out").is_file()


def test_one_missed_defect_of_several_denies(tmp_path: Path) -> None:
    good = f"import sys; print('heap-buffer-overflow plants.cpp:41'); sys.exit({FOUND})"
    suite = FakeSuite(planted=(_plant("one", good), _plant("two", "pass"), _plant("three", good)))
    said = seen(
        planted_defects.WITNESS, view(CPU, suite=suite, folder=tmp_path, environment=dict(os.environ))
    )
    assert (said[0].finding, said[0].text) == (
        Finding.DENIES,
        "two was not reported: the program exited with 0",
    )


def test_counts_are_of_distinct_transactions_by_mode() -> None:
    suite = FakeSuite(
        keys={
            "sync/a": frozenset({"1", "2"}),
            "sync/b": frozenset({"2", "3"}),
            "pinned/a": frozenset({"1"}),
            "sync/edge": frozenset({"9"}),
        }
    )
    planned = (case("sync/a"), case("sync/b"), case("pinned/a"), case("sync/edge", group="edge"))
    rows = (
        row("sync/a", verified=2),
        row("sync/b", Outcome.FAILED, verified=2),
        row("pinned/a", verified=None),
    )
    what = view(GPU, *rows, suite=suite, planned=planned)
    by_driver = [(one.subject, one.value) for one in seen(driver_count.WITNESS, what)]
    assert by_driver == [("sync", 3), ("pinned", 1)]
    by_oracle = [(one.subject, one.value) for one in seen(oracle_count.WITNESS, what)]
    assert by_oracle == [("sync", 2)], "a failed case counts nothing; a mode without an oracle has no word"


def test_an_oracle_that_saw_fewer_than_the_driver_counts_nothing() -> None:
    suite = FakeSuite(keys={"sync/a": frozenset({"1", "2"})})
    what = view(GPU, row("sync/a", verified=1), suite=suite, planned=(case("sync/a"),))
    assert [one.value for one in seen(oracle_count.WITNESS, what)] == [0]


def test_a_count_on_an_imitated_stream_says_so() -> None:
    suite = FakeSuite(keys={"sync/a": frozenset({"1"}), "sync/b": frozenset({"2"})})
    planned = (case("sync/a"), case("sync/b", Execution.EMULATED))
    (said,) = seen(driver_count.WITNESS, view(CPU, suite=suite, planned=planned))
    assert (said.execution, said.value) == (Execution.EMULATED, 2)
    assert "on an emulated stream" in said.text
