"""Names of the claims, of their witnesses, and of the witnesses that this version does not have."""

from __future__ import annotations

DEVICE = "device"
NATIVE_CODE = "native code"
PINNED = "pinned memory"
SANITIZER = "sanitizer"
COVERAGE = "coverage"
FRESH = "fresh"

RUNTIME = "runtime in the test process"
SYSTEM = "operating system"
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

ARCHITECTURE_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
"""With this variable, or with a number of a device behind it, a HIP device calls itself something else."""

NOT_BUILT_YET = {
    LOADED: "this version has no witness for it",
    COPY_RECORD: "this version has no witness for it",
    CANARY: "this version has no witness for it",
}
"""Witnesses that a claim needs and that this version cannot provide: such a claim stays open."""
