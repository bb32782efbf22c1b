"""The closed vocabularies of the project, each with the meaning that the reports give it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """All that the program has to know of a backend besides how it is built (`harness/build/<backend>.py`).

    `masks` are environment variables that hide its devices (all of them when
    empty), `changes` others that reorder or share them, and `renames` one, also
    with `_` and a number behind it, by which a device calls itself something
    else.  `no_sanitizers` says why a target
    cannot ask for sanitizers, `plain_device_code` why the host's sanitizers
    stop at the device; both are empty where that is not so.
    """

    title: str
    architecture: str
    examples: str
    has_device: bool = True
    masks: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    renames: str = ""
    no_sanitizers: str = ""
    plain_device_code: str = ""


class Backend(StrEnum):
    """What a target is programmed with."""

    facts: BackendFacts

    def __new__(cls, word: str, facts: BackendFacts) -> Backend:
        """Make a member of its word and what is known of it."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.facts = facts
        return member

    CUDA = (
        "cuda",
        BackendFacts(
            title="CUDA",
            architecture=r"^sm_\d{2,3}[af]?$",
            examples="sm_86, sm_90, sm_120, …",
            masks=("CUDA_VISIBLE_DEVICES",),
            changes=("CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"),
            no_sanitizers="sanitizers of a cuda target are not supported; use a cpu target",
        ),
    )
    HIP = (
        "hip",
        BackendFacts(
            title="HIP",
            architecture=r"^gfx[0-9a-f]{3,4}$",
            examples="gfx1201, gfx1151, gfx942, …",
            masks=("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
            changes=("GPU_DEVICE_ORDINAL", "HSA_XNACK"),
            renames="HSA_OVERRIDE_GFX_VERSION",
            plain_device_code="no compiler can instrument that code",
        ),
    )
    CPU = (
        "cpu",
        BackendFacts(
            title="CPU",
            architecture=r"^(x86-64|aarch64)$",
            examples="x86-64, aarch64",
            has_device=False,
        ),
    )

    @property
    def has_device(self) -> bool:
        """Whether its programs need a device apart from the processor."""
        return self.facts.has_device


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
    MISSING = "missing"


class ClaimState(StrEnum):
    """What the witnesses of a claim add up to."""

    ESTABLISHED = "established"
    CONTRADICTED = "contradicted"
    NOT_ESTABLISHED = "not established"


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
