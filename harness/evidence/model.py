"""What is recorded about one run of one lane: the model of `evidence.json`.

The file is written with `state: running` before the first process of a lane
starts and completed at its end, so a lane that died is seen as died and not as
absent.  Nothing in it is a judgement: `harness.judge` derives those.
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.words import Backend, CopyMode, Execution, Sanitizer

SCHEMA_VERSION = 1

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256")]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class State(StrEnum):
    """How far a lane's run came."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


class Finding(StrEnum):
    """What a witness says about a claim."""

    CONFIRMS = "confirms"
    DENIES = "denies"
    SILENT = "silent"


class NotRun(StrEnum):
    """Why a lane was not run, as a closed list."""

    NO_DEVICE = "no device"
    NO_TOOLCHAIN = "no toolchain"
    BUILD_FAILED = "build failed"
    BUILD_ONLY = "build only"
    LISTING_FAILED = "listing failed"
    NOT_SELECTED = "not selected"


class Revision(_Record):
    """The source that was built.  A dirty tree is its own revision, never the commit's."""

    commit: Annotated[str | None, Field(description="full commit id; null where there is no git")]
    tree: Annotated[str | None, Field(description="tree id of the commit")] = None
    dirty: Annotated[bool, Field(description="the working tree differs from the commit")] = False
    difference: Annotated[
        Digest | None, Field(description="digest of that difference; without git, of all files")
    ] = None
    reason: Annotated[str, Field(description="why there is no commit, where there is none")] = ""

    @property
    def short(self) -> str:
        """For people: `1a2b3c4d5e6f`, with `+ changes (9f8e7d6c)` if dirty, or what is known without git."""
        digest = (self.difference or "")[:8]
        if self.commit is None:
            return f"no commit ({self.reason}; files {digest})" if digest else f"unknown ({self.reason})"
        return f"{self.commit[:12]} + changes ({digest})" if self.dirty else self.commit[:12]


class ToolchainRecord(_Record):
    """What compiled the lane."""

    kind: str
    compiler: str
    version: str
    origin: str


class CensusRecord(_Record):
    """Instrumentation found in the objects of the code under test and in the linked program."""

    objects: int
    instrumented: dict[Sanitizer, int]
    binary: tuple[Sanitizer, ...]
    uninstrumented: tuple[str, ...]


class BuildRecord(_Record):
    """What the build made and what was found in it."""

    toolchain: ToolchainRecord
    driver: Annotated[str, Field(description="the executable, relative to the project where possible")]
    sha256: Digest
    flags: tuple[str, ...]
    architectures: Annotated[tuple[str, ...], Field(description="found by inspecting the executable")]
    census: CensusRecord | None = None
    rebuilt: bool
    seconds: float
    log: str


class DeviceRecord(_Record):
    """A device as one source saw it."""

    source: Annotated[str, Field(description="who says so: runtime, operating system")]
    backend: Backend
    name: str
    arch: str
    uuid: str | None = None
    pci: str | None = None
    memory_bytes: int | None = None
    driver_version: str | None = None
    runtime_version: str | None = None

    @property
    def identity(self) -> str:
        """What tells two devices apart: PCI address, else UUID, else name and architecture."""
        return self.pci or self.uuid or f"{self.name} {self.arch}"


class Observation(_Record):
    """What one witness saw about one claim, inside this lane's run."""

    claim: str
    witness: str
    finding: Finding
    text: str
    subject: Annotated[str, Field(description="part of the claim, as a copy mode; empty: the whole lane")] = (
        ""
    )
    value: Annotated[int | None, Field(description="a count that the judge compares with the matrix")] = None
    execution: Execution = Execution.REAL


class CaseRecord(_Record):
    """A case that was planned, as the driver listed it."""

    name: str
    mode: CopyMode | None
    group: str
    execution: Execution
    transactions: int


class HostRecord(_Record):
    """The machine, as the operating system describes it; information, never a proof of a device."""

    system: str
    release: str
    machine: str
    python: str


class Evidence(_Record):
    """Everything recorded about one run of one lane."""

    schema_version: Literal[1] = 1
    harness_version: str
    run: Annotated[str, Field(description="name of the run's folder")]
    target: str
    suite: str
    kind: Annotated[str, Field(description="kind of the suite, which says how to read its rows")] = "driver"
    nonce: Annotated[
        str, Field(description="fresh for each run; every record of the run's processes carries it")
    ]
    state: State
    revision: Revision
    matrix_entry: Annotated[Digest, Field(description="digest of what the matrix says about this lane")]
    changed_meanwhile: Annotated[
        tuple[str, ...], Field(description="files of the project that changed while the lane ran")
    ] = ()
    inputs: Annotated[dict[str, Digest], Field(description="digest of each file that the build read")] = {}
    build: BuildRecord | None = None
    not_run: NotRun | None = None
    reason: Annotated[str, Field(description="why it was not run or not finished, in a sentence")] = ""
    hint: Annotated[str, Field(description="what to do about it")] = ""
    devices: tuple[DeviceRecord, ...] = ()
    environment: Annotated[
        dict[str, str], Field(description="variables that were set and change devices")
    ] = {}
    host: HostRecord
    executor: str = "local"
    execution: Execution = Execution.REAL
    selection: Annotated[
        tuple[str, ...], Field(description="filters of a partial run; empty: all cases")
    ] = ()
    planned: tuple[CaseRecord, ...] = ()
    command: tuple[str, ...] = ()
    started: dt.datetime
    ended: dt.datetime | None = None
    exit_status: Annotated[int | None, Field(description="of the runner; negative: ended by that signal")] = (
        None
    )
    observations: tuple[Observation, ...] = ()

    @property
    def lane(self) -> str:
        """`target/suite`."""
        return f"{self.target}/{self.suite}"

    @property
    def seconds(self) -> float | None:
        """Wall time of the lane, or None if it did not end."""
        return None if self.ended is None else (self.ended - self.started).total_seconds()
