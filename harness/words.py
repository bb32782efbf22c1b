"""The closed vocabularies of the project, each with the meaning that the reports give it."""

from __future__ import annotations

from enum import StrEnum


class Backend(StrEnum):
    """What a target is programmed with."""

    CUDA = "cuda"
    HIP = "hip"
    CPU = "cpu"


class CopyMode(StrEnum):
    """How a kernel suite moves state between device and staging memory."""

    SYNC = "sync"
    ASYNC = "async"
    PINNED = "pinned"
    DEVICE = "device"


class Sanitizer(StrEnum):
    """A check that a compiler can build into a program."""

    ADDRESS = "address"
    UNDEFINED = "undefined"
    THREAD = "thread"


class SanitizerCheck(StrEnum):
    """A part of a sanitizer that a target may switch off, which the report then discloses."""

    VPTR = "vptr"
    LEAK = "leak"


class Execution(StrEnum):
    """Whether a case ran on the thing itself or on an imitation of it."""

    REAL = "real"
    EMULATED = "emulated"


class Outcome(StrEnum):
    """What became of one case."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    FLAKY = "flaky"
    MISSING = "missing"


class ClaimState(StrEnum):
    """What the witnesses of a claim add up to."""

    ESTABLISHED = "established"
    CONTRADICTED = "contradicted"
    NOT_ESTABLISHED = "not established"
    NOT_APPLICABLE = "not applicable"


class LaneVerdict(StrEnum):
    """The judgement of one lane."""

    QUALIFIED = "qualified"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


class Verdict(StrEnum):
    """The judgement of a whole matrix for one revision."""

    QUALIFIED = "QUALIFIED"
    INCOMPLETE = "INCOMPLETE"
    NOT_QUALIFIED = "NOT QUALIFIED"
