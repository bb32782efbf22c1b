"""HIP targets: the user's ROCm, else clang with Debian's HIP headers and a small device shim."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.build import codeobjects
from harness.build.cpu import RECORD_FLAGS, compile_flags
from harness.build.model import Configuration, Toolchain
from harness.build.probe import Rejected, ask, clangs, major, on_path, tries, version_of
from harness.errors import NotBuiltError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.matrix.model import Target

OLDEST_CLANG = 19
"""The first clang that knows both gfx1201 and gfx1151."""

USUAL_ROOTS = Path("/opt")
"""Where AMD's packages put `rocm` and the like."""

SHIM = Path(__file__).parent / "resources" / "hip_device_shim.h"

_PROBE = """
#include <hip/hip_runtime.h>
__global__ void kernel(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main() { kernel<<<1, 1>>>(nullptr); return hipDeviceSynchronize() == hipSuccess ? 0 : 1; }
"""


@dataclass(frozen=True, slots=True)
class _Route:
    """One way to compile HIP: a compiler with the flags that its headers and libraries need."""

    kind: str
    compiler: Path
    origin: str
    compile: tuple[str, ...]
    link: tuple[str, ...]


def configure(target: Target, cache: Path, say: Callable[[str], None]) -> Configuration:
    """Take the first route that links a HIP program for the target; raises NotBuiltError."""
    del cache, say
    rejected = Rejected()
    for route in _routes(target, rejected):
        version, error = version_of(route.compiler)
        error = error or _try(route, target)
        if error:
            rejected.add(route.compiler, error)
            continue
        host = compile_flags(target.sanitizers)
        if target.sanitizers is not None:
            # Device code for these architectures cannot be instrumented; the host's is.
            host += ["-fno-gpu-sanitize", RECORD_FLAGS]
        return Configuration(
            toolchain=Toolchain(
                kind=route.kind, compiler=route.compiler, version=version, origin=route.origin
            ),
            entries={
                "CMAKE_CXX_COMPILER": str(route.compiler),
                "CMAKE_CXX_FLAGS": " ".join(host),
                "HARNESS_HIP_FLAGS": shlex.join(route.compile),
                "HARNESS_HIP_LINK": shlex.join(route.link),
            },
            programs=(route.compiler,),
        )
    nothing = f"no HIP compiler for {target.arch} was found"
    raise NotBuiltError(rejected.text(nothing), rejected.advice(_install()))


def _routes(target: Target, rejected: Rejected) -> Iterator[_Route]:
    for root, origin in _rocm_roots():
        for name in ("bin/amdclang++", "llvm/bin/clang++", "lib/llvm/bin/clang++"):
            if (root / name).exists():
                link = (f"-L{root}/lib", f"-Wl,-rpath,{root}/lib", "-lamdhip64")
                yield _Route("rocm", root / name, origin, (f"--rocm-path={root}",), link)
                break
        else:
            rejected.add(root, f"has no HIP compiler (found by {origin})", lacking=True)
    named = on_path([target.compiler], rejected) if target.compiler else clangs(OLDEST_CLANG, rejected)
    for compiler in named:
        flags = ("-nogpulib", "-D__HIP_PLATFORM_AMD__", "-D__AMDGCN_WAVEFRONT_SIZE=32", "-include", str(SHIM))
        yield _Route("clang-hip", compiler, "PATH, the distribution's HIP headers", flags, ("-lamdhip64",))


def _rocm_roots() -> Iterator[tuple[Path, str]]:
    if os.environ.get("ROCM_PATH"):
        yield Path(os.environ["ROCM_PATH"]), "ROCM_PATH"
    for root in [USUAL_ROOTS / "rocm", *sorted(USUAL_ROOTS.glob("rocm-*"), reverse=True)]:
        if root.is_dir():
            yield root, str(root)
    for program in on_path(["amdclang++"]):
        yield program.resolve().parent.parent, "PATH"


def _try(route: _Route, target: Target) -> str:
    """Compile and link a small program on this route; "" if that works, else why not."""
    front = [str(route.compiler), "-x", "hip", f"--offload-arch={target.arch}", *route.compile]
    return tries(
        _PROBE,
        lambda source, made: [
            [*front, "-c", str(source), "-o", f"{made}.o"],
            [str(route.compiler), f"{made}.o", *route.link, "-o", str(made)],
        ],
    )


def _install() -> str:
    """The one command that makes this route work on Debian and its relatives."""
    newest = next((major(version_of(path)[0]) for path in clangs(OLDEST_CLANG)), 0) or _offered()
    packages = f"clang-{newest} lld-{newest} llvm-{newest} clang-tools-{newest}"
    return f"apt-get install {packages} libamdhip64-dev (or install ROCm)"


def _offered() -> int:
    """The newest clang that apt offers; the oldest that will do where there is no apt to ask."""
    names = ask(["apt-cache", "--names-only", "search", r"^clang-[0-9]+$"]).said
    found = [int(number) for number in re.findall(r"^clang-([0-9]+) ", names, re.MULTILINE)]
    return max((number for number in found if number >= OLDEST_CLANG), default=OLDEST_CLANG)


def architectures(driver: Path) -> tuple[str, ...]:
    """Architectures of the code objects in the program's offload bundles."""
    return codeobjects.hip(driver)


def expected_architecture(target: Target) -> str:
    """The architecture that the target declares."""
    return target.arch or ""
