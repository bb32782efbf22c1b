"""Which device a lane ran on, as the runtime in the test processes and the operating system say it."""

from __future__ import annotations

import itertools
import platform
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness import claims
from harness.evidence.model import DeviceRecord, Finding, Observation
from harness.words import Backend

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.evidence.rows import Row
    from harness.matrix.model import Target

DEVICE_VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HSA_OVERRIDE_GFX_VERSION",
    "HSA_XNACK",
)
"""Environment variables that hide, reorder or rename devices."""

_MACHINES = {"amd64": "x86-64", "x86_64": "x86-64", "arm64": "aarch64"}


def device_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the variables that change devices which are set, the numbered overrides included."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if name in DEVICE_VARIABLES or name.startswith("HSA_OVERRIDE_GFX_VERSION_")
    }


def mismatch(device: DeviceRecord, target: Target) -> str:
    """Say why a device is not the one that a target declares; "" if it is."""
    wanted = target.device
    if target.arch is not None and device.arch != target.arch:
        return f"{device.name} is {device.arch}, not {target.arch}"
    if wanted.name is not None and not fnmatchcase(device.name, wanted.name):
        return f"the name is {device.name!r}, not {wanted.name!r}"
    if wanted.pci is not None and device.pci != wanted.pci:
        return f"the PCI address is {device.pci}, not {wanted.pci}"
    if wanted.uuid is not None and device.uuid != wanted.uuid:
        return f"the UUID is {device.uuid}, not {wanted.uuid}"
    if wanted.min_memory_gib is not None and (device.memory_bytes or 0) < wanted.min_memory_gib * 2**30:
        return f"it has {(device.memory_bytes or 0) / 2**30:.1f} GiB, less than {wanted.min_memory_gib:g}"
    return ""


def choose(devices: Sequence[DeviceRecord], target: Target) -> tuple[DeviceRecord | None, str]:
    """Pick the first device that is the declared one, by identity and never by index.

    The second value says why there is none.
    """
    for device in devices:
        if not mismatch(device, target):
            return device, ""
    if not devices:
        return None, f"no {backend_title(target.backend)} device here"
    return None, "; ".join(mismatch(device, target) for device in devices)


def backend_title(backend: Backend) -> str:
    """The backend as people write it."""
    return {Backend.CUDA: "CUDA", Backend.HIP: "HIP", Backend.CPU: "CPU"}[backend]


def observe_runtime(target: Target, rows: Iterable[Row]) -> Observation | None:
    """What the test processes themselves said about the device they ran on, all rows taken together.

    Rows of two different devices contradict the claim, and so does a device
    that is not the declared one.  None if no row named a device.
    """
    seen: dict[str, DeviceRecord] = {}
    for row in rows:
        device = row.observed.device
        if device is not None:
            seen.setdefault(device.identity, device)
    if not seen:
        return None
    if len(seen) > 1:
        return _observation(Finding.DENIES, f"rows come from {len(seen)} devices: {', '.join(sorted(seen))}")
    device = next(iter(seen.values()))
    wrong = mismatch(device, target)
    if wrong:
        return _observation(Finding.DENIES, wrong)
    return _observation(Finding.CONFIRMS, f"every row ran on {device.name} ({device.arch})")


def _observation(finding: Finding, text: str) -> Observation:
    return Observation(claim=claims.DEVICE, witness=claims.RUNTIME, finding=finding, text=text)


def observe_exclusive(rows: Iterable[Row]) -> Observation | None:
    """Contradict the device claim if two cases of a GPU lane ran at once; None if none did.

    A scheduler was asked to keep them apart; this looks at when they really ran.
    """
    spans = sorted(
        (row.observed.started, row.observed.ended, row.name)
        for row in rows
        if row.observed.started is not None and row.observed.ended is not None
    )
    for (_, ended_first, first), (started_second, _, second) in itertools.pairwise(spans):
        if started_second < ended_first:
            return _observation(Finding.DENIES, f"{first} and {second} ran on one device at the same time")
    return None


def observe_system(target: Target, driver_arch: str) -> Observation:
    """What the operating system says about the device, compared with what the driver was built for."""
    if target.backend is not Backend.CPU:
        return Observation(
            claim=claims.DEVICE,
            witness=claims.SYSTEM,
            finding=Finding.SILENT,
            text="this version does not ask the operating system about GPUs",
        )
    here = machine()
    agrees = here == driver_arch and target.arch in (None, here)
    return Observation(
        claim=claims.DEVICE,
        witness=claims.SYSTEM,
        finding=Finding.CONFIRMS if agrees else Finding.DENIES,
        text=f"the kernel calls this machine {here}"
        + (
            ""
            if agrees
            else f", the driver was built for {driver_arch}, the target is {target.arch or 'any'}"
        ),
    )


def machine() -> str:
    """This machine's architecture in the words of the matrix: x86-64, aarch64."""
    name = platform.machine()
    return _MACHINES.get(name.lower(), name)
