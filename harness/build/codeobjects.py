"""Which architectures a program holds code for, read from the program itself.

CUDA keeps its device code in fat binaries in the section `.nv_fatbin`; HIP in
clang's offload bundles in `.hip_fatbin`.  What cannot be read is reported as
`unreadable`, so that it can never pass for the architecture that was wanted.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNREADABLE = "unreadable"

_EM_CUDA = 190
_EM_AMDGPU = 224

_HOST = {"EM_X86_64": "x86-64", "EM_AARCH64": "aarch64"}

_FATBIN_MAGIC = 0xBA55ED50
_FATBIN_HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of all entries
_FATBIN_ENTRY = struct.Struct("<HHIQIIHHI8xQ")
"""Kind, …, bytes of this header, bytes of the payload, …, minor, major, architecture, …, flags."""
_ARCH_SPECIFIC, _FAMILY_SPECIFIC = 1 << 20, 1 << 21
_PTX, _CUBIN = 1, 2

_BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
_COMPRESSED = re.compile(rb"CCOB[\x01-\x03]\x00")
_MOST_ENTRIES = 1024

_AMDGPU = {
    0x2C: "gfx900",
    0x2F: "gfx906",
    0x30: "gfx908",
    0x3F: "gfx90a",
    0x4C: "gfx942",
    0x4F: "gfx950",
    0x33: "gfx1010",
    0x36: "gfx1030",
    0x37: "gfx1031",
    0x38: "gfx1032",
    0x41: "gfx1100",
    0x46: "gfx1101",
    0x47: "gfx1102",
    0x44: "gfx1103",
    0x43: "gfx1150",
    0x4A: "gfx1151",
    0x55: "gfx1152",
    0x58: "gfx1153",
    0x48: "gfx1200",
    0x4E: "gfx1201",
    0x32: "gfx90c",
    0x3E: "gfx1034",
    0x49: "gfx1250",
    0x5A: "gfx1251",
    0x51: "gfx9-generic",
    0x5F: "gfx9-4-generic",
    0x52: "gfx10-1-generic",
    0x53: "gfx10-3-generic",
    0x54: "gfx11-generic",
    0x59: "gfx12-generic",
}
"""EF_AMDGPU_MACH values of LLVM's AMDGPU documentation; a generic target is not its exact device."""


def host(path: Path) -> tuple[str, ...]:
    """Architecture of the program itself, in the words of the matrix."""
    try:
        with path.open("rb") as file:
            machine = str(ELFFile(file)["e_machine"])
    except (OSError, ELFError):
        return (UNREADABLE,)
    return (_HOST.get(machine, machine),)


def cuda(path: Path) -> tuple[str, ...]:
    """`sm_86` for each cubin and `compute_86` for each PTX text in a program, sorted."""
    return _sorted(
        found for data in _sections(path, (".nv_fatbin", "__nv_relfatbin")) for found in fatbin(data)
    )


def hip(path: Path) -> tuple[str, ...]:
    """`gfx1201` for each code object in a program, sorted."""
    return _sorted(found for data in _sections(path, (".hip_fatbin",)) for found in bundles(data))


def _sorted(found: Iterator[str]) -> tuple[str, ...]:
    return tuple(sorted(set(found)))


def _sections(path: Path, names: tuple[str, ...]) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            for name in names:
                section = elf.get_section_by_name(name)
                if section is not None:
                    yield section.data()
    except (OSError, ELFError):
        yield b"\xff"


def fatbin(data: bytes) -> Iterator[str]:
    """Architectures in the fat binaries of a section; `unreadable` for whatever is none."""
    offset = 0
    while offset < len(data):
        if not data[offset : offset + 8].strip(b"\0"):
            offset += 8
            continue
        try:
            magic, _, header, size = _FATBIN_HEADER.unpack_from(data, offset)
        except struct.error:
            yield UNREADABLE
            return
        end = offset + header + size
        if magic != _FATBIN_MAGIC or header < _FATBIN_HEADER.size or end > len(data):
            yield UNREADABLE
            return
        yield from _fatbin_entries(data[offset + header : end])
        offset = end


def _fatbin_entries(data: bytes) -> Iterator[str]:
    offset = 0
    while offset + _FATBIN_ENTRY.size <= len(data):
        kind, _, header, size, _, _, _, _, arch, flags = _FATBIN_ENTRY.unpack_from(data, offset)
        if header < _FATBIN_ENTRY.size or offset + header + size > len(data):
            yield UNREADABLE
            return
        payload = data[offset + header : offset + header + size]
        if kind == _CUBIN:
            # A compressed cubin is no ELF file here; its entry's header names the architecture.
            name = _cubin(payload) if payload.startswith(b"\x7fELF") else f"sm_{arch}"
            yield f"{name}{_suffix(flags)}" if name != UNREADABLE else name
        elif kind == _PTX:
            yield f"compute_{arch}{_suffix(flags)}"
        else:
            yield UNREADABLE
        offset += header + size


def _suffix(flags: int) -> str:
    """`a` for code of one architecture's own features, `f` for those of its family (sm_90a, sm_120f)."""
    if flags & _ARCH_SPECIFIC:
        return "a"
    return "f" if flags & _FAMILY_SPECIFIC else ""


def _cubin(data: bytes) -> str:
    """Architecture of a cubin from its ELF header: the ABI version says where in e_flags it is."""
    machine = _elf_field(data, 18, "<H")
    flags = _elf_field(data, 48, "<I")
    if machine != _EM_CUDA or flags is None:
        return UNREADABLE
    new_abi = data[8] >= 8
    number = (flags >> 8) & 0xFF if new_abi else flags & 0xFF
    return f"sm_{number}"


def bundles(data: bytes) -> Iterator[str]:
    """Architectures in the offload bundles of a section; `unreadable` for what is compressed or broken."""
    if _COMPRESSED.search(data):
        yield UNREADABLE
    start = data.find(_BUNDLE_MAGIC)
    if start < 0 and data.strip(b"\0"):
        yield UNREADABLE
    while start >= 0:
        yield from _bundle(data[start:])
        start = data.find(_BUNDLE_MAGIC, start + len(_BUNDLE_MAGIC))


def _bundle(data: bytes) -> Iterator[str]:
    position = len(_BUNDLE_MAGIC)
    try:
        (count,) = struct.unpack_from("<Q", data, position)
        position += 8
        for _ in range(min(count, _MOST_ENTRIES)):
            offset, size, length = struct.unpack_from("<QQQ", data, position)
            position += 24
            target = data[position : position + length]
            position += length
            if not target.startswith(b"host"):
                yield _amdgpu(data[offset : offset + size])
    except struct.error:
        yield UNREADABLE


def _amdgpu(data: bytes) -> str:
    machine = _elf_field(data, 18, "<H")
    flags = _elf_field(data, 48, "<I")
    if not data.startswith(b"\x7fELF") or machine != _EM_AMDGPU or flags is None:
        return UNREADABLE
    return _AMDGPU.get(flags & 0xFF, f"amdgpu-0x{flags & 0xFF:02x}")


def _elf_field(data: bytes, offset: int, form: str) -> int | None:
    try:
        return int(struct.unpack_from(form, data, offset)[0])
    except struct.error:
        return None
