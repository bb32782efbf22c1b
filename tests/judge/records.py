"""Records of lanes for the tests of the judge: everything was shown; each test takes something away."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from harness import claims
from harness.claims import Claim, claims_of
from harness.evidence.model import CaseRecord, Evidence, Finding, HostRecord, Observation, Revision, State
from harness.evidence.rows import Row
from harness.judge.verdicts import judge_lane, qualification_of
from harness.matrix.lanes import Lane, all_lanes, matrix_entry_digest
from harness.matrix.model import ExpectedSkip, Matrix
from harness.words import CopyMode, Execution, LaneVerdict, Outcome

if TYPE_CHECKING:
    from harness.evidence.store import LaneRecord
    from harness.judge.qualification import Qualification

REVISION = Revision(commit="a" * 40, tree="b" * 40)
NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)

MATRIX = Matrix.model_validate(
    {
        "version": 1,
        "targets": {
            "cpu": {"backend": "cpu", "sanitizers": {"on": ["address"]}},
            "gpu": {"backend": "cuda", "arch": "sm_86"},
            "extra": {"backend": "cuda", "arch": "sm_90", "required": False},
            "amd": {"backend": "hip", "arch": "gfx1151"},
        },
        "suites": {
            "suite": {
                "kernels": "kernels/suite",
                "copy_modes": {"cpu": ["sync"], "cuda": ["sync", "pinned"], "hip": ["sync"]},
                "establish": {"transactions_per_copy_mode": 10, "pinned": "verified"},
            }
        },
    }
)
CPU, GPU, EXTRA, AMD = all_lanes(MATRIX)


def case(name: str = "sync/a") -> CaseRecord:
    return CaseRecord(name=name, mode=CopyMode.SYNC, group="sweep", execution=Execution.REAL, transactions=10)


def row(outcome: Outcome = Outcome.PASSED, name: str = "sync/a") -> Row:
    return Row("cpu/suite", name, outcome, message=f"{outcome} said so")


def saw(
    claim: Claim, witness: str, finding: Finding = Finding.CONFIRMS, value: int | None = None
) -> Observation:
    return Observation(
        claim=claim.name,
        subject=claim.subject,
        witness=witness,
        finding=finding,
        text=f"{witness}: {finding}",
        value=claim.least if value is None else value,
    )


def everything(lane: Lane) -> tuple[Observation, ...]:
    """Observations by which every claim of a lane is established (freshness is the judge's own)."""
    return tuple(
        saw(claim, witness)
        for claim in claims_of(lane)
        for witness in claim.witnesses
        if claim.name != claims.FRESH
    )


def evidence(lane: Lane = CPU, **changes: object) -> Evidence:
    known = {
        "harness_version": "1",
        "run": "run",
        "target": lane.target_name,
        "suite": lane.suite_name,
        "nonce": "n",
        "state": State.FINISHED,
        "revision": REVISION,
        "matrix_entry": matrix_entry_digest(lane),
        "host": HostRecord(system="", release="", machine="", python=""),
        "planned": (case(),),
        "observations": everything(lane),
        "exit_status": 0,
        "started": NOW,
        "ended": NOW + dt.timedelta(seconds=2),
    }
    return Evidence.model_validate({**known, **changes})


def judge(matrix: Matrix, records: dict[str, LaneRecord]) -> Qualification:
    """Judge all lanes of a matrix; a lane without a record was not part of the run."""
    lanes = [
        judge_lane(lane, records.get(lane.id), matrix.expected_skips, revision=REVISION, now=NOW)
        for lane in all_lanes(matrix)
    ]
    return qualification_of(matrix, lanes, revision=REVISION, run="r", now=NOW, harness_version="1")


def verdict(
    record: LaneRecord | None, lane: Lane = CPU, skips: tuple[ExpectedSkip, ...] = ()
) -> tuple[LaneVerdict, str]:
    judged = judge_lane(lane, record, skips, revision=REVISION, now=NOW)
    return judged.verdict, judged.reasons[0] if judged.reasons else ""
