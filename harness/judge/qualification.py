"""The judgement of a matrix for one revision: the model behind every report and `qualification.json`."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.evidence.model import DeviceRecord, Finding, NotRun, Revision, ToolchainRecord
from harness.words import (
    Backend,
    ClaimState,
    CopyMode,
    Execution,
    LaneVerdict,
    Sanitizer,
    SanitizerCheck,
    Verdict,
)


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Counts(_Record):
    """Cases of a lane by outcome: one case, one outcome."""

    planned: Annotated[
        int, Field(description="cases that were to run; 0 where the driver could not be asked")
    ] = 0
    executed: int = 0
    passed: int = 0
    failed: int = 0
    error: int = 0
    skipped: int = 0
    xfailed: int = 0
    missing: int = 0


class WitnessResult(_Record):
    """What one witness of a claim said; `silent` where it was not there."""

    witness: str
    finding: Finding
    text: str


class ClaimResult(_Record):
    """A claim of a lane and what its witnesses add up to."""

    claim: str
    subject: Annotated[str, Field(description="part of the claim, as a copy mode")] = ""
    state: ClaimState
    reason: str
    witnesses: tuple[WitnessResult, ...] = ()

    @property
    def title(self) -> str:
        """`coverage (sync)` or `device`."""
        return f"{self.claim} ({self.subject})" if self.subject else self.claim


class CopyModeResult(_Record):
    """How far a copy mode of a lane was covered."""

    mode: CopyMode
    execution: Execution
    transactions: Annotated[int, Field(description="distinct ones that driver and oracle both verified")]
    required: int | None
    memory: Annotated[
        str, Field(description="kind of the staging memory as observed, or why it is not known")
    ]


class Failure(_Record):
    """A case that failed, with what a person needs to see it again."""

    case: str
    outcome: str
    message: str
    details: str = ""
    reproduce: tuple[str, ...] = ()


class Skip(_Record):
    """A skipped case and the reason the matrix gives for it, if it gives one."""

    case: str
    said: str
    expected: bool
    reason: str


class LaneQualification(_Record):
    """One lane: verdict, reasons and everything that a reader asks next."""

    target: str
    suite: str
    session: str
    backend: Backend
    arch: str | None
    required: bool
    verdict: LaneVerdict
    reasons: tuple[str, ...]
    not_run: NotRun | None = None
    hint: str = ""
    declared_device: str
    devices: tuple[DeviceRecord, ...] = ()
    built: Annotated[bool, Field(description="the program was built and inspected")] = False
    toolchain: ToolchainRecord | None = None
    architectures: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    sanitizers: Annotated[tuple[Sanitizer, ...], Field(description="those that the target asks for")] = ()
    switched_off: Annotated[
        tuple[SanitizerCheck, ...], Field(description="checks of theirs that were off")
    ] = ()
    counts: Counts = Counts()
    exit_status: int | None = None
    execution: Execution = Execution.REAL
    selection: tuple[str, ...] = ()
    claims: tuple[ClaimResult, ...] = ()
    copy_modes: tuple[CopyModeResult, ...] = ()
    failures: tuple[Failure, ...] = ()
    skips: tuple[Skip, ...] = ()
    revision: Revision | None = None
    input_files: int = 0
    started: dt.datetime | None = None
    seconds: float | None = None
    folder: Annotated[str, Field(description="lane folder, relative to the run's")] = ""

    @property
    def id(self) -> str:
        """`target/suite`."""
        return f"{self.target}/{self.suite}"


class Qualification(_Record):
    """The verdicts of all lanes of a matrix for one revision."""

    schema_version: Literal[1] = 1
    verdict: Verdict
    revision: Revision
    run: str
    created: dt.datetime
    harness_version: str
    reasons: tuple[str, ...]
    lanes: tuple[LaneQualification, ...]
    not_claimed: tuple[str, ...] = ()
