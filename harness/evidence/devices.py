"""Whether a device is the one that a target declares, and which variables change what devices there are."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness.words import Backend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.evidence.model import DeviceRecord
    from harness.matrix.model import Target


def device_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of the variables that hide, reorder or rename devices which are set."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if any(_changes(name, backend) for backend in Backend)
    }


def _changes(variable: str, backend: Backend) -> bool:
    return variable in (*backend.facts.masks, *backend.facts.changes) or renames(variable, backend)


def renames(variable: str, backend: Backend) -> bool:
    """Whether a variable, or one for a single device, has devices of a backend call themselves otherwise."""
    word = backend.facts.renames
    return bool(word) and (variable == word or variable.startswith(f"{word}_"))


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
        return None, f"no {target.backend.facts.title} device here"
    return None, "; ".join(mismatch(device, target) for device in devices)
