"""The model of `matrix.yaml`: what may be declared, and its JSON Schema.

The classes are the only truth about the file: `harness.schema` generates the
published schema from them and `harness.matrix.load` reads YAML into them.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import core_schema

from harness.suites.keys import DEFAULT_KIND, KINDS, Keys, SuiteKeys, Text, keys_of, refuse_repetition
from harness.words import Backend, Sanitizer, SanitizerCheck

if TYPE_CHECKING:
    from enum import StrEnum

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
PCI_PATTERN = r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$"

# Far more than any matrix has; they bound what a hostile or generated file can cost.
MOST_NAMES = 500
MOST_ENTRIES = 1000

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
"""A target's or a suite's name: it becomes a folder, a nox session and a part of every row."""


class NeedsKeyError(ValueError):
    """An object is right as far as it goes and lacks a key that another of its keys asks for."""

    def __init__(self, key: str, text: str) -> None:
        super().__init__(text)
        self.key = key


class Device(Keys):
    """The device that must be found; what is given must match on every route that can know it."""

    name: Annotated[Text | None, Field(description="name as the runtime gives it; * and ? match")] = None
    pci: Annotated[
        str | None,
        Field(description="PCI address, 0000:01:00.0", pattern=PCI_PATTERN),
    ] = None
    uuid: Annotated[Text | None, Field(description="UUID as the runtime gives it")] = None
    min_memory_gib: Annotated[float | None, Field(description="least memory in GiB", gt=0)] = None


class Sanitizers(Keys):
    """What is built into the program, and which of their checks are off (the report says so)."""

    on: Annotated[tuple[Sanitizer, ...], Field(description="sanitizers that must be active", min_length=1)]
    off: Annotated[
        tuple[SanitizerCheck, ...], Field(description="checks of theirs that are switched off")
    ] = ()

    @field_validator("on", "off")
    @classmethod
    def _named_once(cls, words: tuple[StrEnum, ...]) -> tuple[StrEnum, ...]:
        refuse_repetition(words)
        return words

    @model_validator(mode="after")
    def _compatible(self) -> Sanitizers:
        if {Sanitizer.ADDRESS, Sanitizer.THREAD} <= set(self.on):
            raise ValueError("address and thread cannot be built into one program: use two targets")
        return self


def _architectures_by_backend(schema: dict[str, Any]) -> None:
    """Say in the schema, too, which architectures belong to which backend, so that editors know."""
    schema["allOf"] = [
        {
            "if": {"properties": {"backend": {"const": backend.value}}},
            "then": {
                "properties": {"arch": {"pattern": backend.facts.architecture}},
                **({"required": ["arch"]} if backend.has_device else {}),
            },
        }
        for backend in Backend
    ]


class Target(Keys):
    """A device as declared: what to build for, and what must be found there."""

    model_config = ConfigDict(json_schema_extra=_architectures_by_backend)

    backend: Annotated[Backend, Field(description="what the target is programmed with")]
    arch: Annotated[str | None, Field(description="exact architecture; needed for cuda and hip")] = None
    device: Annotated[Device, Field(description="the device that must be found")] = Device()
    sanitizers: Annotated[Sanitizers | None, Field(description="sanitizers of this target's build")] = None
    compiler: Annotated[
        Text | None, Field(description="host compiler to use, as a command (g++, clang++-22)")
    ] = None
    session: Annotated[
        Name | None,
        Field(description="nox session that runs it; default: the backend, or the name of a cpu target"),
    ] = None
    required: Annotated[
        bool, Field(description="false: reported, but the overall verdict does not need it")
    ] = True

    @field_validator("arch")
    @classmethod
    def _of_backend(cls, arch: str | None, info: ValidationInfo) -> str | None:
        # A backend that is wrong itself is not among the data.
        backend = info.data.get("backend")
        if arch is not None and backend is not None:
            facts = backend.facts
            if not re.fullmatch(facts.architecture, arch):
                raise ValueError(f"{arch!r} is not an architecture of {backend}; allowed: {facts.examples}")
        return arch

    @field_validator("sanitizers")
    @classmethod
    def _can_be_built(cls, sanitizers: Sanitizers | None, info: ValidationInfo) -> Sanitizers | None:
        backend: Backend | None = info.data.get("backend")
        if sanitizers is not None and backend is not None and backend.facts.no_sanitizers:
            raise ValueError(backend.facts.no_sanitizers)
        return sanitizers

    @model_validator(mode="after")
    def _complete(self) -> Target:
        if self.arch is None and self.backend.has_device:
            examples = self.backend.facts.examples
            raise NeedsKeyError("arch", f"a {self.backend} target needs the key 'arch' ({examples})")
        return self


class _AnyKind:
    """Has pydantic choose a suite's model by its key `kind`."""

    def __get_pydantic_core_schema__(
        self, source: type[SuiteKeys], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.tagged_union_schema(
            {kind: handler.generate_schema(keys_of(kind)) for kind in KINDS}, discriminator=_kind_in
        )


def _kind_in(data: Any) -> str:
    if isinstance(data, SuiteKeys):
        return data.kind
    # What is no mapping at all is refused by the model that it comes to.
    return str(data.get("kind", DEFAULT_KIND)) if isinstance(data, dict) else DEFAULT_KIND


Suite = Annotated[SuiteKeys, _AnyKind()]


class ExpectedSkip(Keys):
    """A skip that is known, with its reason; any other skip is unexpected."""

    lane: Annotated[Text, Field(description="target/suite; * and ? match")]
    case: Annotated[Text, Field(description="name of the case; * and ? match")]
    reason: Annotated[Text, Field(description="why it may skip")]
    until: Annotated[dt.date | None, Field(description="last day on which the skip is expected")] = None


class ContinuousIntegration(Keys):
    """What changes where the environment variable CI is set."""

    may_be_missing: Annotated[
        tuple[Name, ...],
        Field(description="required targets whose device a CI machine need not have", max_length=MOST_NAMES),
    ] = ()


class Matrix(Keys):
    """The whole file."""

    version: Annotated[Literal[1], Field(description="version of this format")]
    targets: Annotated[
        dict[Name, Target], Field(description="devices by name", min_length=1, max_length=MOST_NAMES)
    ]
    suites: Annotated[
        dict[Name, Suite], Field(description="suites by name", min_length=1, max_length=MOST_NAMES)
    ]
    expected_skips: Annotated[
        tuple[ExpectedSkip, ...], Field(description="skips that are known", max_length=MOST_ENTRIES)
    ] = ()
    not_claimed: Annotated[
        tuple[Text, ...], Field(description="what the report says is not claimed", max_length=MOST_ENTRIES)
    ] = ()
    ci: Annotated[ContinuousIntegration, Field(description="rules for continuous integration")] = (
        ContinuousIntegration()
    )

    @cached_property
    def sessions(self) -> dict[str, tuple[str, ...]]:
        """Names of the targets by nox session, both in the order of the file."""
        found: dict[str, list[str]] = {}
        for name, target in self.targets.items():
            found.setdefault(session_of(name, target), []).append(name)
        return {session: tuple(names) for session, names in found.items()}


def session_of(name: str, target: Target) -> str:
    """Name of the nox session that runs a target: its own, else the backend, else a cpu target's name."""
    if target.session is not None:
        return target.session
    return target.backend.value if target.backend.has_device else name
