"""What a lane has to show: its claims, and the witnesses that each of them needs.

All of it follows from the matrix alone.  The names are those that witnesses
sign their observations with and that reports print.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.words import CopyMode

if TYPE_CHECKING:
    from harness.matrix.lanes import Lane

DEVICE = "device"
NATIVE_CODE = "native code"
PINNED = "pinned memory"
SANITIZER = "sanitizer"
COVERAGE = "coverage"
FRESH = "fresh"

RUNTIME = "runtime in the test process"
SYSTEM = "operating system"
ONE_AT_A_TIME = "times of the cases on the device"
BINARY = "code objects in the binary"
LOADED = "code object that was loaded"
POINTER = "pointer attributes in the test process"
COPY_RECORD = "independent record of the copies"
CANARY = "canary: pageable memory claimed as pinned"
CENSUS = "census of the instrumented objects"
PLANTED = "planted defects reported by this build"
DRIVER = "transactions counted by the driver"
ORACLE = "transactions verified by the oracle"
REVISION = "revision and input digests"

JUDGED = frozenset({REVISION})
"""Witnesses that the judge itself is: what they see is in the record as a whole."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a lane has to show, with all witnesses that it needs.

    `least` is the count that each witness must reach, for claims that count.
    """

    name: str
    witnesses: tuple[str, ...]
    subject: str = ""
    least: int | None = None


def claims_of(lane: Lane) -> tuple[Claim, ...]:
    """All claims of a lane, from the matrix alone, in the order of the report."""
    gpu = lane.target.backend.has_device
    found = [
        Claim(DEVICE, (RUNTIME, SYSTEM, ONE_AT_A_TIME) if gpu else (RUNTIME, SYSTEM)),
        Claim(NATIVE_CODE, (BINARY, LOADED) if gpu else (BINARY,)),
    ]
    if lane.target.sanitizers is not None:
        found.extend(
            Claim(SANITIZER, (CENSUS, PLANTED), subject=which) for which in lane.target.sanitizers.on
        )
    if lane.suite.pinned_verified and CopyMode.PINNED in lane.copy_modes:
        found.append(Claim(PINNED, (POINTER, COPY_RECORD, CANARY)))
    least = lane.suite.transactions_per_mode
    if least is not None:
        found.extend(Claim(COVERAGE, (DRIVER, ORACLE), subject=mode, least=least) for mode in lane.copy_modes)
    found.append(Claim(FRESH, (REVISION,)))
    return tuple(found)
