"""Asking a driver (docs/driver.md) for its cases and its devices."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.evidence.model import CaseRecord, DeviceRecord
from harness.suites.protocol import SuiteError
from harness.system import process
from harness.words import Backend, Sanitizer

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_DEVICE = 77
"""Exit status of a driver that found no device."""

_ASK_TIMEOUT_S = 120.0
"""A runtime that initialises many devices can take tens of seconds; one that hangs must not take for ever."""

_MOST_BYTES = 16 << 20


class DriverError(SuiteError):
    """A driver that crashed, hung or answered something that docs/driver.md does not allow."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


_Answer = TypeVar("_Answer", bound=_Message)


class Case(_Message):
    """A case as a driver lists it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._/=-]{1,200}$")]
    mode: Literal["sync", "async", "pinned", "device"] | None
    group: str
    execution: Literal["real", "emulated"]
    transactions: Annotated[int, Field(ge=0)]

    @field_validator("name")
    @classmethod
    def _path(cls, name: str) -> str:
        """Names become paths below the lane folder."""
        if name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
            raise ValueError("a case's name must be a relative path without . and ..")
        return str(PurePosixPath(name))

    def record(self) -> CaseRecord:
        """The case as it goes into evidence."""
        return CaseRecord.model_validate(self.model_dump())


class Plant(_Message):
    """A deliberate defect, and how the sanitizer must report it."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,60}$")]
    sanitizer: Sanitizer
    report: str
    file: str
    line: Annotated[int, Field(ge=1)]


class Listing(_Message):
    """The answer to `--list`."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    suite: str
    backend: Backend
    cases: tuple[Case, ...]
    plants: tuple[Plant, ...] = ()

    @field_validator("cases")
    @classmethod
    def _unique(cls, cases: tuple[Case, ...]) -> tuple[Case, ...]:
        if len({case.name for case in cases}) != len(cases):
            raise ValueError("two cases have the same name")
        return cases


class _Device(_Message):
    index: int
    name: str
    arch: str
    uuid: str | None = None
    pci: str | None = None
    memory_bytes: int | None = None


class Devices(_Message):
    """The answer to `--devices`."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    backend: Backend
    status: int = 0
    status_name: str = ""
    driver_version: str | None = None
    runtime_version: str | None = None
    devices: tuple[_Device, ...] = ()

    def records(self) -> tuple[DeviceRecord, ...]:
        """The devices as evidence, with the runtime as their source."""
        return tuple(
            DeviceRecord(
                source="runtime",
                backend=self.backend,
                name=device.name,
                arch=device.arch,
                uuid=device.uuid or None,
                pci=device.pci or None,
                memory_bytes=device.memory_bytes,
                driver_version=self.driver_version,
                runtime_version=self.runtime_version,
            )
            for device in self.devices
        )


def list_cases(driver: Path, environment: Mapping[str, str]) -> Listing:
    """Ask a driver for its cases; raises DriverError."""
    return _ask(driver, "--list", environment, Listing, allowed=(0,))


def list_devices(driver: Path, environment: Mapping[str, str]) -> Devices:
    """Ask a driver for its devices; raises DriverError.  No device is an answer, not an error."""
    return _ask(driver, "--devices", environment, Devices, allowed=(0, NO_DEVICE))


def _ask(
    driver: Path,
    option: str,
    environment: Mapping[str, str],
    answer: type[_Answer],
    *,
    allowed: tuple[int, ...],
) -> _Answer:
    asked = f"{driver} {option}"
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        out, err = Path(scratch, "out"), Path(scratch, "err")
        try:
            ended = process.run(
                [str(driver), option],
                output=out,
                errors=err,
                environment=environment,
                timeout_s=_ASK_TIMEOUT_S,
            )
        except OSError as error:
            raise DriverError(f"{asked}: cannot be started: {error.strerror}") from error
        if ended.timed_out or ended.status not in allowed:
            raise DriverError(f"{asked}: {ended.text}{_said(process.tail(err))}")
        if out.stat().st_size > _MOST_BYTES:
            raise DriverError(f"{asked}: answered with more than {_MOST_BYTES >> 20} MiB")
        text = out.read_bytes()
    try:
        return answer.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DriverError(
            f"{asked}: not an answer as docs/driver.md wants it: {where} {first['msg']}".strip()
        ) from error


def _said(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return f": {lines[-1].strip()}" if lines else ""
