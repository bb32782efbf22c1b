"""The reports: what a reader sees first, what is never said, and the form for programs."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness import report
from harness.evidence.model import DeviceRecord, Finding, NotRun, Revision, ToolchainRecord
from harness.judge.qualification import (
    ClaimResult,
    CopyModeResult,
    Counts,
    Failure,
    LaneQualification,
    Qualification,
    Skip,
    WitnessResult,
)
from harness.report.markdown import markdown
from harness.words import Backend, ClaimState, CopyMode, Execution, LaneVerdict, SanitizerCheck, Verdict

NOW = dt.datetime(2026, 12, 1, 16, 28, tzinfo=dt.UTC)
REVISION = Revision(commit="1943f738cdd4" + "0" * 28, tree="0" * 40)


def lane(target: str, verdict: LaneVerdict, **changes: Any) -> LaneQualification:
    known: dict[str, Any] = {
        "target": target,
        "suite": "ds4-rollback",
        "session": target,
        "backend": Backend.CUDA,
        "arch": "sm_86",
        "required": True,
        "verdict": verdict,
        "reasons": (),
        "declared_device": "any cuda",
    }
    return LaneQualification.model_validate({**known, **changes})


def not_run(target: str, arch: str, backend: Backend) -> LaneQualification:
    return lane(
        target,
        LaneVerdict.INCOMPLETE,
        backend=backend,
        arch=arch,
        built=True,
        architectures=(arch,),
        not_run=NotRun.NO_DEVICE,
        reasons=(f"built for {arch}, no {backend.upper()} device here",),
        toolchain=ToolchainRecord(kind="nvcc", compiler="/nvcc", version="13.0", origin="PATH"),
        folder=f"lanes/{target}/ds4-rollback",
    )


CPU = lane(
    "cpu-sanitize",
    LaneVerdict.QUALIFIED,
    backend=Backend.CPU,
    arch=None,
    built=True,
    architectures=("x86-64",),
    devices=(DeviceRecord(source="runtime", backend=Backend.CPU, name="AMD EPYC", arch="x86-64"),),
    counts=Counts(planned=66, executed=66, passed=66),
    exit_status=0,
    switched_off=(SanitizerCheck.LEAK,),
    claims=(
        ClaimResult(
            claim="coverage",
            subject="async",
            state=ClaimState.ESTABLISHED,
            reason="3,456 distinct transactions",
            witnesses=(WitnessResult(witness="driver", finding=Finding.CONFIRMS, text="3,456"),),
        ),
    ),
    copy_modes=(
        CopyModeResult(
            mode=CopyMode.ASYNC,
            execution=Execution.EMULATED,
            transactions=3456,
            required=3456,
            memory="not-asked",
        ),
    ),
    toolchain=ToolchainRecord(kind="g++", compiler="/g++", version="12.2.0", origin="PATH"),
)

FAILED = lane(
    "cpu-sanitize",
    LaneVerdict.FAILED,
    backend=Backend.CPU,
    arch=None,
    reasons=("sync/width4: pos=0 q=4 accepted=3 tensor=0 row=0 column=0 expected=0x5bc1 got=0x0ef4",),
    counts=Counts(planned=66, executed=66, passed=65, failed=1),
    exit_status=1,
    failures=(
        Failure(
            case="sync/width4",
            outcome="failed",
            message="pos=0 q=4 accepted=3 tensor=0 row=0 column=0 expected=0x5bc1 got=0x0ef4",
            reproduce=("nox -s cpu-sanitize -- --case 'sync/width4'",),
        ),
    ),
)


def qualification(verdict: Verdict, *lanes: LaneQualification, **changes: Any) -> Qualification:
    known: dict[str, Any] = {
        "verdict": verdict,
        "revision": REVISION,
        "run": "20261201T162311Z-4016ea",
        "created": NOW,
        "harness_version": "0.1.0",
        "reasons": tuple(f"{entry.id}: {entry.reasons[0]}" for entry in lanes if entry.reasons),
        "lanes": lanes,
        "not_claimed": ("throughput",),
    }
    return Qualification.model_validate({**known, **changes})


FRESH = qualification(
    Verdict.INCOMPLETE,
    not_run("rtx3090", "sm_86", Backend.CUDA),
    not_run("strix-halo", "gfx1151", Backend.HIP),
    CPU,
)
BROKEN = qualification(Verdict.NOT_QUALIFIED, not_run("rtx3090", "sm_86", Backend.CUDA), FAILED)


@dataclass
class Sections:
    head: str
    by_title: dict[str, str]


def sections(text: str) -> Sections:
    head, *rest = text.split("\n### ")
    return Sections(head, {part.partition("\n")[0]: part.partition("\n")[2] for part in rest})


def test_the_first_lines_say_verdict_revision_and_the_single_reason() -> None:
    lines = markdown(FRESH).splitlines()
    assert lines[0] == "## INCOMPLETE: 1943f738cdd4"
    assert lines[2] == "**2 required lanes not run: rtx3090/ds4-rollback, strix-halo/ds4-rollback**"
    assert markdown(BROKEN).splitlines()[2].startswith("**cpu-sanitize/ds4-rollback: sync/width4: pos=0 q=4")


def test_lanes_that_failed_are_on_top_of_the_table() -> None:
    rows = [
        line for line in sections(markdown(BROKEN)).by_title["Lanes"].splitlines() if line.startswith("| ")
    ]
    assert [row.split(" | ")[0] for row in rows[2:]] == [
        "| cpu-sanitize/ds4-rollback",
        "| rtx3090/ds4-rollback",
    ]


def test_nothing_positive_is_said_of_a_lane_that_did_not_run() -> None:
    found = sections(markdown(FRESH)).by_title
    assert "rtx3090" not in found["Established"]
    assert "| not run: built for sm_86, no CUDA device here |" in found["Lanes"]
    assert "everything on rtx3090/ds4-rollback, strix-halo/ds4-rollback: no case" in found["Not established"]
    assert (
        "rtx3090/ds4-rollback, strix-halo/ds4-rollback beyond being built and inspected"
        in found["Not claimed"]
    )


def test_what_the_program_knows_by_itself_is_not_claimed() -> None:
    text = sections(markdown(FRESH)).by_title["Not claimed"]
    assert "- throughput" in text
    assert "a real stream for async on cpu-sanitize/ds4-rollback: an emulated one was used" in text
    assert "what the checks leak would find on cpu-sanitize/ds4-rollback: the matrix switches" in text
    assert "AddressSanitizer in device code on gfx1151" in text


def test_a_failure_shows_its_message_and_how_to_see_it_again() -> None:
    text = sections(markdown(BROKEN)).by_title["Failures"]
    assert "pos=0 q=4 accepted=3 tensor=0 row=0 column=0" in text
    assert "nox -s cpu-sanitize -- --case 'sync/width4'" in text


def test_one_defect_on_two_lanes_is_one_entry() -> None:
    other = FAILED.model_copy(update={"target": "other"})
    text = sections(markdown(qualification(Verdict.NOT_QUALIFIED, FAILED, other))).by_title["Failures"]
    assert text.count("pos=0 q=4") == 1
    assert "also on other/ds4-rollback" in text


def test_skips_say_whether_they_were_expected() -> None:
    skips = (
        Skip(case="hip_only", said="no HIP", expected=True, reason="needs a HIP device"),
        Skip(case="two_gpus", said="one GPU", expected=False, reason=""),
    )
    broken = lane("rtx3090", LaneVerdict.FAILED, reasons=("1 unexpected skip",), skips=skips)
    text = markdown(qualification(Verdict.NOT_QUALIFIED, broken))
    assert "`hip_only`: expected: needs a HIP device. It said: no HIP" in text
    assert "`two_gpus`: **unexpected**. It said: one GPU" in text


@pytest.mark.parametrize("found", [FRESH, BROKEN], ids=["fresh", "broken"])
def test_the_summary_fits_eighty_columns(found: Qualification) -> None:
    text = report.terminal_summary(found, Path("reports/runs/x"), width=80, color=False)
    lines = text.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert found.verdict in lines[1]
    assert all(any(entry.id in line for line in lines) for entry in found.lanes)
    assert lines[-1] == "report: reports/runs/x/qualification.md"


def test_colours_only_where_they_are_wanted() -> None:
    folder = Path("x")
    assert "\x1b[" not in report.terminal_summary(FRESH, folder, width=80, color=False)
    assert "\x1b[" in report.terminal_summary(FRESH, folder, width=80, color=True)


def test_the_json_is_as_its_schema_says_and_reads_back(tmp_path: Path) -> None:
    report.write(BROKEN, tmp_path)
    text = (tmp_path / "qualification.json").read_text()
    schema = json.loads((Path(__file__).parents[2] / "harness/qualification.schema.json").read_text())
    jsonschema.validate(json.loads(text), schema)
    assert Qualification.model_validate_json(text) == BROKEN
    assert {"verdict", "revision", "reasons", "lanes"} <= set(json.loads(text))
    assert (tmp_path / "qualification.md").read_text() == markdown(BROKEN)


def test_the_same_qualification_gives_the_same_bytes() -> None:
    assert markdown(FRESH) == markdown(FRESH.model_copy(deep=True))


def test_claims_are_said_together_only_where_they_are_open_on_the_same_lanes() -> None:
    """Ten lanes are more than a sentence names; the claims of two different tens must not run together."""

    def open_claim(title: str) -> ClaimResult:
        return ClaimResult(claim=title, state=ClaimState.NOT_ESTABLISHED, reason="nothing was observed")

    def open_lane(number: int, *titles: str) -> LaneQualification:
        claims = tuple(map(open_claim, titles))
        return lane(f"t{number}", LaneVerdict.INCOMPLETE, counts=Counts(planned=1, executed=1), claims=claims)

    lanes = [open_lane(number, "device", "fresh") for number in range(9)]
    lanes += [open_lane(20, "device"), open_lane(21, "fresh")]
    text = sections(markdown(qualification(Verdict.INCOMPLETE, *lanes))).by_title["Not established"]
    assert [line.split(" on ")[0] for line in text.splitlines() if line] == ["- device", "- fresh"]
