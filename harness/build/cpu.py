"""CPU targets: g++ or clang++, with the sanitizers that the target asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.build import codeobjects
from harness.build.model import Configuration, Toolchain
from harness.build.probe import Rejected, clangs, compiles, on_path, version_of
from harness.errors import NotBuiltError
from harness.system.machine import architecture
from harness.words import SanitizerCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from harness.matrix.model import Sanitizers, Target

INSTALL = "apt-get install g++"

RECORD_FLAGS = "-grecord-command-line"
"""Has clang record its flags in each object, as g++ does anyway: the census reads them."""

_OLDEST_CLANG = 14
_PROBE = "#include <vector>\nint main(int n, char**) { std::vector<int> v(n); return v[0]; }\n"


def configure(target: Target, cache: Path, say: Callable[[str], None]) -> Configuration:
    """Take the first compiler that links a program with the target's sanitizers; raises NotBuiltError."""
    del cache, say
    rejected = Rejected()
    flags = compile_flags(target.sanitizers)
    for compiler, origin in _candidates(target, rejected):
        version, error = version_of(compiler)
        error = error or compiles(compiler, _PROBE, flags)
        if error:
            rejected.add(compiler, error)
            continue
        kind = "clang++" if "clang" in compiler.name else "g++"
        if kind == "clang++":
            flags = [*flags, RECORD_FLAGS]
        chain = Toolchain(kind=kind, compiler=compiler, version=version, origin=origin)
        entries = {"CMAKE_CXX_COMPILER": str(compiler), "CMAKE_CXX_FLAGS": " ".join(flags)}
        return Configuration(toolchain=chain, entries=entries, programs=(compiler,))
    wanted = f"the compiler {target.compiler}" if target.compiler else "a C++ compiler"
    needed = f" with {', '.join(target.sanitizers.on)} sanitizers" if target.sanitizers else ""
    nothing = f"no {wanted.partition(' ')[2]}{needed} was found"
    raise NotBuiltError(rejected.text(nothing), rejected.advice(INSTALL))


def _candidates(target: Target, rejected: Rejected) -> Iterator[tuple[Path, str]]:
    if target.compiler is not None:
        yield from ((path, "named by the target") for path in on_path([target.compiler], rejected))
        return
    yield from ((path, "PATH") for path in on_path(["g++"], rejected))
    yield from ((path, "PATH") for path in clangs(_OLDEST_CLANG, rejected))


def compile_flags(sanitizers: Sanitizers | None) -> list[str]:
    """Flags for compiling and linking; a finding always ends the program."""
    if sanitizers is None:
        return ["-O2", "-g"]
    flags = ["-O1", "-g", "-fno-omit-frame-pointer", f"-fsanitize={','.join(sanitizers.on)}"]
    # Without this UBSan prints its finding and the program exits with 0.
    flags.append("-fno-sanitize-recover=all")
    if SanitizerCheck.VPTR in sanitizers.off:
        flags.append("-fno-sanitize=vptr")
    return flags


def architectures(driver: Path) -> tuple[str, ...]:
    """The architecture of the program itself."""
    return codeobjects.host(driver)


def expected_architecture(target: Target) -> str:
    """The target's architecture; by default this machine's."""
    return target.arch or architecture()
