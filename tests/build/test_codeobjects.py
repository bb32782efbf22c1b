"""Architectures are read from programs, and nothing that cannot be read passes for one."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.build import codeobjects, hip
from harness.build.codeobjects import UNREADABLE, bundles, fatbin
from harness.build.probe import clangs


def elf(machine: int, flags: int, abi: int = 8) -> bytes:
    head = bytearray(64)
    head[:4] = b"\x7fELF"
    head[8] = abi
    struct.pack_into("<H", head, 18, machine)
    struct.pack_into("<I", head, 48, flags)
    return bytes(head)


def entry(kind: int, arch: int, payload: bytes, flags: int = 0) -> bytes:
    head = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(payload), 0, 0, 0, 0, arch, 0, 0, flags, 0, 0)
    assert len(head) == 64
    return head + payload


def container(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def bundle(*targets: tuple[str, bytes]) -> bytes:
    names = [name.encode() for name, _ in targets]
    start = 32 + sum(24 + len(name) for name in names)
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(targets))
    body = b""
    for name, (_, code) in zip(names, targets, strict=True):
        head += struct.pack("<QQQ", start + len(body), len(code), len(name)) + name
        body += code
    return head + body


GFX1201, GFX1151, GFX12_GENERIC = (elf(224, mach) for mach in (0x4E, 0x4A, 0x59))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (container(entry(2, 86, elf(190, 86 << 8))), {"sm_86"}),
        (container(entry(2, 86, elf(190, 86, abi=7))), {"sm_86"}),
        (container(entry(2, 90, b"compressed")), {"sm_90"}),
        (container(entry(2, 90, b"compressed", flags=1 << 20)), {"sm_90a"}),
        (container(entry(2, 120, b"compressed", flags=1 << 21)), {"sm_120f"}),
        (container(entry(1, 86, b"// PTX")), {"compute_86"}),
        (container(entry(2, 86, elf(190, 86 << 8)), entry(1, 90, b"")), {"sm_86", "compute_90"}),
        (container(entry(2, 86, elf(190, 89 << 8))), {"sm_89"}),
        (container(entry(2, 86, b"")) + bytes(24) + container(entry(2, 90, b"")), {"sm_86", "sm_90"}),
        (container(entry(2, 86, elf(62, 0))), {UNREADABLE}),
        (container(entry(7, 86, b"")), {UNREADABLE}),
        (container(entry(2, 86, b"x" * 100))[:-50], {UNREADABLE}),
        (b"something else", {UNREADABLE}),
        (b"", set()),
    ],
)
def test_fat_binaries(data: bytes, found: set[str]) -> None:
    assert set(fatbin(data)) == found


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (bundle(("host-x86_64", b""), ("hipv4-amdgcn-amd-amdhsa--gfx1201", GFX1201)), {"gfx1201"}),
        (bundle(("hip-gfx1201", GFX1201), ("hip-gfx1151", GFX1151)), {"gfx1201", "gfx1151"}),
        (
            bundle(("hip-gfx1201", GFX1201)) + bytes(100) + bundle(("hip-gfx1151", GFX1151)),
            {"gfx1201", "gfx1151"},
        ),
        (bundle(("hip-gfx1201", GFX1151)), {"gfx1151"}),
        (bundle(("hip-gfx1201", GFX12_GENERIC)), {"gfx12-generic"}),
        (bundle(("hip-gfx1201", elf(224, 0xFE))), {"amdgpu-0xfe"}),
        (bundle(("hip-gfx1201", b"not ELF")), {UNREADABLE}),
        (bundle(("hip-gfx1201", GFX1201))[:40], {UNREADABLE}),
        (b"CCOB\x02\x00\x01\x00compressed", {UNREADABLE}),
        (b"something else", {UNREADABLE}),
        (bytes(100), set()),
    ],
)
def test_offload_bundles(data: bytes, found: set[str]) -> None:
    assert set(bundles(data)) == found


good = st.sampled_from([container(entry(2, 86, elf(190, 86 << 8))), bundle(("hip-gfx1201", GFX1201))])


@given(
    st.binary(max_size=300)
    | st.builds(lambda a, b, n: a[:n] + b + a[n:], good, st.binary(max_size=40), st.integers(0, 200))
)
def test_whatever_the_bytes_are_there_is_an_answer(data: bytes) -> None:
    for found in (*fatbin(data), *bundles(data)):
        assert isinstance(found, str)
        assert found


def test_a_file_that_is_no_program_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\x7fELF and then nothing")
    assert codeobjects.host(path) == codeobjects.cuda(path) == codeobjects.hip(path) == (UNREADABLE,)


_KERNEL = "__global__ void kernel(int* p) { *p = 1; }\nint main() { return 0; }\n"


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        (["arch=compute_86,code=sm_86"], ("sm_86",)),
        (["arch=compute_90,code=sm_90"], ("sm_90",)),
        (["arch=compute_90a,code=sm_90a"], ("sm_90a",)),
        (
            ["arch=compute_86,code=sm_86", "arch=compute_90,code=[sm_90,compute_90]"],
            ("compute_90", "sm_86", "sm_90"),
        ),
    ],
)
def test_programs_of_nvcc(nvcc: Path, tmp_path: Path, codes: list[str], found: tuple[str, ...]) -> None:
    source, program = tmp_path / "a.cu", tmp_path / "a"
    source.write_text(_KERNEL)
    subprocess.run([nvcc, *(f"-gencode={code}" for code in codes), source, "-o", program], check=True)
    assert codeobjects.cuda(program) == found
    cuobjdump = shutil.which("cuobjdump", path=str(nvcc.resolve().parent)) or shutil.which("cuobjdump")
    if cuobjdump is not None:
        listed = subprocess.run(
            [cuobjdump, "--list-elf", program], check=True, capture_output=True, text=True
        ).stdout
        assert all(f".{name}." in listed for name in found if name.startswith("sm_"))


@pytest.mark.parametrize("archs", [["gfx1201"], ["gfx1151"], ["gfx1151", "gfx1201"]])
def test_programs_of_clang_for_hip(tmp_path: Path, archs: list[str]) -> None:
    clang = next(clangs(19), None)
    if clang is None or not Path("/usr/include/hip/hip_runtime.h").exists():
        pytest.skip("not here: clang 19 or newer with HIP headers")
    source, library = tmp_path / "a.cpp", tmp_path / "a.so"
    source.write_text('extern "C" __global__ void kernel(int* p) { *p = 1; }\n')
    shim = ["-nogpulib", "-D__HIP_PLATFORM_AMD__", "-D__AMDGCN_WAVEFRONT_SIZE=32", "-include", str(hip.SHIM)]
    command = [str(clang), "-x", "hip", *shim, "-fPIC", "-c", str(source), "-o", str(library)]
    done = subprocess.run(
        [*command, *(f"--offload-arch={arch}" for arch in archs)], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert codeobjects.hip(library) == tuple(archs)
