"""Whatever is wrong with a tool, the reason is what it or the system said; advice fits what is missing."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from harness.build import build, cmake, cpu, cuda, hip, probe
from harness.build.probe import Rejected, ask, compiles, lacks_a_part, on_path, version_of
from harness.errors import BuildFailedError, NotBuiltError
from harness.evidence.revision import revision_of
from harness.matrix.lanes import Lane, all_lanes
from harness.matrix.model import Matrix, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.build.model import Backend, Configuration


class Fake(Protocol):
    """Puts a program of that name in front of all others on PATH."""

    def __call__(self, name: str, script: str, *, mode: int = ...) -> Path: ...


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), os.environ["PATH"]]))

    def make(name: str, script: str, *, mode: int = 0o755) -> Path:
        path = folder / name
        path.write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
        path.chmod(mode)
        return path

    return make


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is on PATH but the fakes and what every shell script needs."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "sleep", "cat", "setpriv"):
        found = shutil.which(name)
        if found is not None:
            (tools / name).symlink_to(found)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "bin"), str(tools)]))
    for name in ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cuda, "USUAL_ROOT", tmp_path / "none")
    monkeypatch.setattr(cuda, "run_pip", lambda arguments, log: 1)
    monkeypatch.setattr(hip, "USUAL_ROOTS", tmp_path / "none")


BROKEN = [
    pytest.param("echo 'it is broken' >&2; exit 3", "exited with 3: it is broken", id="error"),
    pytest.param("exit 3", "exited with 3 and said nothing", id="error without a word"),
    pytest.param("exit 0", "said nothing", id="nothing"),
    pytest.param("kill -ABRT $$", "was ended by SIGABRT and said nothing", id="signal"),
    pytest.param("#!/no/such/shell\n", "needs an interpreter that is not there", id="no interpreter"),
    pytest.param("sleep 1000", "did not answer within 3 s", id="hang"),
    pytest.param("echo 'I am a teapot'", "I am a teapot", id="something else"),
]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_ASK_TIMEOUT_S", 3.0)


def _target(backend: str, arch: str | None = None) -> Target:
    return Target.model_validate({"backend": backend, **({"arch": arch} if arch else {})})


def _configure(backend: str, arch: str | None, cache: Path) -> Configuration:
    modules: dict[str, Backend] = {"cpu": cpu, "cuda": cuda, "hip": hip}
    return modules[backend].configure(_target(backend, arch), cache, lambda _: None)


CHAINS = [("cpu", None, "g++"), ("cuda", "sm_86", "nvcc"), ("hip", "gfx1201", "clang++-22")]


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("script", "says"), BROKEN)
@pytest.mark.parametrize(("backend", "arch", "compiler"), CHAINS, ids=["cpu", "cuda", "hip"])
def test_a_compiler_that_is_there_and_broken_is_quoted_and_not_to_be_installed(
    fake: Fake, tmp_path: Path, backend: str, arch: str | None, compiler: str, script: str, says: str
) -> None:
    fake("g++", "exit 0") if backend == "cuda" else None
    path = fake(compiler, script)
    with pytest.raises(NotBuiltError) as caught:
        _configure(backend, arch, tmp_path / "cache")
    assert f"{path}: " in caught.value.reason
    assert says in caught.value.reason
    if backend == "cuda":
        # What is missing there are NVIDIA's wheels, which pip could not get.
        assert caught.value.hint.startswith("python -m pip install 'cuda-toolkit")
    else:
        assert caught.value.hint == ""


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(("backend", "arch", "compiler"), CHAINS, ids=["cpu", "cuda", "hip"])
def test_a_file_that_cannot_be_executed_is_named(
    fake: Fake, tmp_path: Path, backend: str, arch: str | None, compiler: str
) -> None:
    fake("g++", "exit 0") if backend == "cuda" else None
    path = fake(compiler, "exit 0", mode=0o644)
    with pytest.raises(NotBuiltError) as caught:
        _configure(backend, arch, tmp_path / "cache")
    assert f"{path}: is not executable" in caught.value.reason


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("backend", "arch", "hint"),
    [
        ("cpu", None, "apt-get install g++"),
        ("cuda", "sm_86", "apt-get install g++"),
        ("hip", "gfx1201", "apt-get install clang-"),
    ],
)
def test_what_is_not_there_is_to_be_installed(
    fake: Fake, tmp_path: Path, backend: str, arch: str | None, hint: str
) -> None:
    with pytest.raises(NotBuiltError) as caught:
        _configure(backend, arch, tmp_path / "cache")
    assert "was found" in caught.value.reason
    assert "passed over" not in caught.value.reason
    assert caught.value.hint.startswith(hint)


@pytest.mark.usefixtures("alone")
def test_a_variable_that_names_nothing_is_said(
    tmp_path: Path, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake("g++", "exit 0")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "gone"))
    with pytest.raises(NotBuiltError, match="gone/bin/nvcc: is not there, although CUDA_HOME is set"):
        _configure("cuda", "sm_86", tmp_path / "cache")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "gone"))
    with pytest.raises(NotBuiltError, match=r"gone: has no HIP compiler \(found by ROCM_PATH\)"):
        _configure("hip", "gfx1201", tmp_path / "cache")


UNUSABLE = [folder for folder in ("/proc", "/sys") if Path(folder).is_dir()]


@pytest.mark.parametrize("folder", UNUSABLE)
def test_a_temporary_folder_that_cannot_be_written_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """The compiler is there; advice to install it would send a person the wrong way."""
    if shutil.which("g++") is None:
        pytest.skip("not here: g++")
    monkeypatch.setenv("TMPDIR", folder)
    monkeypatch.setattr(probe, "_ASK_TIMEOUT_S", 60.0)
    with pytest.raises(NotBuiltError) as caught:
        _configure("cpu", None, tmp_path)
    assert f"Cannot create temporary file in {folder}/" in caught.value.reason
    assert f"(TMPDIR is {folder})" in caught.value.reason
    assert caught.value.hint == ""


def test_a_temporary_folder_that_fills_up_during_the_build_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler was found when there was room; Ninja then runs it without any."""
    source = tmp_path / "kernels" / "tiny"
    source.mkdir(parents=True)
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(tiny LANGUAGES CXX)\nadd_executable(tiny main.cpp)\n"
    )
    (source / "main.cpp").write_text("int main() { return 0; }\n")

    def make() -> None:
        build(_lane(), source=source, root=tmp_path, cache=tmp_path / ".harness", log=tmp_path / "build.log")

    make()
    (source / "main.cpp").write_text("int main() { return 1; }\n")
    monkeypatch.setenv("TMPDIR", UNUSABLE[0])
    with pytest.raises(BuildFailedError, match=f"Cannot create temporary file in {UNUSABLE[0]}/"):
        make()


def _lane() -> Lane:
    suites = {"tiny": {"kernels": "kernels/tiny", "copy_modes": {"cpu": ["sync"]}}}
    matrix = {"version": 1, "targets": {"one": {"backend": "cpu"}}, "suites": suites}
    return all_lanes(Matrix.model_validate(matrix))[0]


def test_no_home_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(probe, "_ASK_TIMEOUT_S", 60.0)
    assert _configure("cpu", None, tmp_path).toolchain.version
    assert cmake.find_tools().cmake.is_file()
    assert revision_of(Path(__file__).parents[2]).commit is not None


@pytest.mark.parametrize(("script", "says"), BROKEN)
@pytest.mark.parametrize("tool", ["cmake", "ninja"])
def test_a_broken_tool_gives_way_to_the_packaged_one(fake: Fake, tool: str, script: str, says: str) -> None:
    path = fake(tool, script)
    found = getattr(cmake.find_tools(), tool)
    assert found != path
    assert ask([str(found), "--version"]).why_not == ""


@pytest.mark.parametrize(("script", "says"), BROKEN)
@pytest.mark.parametrize("tool", ["cmake", "ninja"])
def test_without_a_package_the_reason_is_what_the_machine_s_tool_said(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tool: str, script: str, says: str
) -> None:
    path = fake(tool, script)
    monkeypatch.setitem(sys.modules, tool, None)
    with pytest.raises(NotBuiltError) as caught:
        cmake.find_tools()
    assert f"no {tool}: {path} " in caught.value.reason
    assert says in caught.value.reason
    assert caught.value.hint.startswith(f"python -m pip install '{tool}>=")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("tool", ["cmake", "ninja"])
def test_a_tool_that_is_nowhere_is_to_be_installed(monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    monkeypatch.setitem(sys.modules, tool, None)
    with pytest.raises(NotBuiltError, match=f"no {tool}: is not on PATH, and Python has no package {tool}"):
        cmake.find_tools()


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("exit 0", "git said nothing when it was asked for the commit"),
        ("exit 5", "git refused: it exited with 5 and said nothing"),
        ("echo 'fatal: index file corrupt' >&2; exit 128", "git refused: fatal: index file corrupt"),
    ],
)
def test_a_git_that_fails_is_quoted(fake: Fake, tmp_path: Path, script: str, says: str) -> None:
    fake("git", script)
    found = revision_of(tmp_path)
    assert (found.commit, found.reason) == (None, says)
    assert found.difference is not None, "the files tell the source apart all the same"


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("mode", "says"),
    [
        (None, "git is not installed"),
        (0o644, "git cannot be started: Permission denied"),
        (0o755, "git cannot be started: No such file or directory"),
    ],
)
def test_a_git_that_cannot_be_started_says_which_it_is(
    fake: Fake, tmp_path: Path, mode: int | None, says: str
) -> None:
    if mode is not None:
        fake("git", "#!/no/such/shell\n", mode=mode)
    assert revision_of(tmp_path).reason == says


def test_a_tool_without_setpriv_is_as_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.system import process

    monkeypatch.setattr(process, "tied_to_parent", tuple)
    assert ask([str(tmp_path / "gone")]).why_not == "is not there"
    plain = tmp_path / "plain"
    plain.write_text("")
    assert ask([str(plain)]).why_not == "is not executable"


@pytest.mark.parametrize(
    ("reason", "lacks"),
    [
        ("exited with 1: /usr/bin/ld: cannot find -lasan: No such file or directory", True),
        ("exited with 1: /usr/bin/ld: cannot find /usr/lib/libclang_rt.asan.a: No such file", True),
        ("exited with 1: probe.cpp:2:10: fatal error: 'hip/hip_runtime.h' file not found", True),
        ("exited with 1: probe.cpp:2:10: fatal error: vector.h: No such file or directory", True),
        ("exited with 1: ld.lld: error: unable to find library -lamdhip64", True),
        ("was ended by SIGABRT: Cannot create temporary file in /proc/: No such file or directory", False),
        ("exited with 1: error: No space left on device", False),
        ("is not executable", False),
        ("exited with 3 and said nothing", False),
    ],
)
def test_advice_is_for_what_is_missing(reason: str, lacks: bool) -> None:
    assert lacks_a_part(reason) is lacks
    rejected = Rejected()
    rejected.add("g++", reason)
    assert rejected.advice("apt-get install it") == ("apt-get install it" if lacks else "")


def test_nothing_found_is_advice_by_itself() -> None:
    assert Rejected().advice("apt-get install it") == "apt-get install it"


def test_on_path_yields_programs_only(fake: Fake) -> None:
    good, bad = fake("one", "exit 0"), fake("two", "exit 0", mode=0o600)
    rejected = Rejected()
    assert list(on_path(["one", "two", "three"], rejected)) == [good]
    assert rejected.reasons == [f"{bad}: is not executable"]


def test_a_working_compiler_has_a_version_and_no_reason() -> None:
    found: Iterator[Path] = on_path(["g++"])
    compiler = next(found, None)
    if compiler is None:
        pytest.skip("not here: g++")
    version, why_not = version_of(compiler)
    assert version
    assert why_not == ""
    assert compiles(compiler, "int main() {}", []) == ""
    assert "error" in compiles(compiler, "int main() { return x; }", [])
