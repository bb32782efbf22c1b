"""CUDA targets: the user's nvcc, else the one of NVIDIA's wheels, which are installed once."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from harness.build import codeobjects
from harness.build.lock import holding
from harness.build.model import Configuration, Toolchain
from harness.build.probe import Rejected, ask, clangs, first_error, on_path, run_pip, unlike
from harness.errors import NotBuiltError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.matrix.model import Target

WHEELS = "13.5.0"
"""Release of `cuda-toolkit` whose metapackage pins all of its parts; 13.0.2 leaves two of them open."""

USUAL_ROOT = Path("/usr/local")
"""Where NVIDIA's packages put `cuda-13.0` and the like."""

_REQUIREMENT = f"cuda-toolkit[nvcc,cudart,cuobjdump,nvdisasm]=={WHEELS}"


def configure(target: Target, cache: Path, say: Callable[[str], None]) -> Configuration:
    """Take the first nvcc that knows the target's architecture; raises NotBuiltError."""
    rejected = Rejected()
    host = _host_compiler(target)
    for nvcc, origin in _candidates(cache, say, rejected):
        version, error, lacking = _examine(nvcc, target)
        if error:
            rejected.add(nvcc, error, lacking=lacking)
            continue
        chain = Toolchain(kind="nvcc", compiler=nvcc, version=version, origin=origin)
        return Configuration(
            toolchain=chain,
            entries={
                "CMAKE_CXX_COMPILER": str(host),
                "CMAKE_CUDA_COMPILER": str(nvcc),
                "CMAKE_CUDA_HOST_COMPILER": str(host),
                # Machine code for this architecture alone: without PTX nothing can be compiled later.
                "CMAKE_CUDA_ARCHITECTURES": f"{_number(target)}-real",
            },
            programs=(nvcc, host),
        )
    install = f"python -m pip install '{_REQUIREMENT}'"
    raise NotBuiltError(rejected.text(f"no nvcc for {target.arch} was found"), rejected.advice(install))


def _host_compiler(target: Target) -> Path:
    rejected = Rejected()
    names = [target.compiler] if target.compiler else ["g++"]
    found = next(on_path(names, rejected), None)
    if found is None and not target.compiler:
        found = next(clangs(14, rejected), None)
    if found is None:
        nothing = f"no host compiler for nvcc was found ({', '.join(names)})"
        raise NotBuiltError(rejected.text(nothing), rejected.advice("apt-get install g++"))
    return found


def _number(target: Target) -> str:
    return (target.arch or "").removeprefix("sm_")


def _examine(nvcc: Path, target: Target) -> tuple[str, str, bool]:
    """Version of an nvcc, why it cannot be used ("" if it can), and whether another release could be."""
    answer = ask([str(nvcc), "--version"])
    release = re.search(r"release [\d.]+, V([\d.]+)", answer.said)
    if answer.why_not or release is None:
        return "", answer.why_not or unlike(answer, "nvcc"), False
    known = ask([str(nvcc), "--list-gpu-arch"])
    if known.why_not:
        return "", known.why_not, False
    if f"compute_{_number(target).rstrip('af')}" not in known.said.split():
        return "", f"version {release.group(1)} does not know {target.arch}", True
    return release.group(1), "", False


def _candidates(cache: Path, say: Callable[[str], None], rejected: Rejected) -> Iterator[tuple[Path, str]]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            nvcc = Path(os.environ[variable], "bin", "nvcc")
            if nvcc.exists():
                yield nvcc, variable
            else:
                rejected.add(nvcc, f"is not there, although {variable} is set", lacking=True)
    yield from ((path, "PATH") for path in on_path(["nvcc"], rejected))
    yield from (
        (path, str(path.parent.parent)) for path in sorted(USUAL_ROOT.glob("cuda*/bin/nvcc"), reverse=True)
    )
    try:
        yield _wheels(cache, say), f"PyPI wheels {WHEELS}"
    except NotBuiltError as error:
        rejected.add("the wheels from PyPI", error.reason, lacking=True)


def _wheels(cache: Path, say: Callable[[str], None]) -> Path:
    """Install the wheels into the cache if they are not there; raises NotBuiltError if that fails."""
    folder = cache / "toolchains" / f"cuda-{WHEELS}"
    nvcc = folder / "nvidia" / "cu13" / "bin" / "nvcc"
    if nvcc.exists():
        return nvcc
    with holding(folder, say):
        return nvcc if nvcc.exists() else _install_wheels(folder, nvcc, say)


def _install_wheels(folder: Path, nvcc: Path, say: Callable[[str], None]) -> Path:
    say(f"installing nvcc {WHEELS} from PyPI into {folder} (about 130 MB, once)")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".cuda-"))
    except OSError as error:
        raise NotBuiltError(f"cannot write to {folder.parent}: {error.strerror}", "") from error
    log = folder.parent / f"cuda-{WHEELS}.log"
    try:
        status = run_pip(["install", "--no-input", "--target", str(scratch), _REQUIREMENT], log)
        if status != 0:
            why = first_error(log.read_text(errors="replace")) if log.exists() else ""
            raise NotBuiltError(f"pip could not install them{f': {why}' if why else ''}, see {log}", "")
        scratch.rename(folder)
    except OSError as error:
        raise NotBuiltError(f"cannot write {error.filename or folder}: {error.strerror}", "") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return nvcc


def architectures(driver: Path) -> tuple[str, ...]:
    """Architectures of the cubins and PTX texts in the program."""
    return codeobjects.cuda(driver)


def expected_architecture(target: Target) -> str:
    """The architecture that the target declares."""
    return target.arch or ""
