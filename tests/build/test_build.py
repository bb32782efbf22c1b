"""The build stage with real compilers and small projects: what is built, what is not, and what is said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.build import Artifact, build, cuda, probe
from harness.errors import BuildFailedError, NotBuiltError
from harness.matrix.lanes import Lane, all_lanes
from harness.matrix.model import Matrix
from harness.words import Sanitizer

CMAKE = """
cmake_minimum_required(VERSION 3.24)
project(tiny LANGUAGES CXX)
add_executable(tiny main.cpp other.cpp)
"""


@dataclass
class Tiny:
    """A project with one suite `tiny`, and everything that was said while it was built."""

    root: Path
    said: list[str] = field(default_factory=list)

    @property
    def source(self) -> Path:
        return self.root / "kernels/tiny"

    def lane(self, **target: Any) -> Lane:
        declared = {
            "version": 1,
            "targets": {"one": {"backend": "cpu", **target}},
            "suites": {
                "tiny": {
                    "kernels": "kernels/tiny",
                    "copy_modes": {backend: ["sync"] for backend in ("cpu", "cuda", "hip")},
                }
            },
        }
        return all_lanes(Matrix.model_validate(declared))[0]

    def build(self, **target: Any) -> Artifact:
        log = self.root / "build.log"
        return build(
            self.lane(**target),
            source=self.source,
            root=self.root,
            cache=self.root / ".harness",
            log=log,
            say=self.said.append,
        )


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    made = Tiny(tmp_path / "a prøject with spaces")
    made.source.mkdir(parents=True)
    (made.source / "CMakeLists.txt").write_text(CMAKE)
    (made.source / "value.h").write_text("constexpr int value = 0;\n")
    (made.source / "main.cpp").write_text(
        '#include "value.h"\nint other(int);\nint main() { return other(value); }\n'
    )
    (made.source / "other.cpp").write_text("int other(int x) { return x + 1; }\n")
    return made


def test_a_second_build_rebuilds_nothing_and_asks_no_compiler(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tiny.build()
    assert first.rebuilt
    assert first.architectures == ("x86-64",)
    assert set(first.inputs) == {
        f"kernels/tiny/{n}" for n in ("CMakeLists.txt", "main.cpp", "other.cpp", "value.h")
    }
    asked: list[object] = []
    monkeypatch.setattr(probe, "ask", lambda *question: asked.append(question))
    second = tiny.build()
    assert not second.rebuilt
    assert asked == []
    assert (second.sha256, second.inputs, second.flags) == (first.sha256, first.inputs, first.flags)


def test_a_changed_header_rebuilds_what_it_must(tiny: Tiny) -> None:
    tiny.build()
    (tiny.source / "value.h").write_text("constexpr int value = 41;\n")
    changed = tiny.build()
    assert changed.rebuilt
    log = (tiny.root / "build.log").read_text()
    assert "main.cpp.o" in log
    assert "other.cpp.o" not in log
    assert subprocess.run([changed.driver], check=False).returncode == 42


def test_changed_flags_rebuild_everything(tiny: Tiny) -> None:
    tiny.build()
    again = tiny.build(sanitizers={"on": ["address"]})
    assert again.rebuilt
    assert "-fsanitize=address" in again.flags
    assert "other.cpp.o" in (tiny.root / "build.log").read_text()


def test_a_replaced_compiler_rebuilds_everything(tiny: Tiny, tmp_path: Path) -> None:
    wrapper = tmp_path / "bin" / "my-g++"
    wrapper.parent.mkdir()
    wrapper.write_text('#!/bin/sh\nexec g++ "$@"\n')
    wrapper.chmod(0o755)
    tiny.build(compiler=str(wrapper))
    assert not tiny.build(compiler=str(wrapper)).rebuilt
    wrapper.write_text('#!/bin/sh\n# another version\nexec g++ "$@"\n')
    assert tiny.build(compiler=str(wrapper)).rebuilt


@pytest.mark.parametrize("damage", ["build.ninja", ".ninja_log", "CMakeCache.txt", "tiny", "tree"])
def test_a_damaged_build_tree_recovers(tiny: Tiny, damage: str) -> None:
    driver = tiny.build().driver
    if damage == "tree":
        subprocess.run(["rm", "-rf", driver.parent], check=True)
    else:
        path = driver.parent / damage
        if damage == ".ninja_log":
            path.write_bytes(b"\0garbage\0")
        else:
            path.unlink()
    again = tiny.build()
    assert subprocess.run([again.driver], check=False).returncode == 1


def test_flags_of_the_environment_stay_out(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXXFLAGS", "-DNO_SUCH -fno-such-flag")
    monkeypatch.setenv("LDFLAGS", "-lno-such-library")
    assert tiny.build().rebuilt


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("main.cpp", "int main() { return undeclared; }\n", "error: 'undeclared' was not declared"),
        ("other.cpp", "\n", "undefined reference to `other(int)'"),
        ("CMakeLists.txt", CMAKE + "no_such_command()\n", 'Unknown CMake command "no_such_command"'),
        ("main.cpp", '#include "no_such.h"\n', "fatal error: no_such.h: No such file"),
    ],
)
def test_a_build_that_fails_shows_its_first_error_command_and_log(
    tiny: Tiny, file: str, text: str, says: str
) -> None:
    (tiny.source / file).write_text(text)
    with pytest.raises(BuildFailedError) as caught:
        tiny.build()
    assert says in caught.value.first_error.replace("\u2018", "'").replace("\u2019", "'")
    assert Path(caught.value.log).read_text()
    assert caught.value.command.split()[0].endswith(("g++", "c++", "cmake", ":"))


def test_a_failed_build_is_tried_again_and_mended(tiny: Tiny) -> None:
    (tiny.source / "main.cpp").write_text("int main() { return undeclared; }\n")
    for _ in range(2):
        with pytest.raises(BuildFailedError):
            tiny.build()
    (tiny.source / "main.cpp").write_text("int main() { return 0; }\n")
    assert tiny.build().rebuilt


def test_a_suite_without_cmake_or_program_says_what_it_needs(tiny: Tiny) -> None:
    (tiny.source / "CMakeLists.txt").write_text(
        CMAKE.replace("add_executable(tiny", "add_executable(other_name")
    )
    with pytest.raises(BuildFailedError, match="must be called like its folder"):
        tiny.build()
    (tiny.source / "CMakeLists.txt").unlink()
    with pytest.raises(BuildFailedError, match=r"there is no CMakeLists\.txt"):
        tiny.build()


def test_a_program_for_something_else_is_refused(tiny: Tiny) -> None:
    with pytest.raises(BuildFailedError, match="holds code for x86-64, not for aarch64 alone"):
        tiny.build(arch="aarch64")


def test_without_any_compiler_the_lane_is_not_built(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tiny.root))
    with pytest.raises(NotBuiltError) as caught:
        tiny.build()
    assert "no C++ compiler" in caught.value.reason
    assert caught.value.hint == "apt-get install g++"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 3", "exited with 3 and said nothing"),
        ("kill -SEGV $$", "was ended by SIGSEGV and said nothing"),
        ("sleep 1000", "did not answer within 3 s"),
        ("echo 'g++ 12.2.0'; [ \"$1\" = --version ]", "exited with 1: g++ 12.2.0"),
    ],
)
def test_a_compiler_that_does_not_work_is_passed_over_with_the_reason(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    monkeypatch.setattr(probe, "_ASK_TIMEOUT_S", 3.0)
    fake = tmp_path / "bin" / "g++"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    with pytest.raises(NotBuiltError) as caught:
        tiny.build(compiler=str(fake))
    assert f"{fake}: {why}" in caught.value.reason


def test_a_sanitizer_that_cannot_be_had_is_no_downgrade(tiny: Tiny, tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "g++"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *-fsanitize*) echo "cannot find -lasan" >&2; exit 1;; esac\nexec g++ "$@"\n'
    )
    fake.chmod(0o755)
    assert tiny.build(compiler=str(fake)).rebuilt
    with pytest.raises(NotBuiltError, match=r"cannot find -lasan"):
        tiny.build(compiler=str(fake), sanitizers={"on": ["address"]})


_COMPILERS = [
    pytest.param("g++", id="g++"),
    pytest.param("clang", id="clang"),
]


def _compiler(name: str) -> str:
    if name == "g++":
        return name
    found = next(probe.clangs(14), None)
    if found is None or probe.compiles(found, "int main() { return 0; }", ["-fsanitize=address"]):
        pytest.skip("not here: clang with its sanitizer runtimes")
    return str(found)


@pytest.mark.parametrize("name", _COMPILERS)
def test_the_census_finds_the_one_object_that_is_not_instrumented(tiny: Tiny, name: str) -> None:
    compiler = _compiler(name)
    both = {"on": ["address", "undefined"]}
    census = tiny.build(compiler=compiler, sanitizers=both).census
    assert census is not None
    assert (census.objects, census.uninstrumented) == (2, ())
    assert census.binary >= {Sanitizer.ADDRESS}
    without = "set_source_files_properties(other.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=undefined)\n"
    (tiny.source / "CMakeLists.txt").write_text(CMAKE + without)
    census = tiny.build(compiler=compiler, sanitizers=both).census
    assert census is not None
    assert census.instrumented == {Sanitizer.ADDRESS: 2, Sanitizer.UNDEFINED: 1}
    assert census.uninstrumented == ("other.cpp.o",)


_KERNEL = "__global__ void kernel(int* p) { *p = 1; }\nint main() { return 0; }\n"


def _device_project(tiny: Tiny, cmake: str) -> None:
    (tiny.source / "main.cpp").write_text(_KERNEL)
    (tiny.source / "CMakeLists.txt").write_text(textwrap.dedent(cmake))


@pytest.mark.parametrize("name", _COMPILERS)
def test_an_object_with_nothing_to_check_is_known_by_its_recorded_flags(tiny: Tiny, name: str) -> None:
    """It calls no sanitizer, so that only what the compiler recorded tells it from one that lacks them."""
    (tiny.source / "other.cpp").write_text("int other(int x) { return x; }\n")
    both = {"on": ["address", "undefined"]}
    compiler = _compiler(name)
    census = tiny.build(compiler=compiler, sanitizers=both).census
    assert census is not None
    assert (census.instrumented, census.uninstrumented) == (
        {Sanitizer.ADDRESS: 2, Sanitizer.UNDEFINED: 2},
        (),
    )
    (tiny.source / "CMakeLists.txt").write_text(
        CMAKE + "set_source_files_properties(other.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)\n"
    )
    census = tiny.build(compiler=compiler, sanitizers=both).census
    assert census is not None
    assert census.uninstrumented == ("other.cpp.o",)


CUDA_CMAKE = """
    cmake_minimum_required(VERSION 3.24)
    project(tiny LANGUAGES CXX CUDA)
    add_executable(tiny main.cpp)
    set_source_files_properties(main.cpp PROPERTIES LANGUAGE CUDA)
    """


@pytest.mark.parametrize("arch", ["sm_86", "sm_90", "sm_90a"])
@pytest.mark.usefixtures("nvcc")
def test_cuda_is_built_for_exactly_its_architecture(tiny: Tiny, arch: str) -> None:
    _device_project(tiny, CUDA_CMAKE)
    made = tiny.build(backend="cuda", arch=arch)
    assert made.architectures == (arch,)
    assert not tiny.build(backend="cuda", arch=arch).rebuilt


@pytest.mark.usefixtures("nvcc")
def test_cuda_code_for_more_than_the_target_is_refused(tiny: Tiny) -> None:
    _device_project(tiny, CUDA_CMAKE + "\nset_property(TARGET tiny PROPERTY CUDA_ARCHITECTURES 86)\n")
    with pytest.raises(BuildFailedError, match="holds code for compute_86, sm_86, not for sm_86 alone"):
        tiny.build(backend="cuda", arch="sm_86")


@pytest.mark.parametrize("arch", ["gfx1201", "gfx1151"])
def test_hip_is_built_for_exactly_its_architecture(tiny: Tiny, arch: str) -> None:
    if next(probe.clangs(19), None) is None or not Path("/usr/include/hip/hip_runtime.h").exists():
        pytest.skip("not here: clang 19 or newer with HIP headers")
    _device_project(
        tiny,
        """
        cmake_minimum_required(VERSION 3.24)
        project(tiny LANGUAGES CXX)
        add_executable(tiny main.cpp)
        separate_arguments(flags UNIX_COMMAND "${HARNESS_HIP_FLAGS}")
        separate_arguments(link UNIX_COMMAND "${HARNESS_HIP_LINK}")
        target_compile_options(tiny PRIVATE -x hip --offload-arch=${HARNESS_ARCH} ${flags})
        target_link_libraries(tiny PRIVATE ${link})
        """,
    )
    assert tiny.build(backend="hip", arch=arch).architectures == (arch,)


def test_no_nvcc_and_no_network_say_what_to_install(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cuda, "on_path", lambda names, rejected=None: probe.on_path([n for n in names if n != "nvcc"])
    )
    monkeypatch.setattr(cuda, "USUAL_ROOT", tiny.root / "none")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr(cuda, "run_pip", lambda arguments, log: 1)
    with pytest.raises(NotBuiltError) as caught:
        tiny.build(backend="cuda", arch="sm_86")
    assert "pip could not install them" in caught.value.reason
    assert caught.value.hint.startswith("python -m pip install 'cuda-toolkit[")
    assert not list((tiny.root / ".harness/toolchains").glob(".cuda-*")), "nothing half installed is left"


_HOLD = """
import pathlib, sys, time
from harness.build.lock import holding
with holding(pathlib.Path(sys.argv[1]), print):
    print("holding", flush=True)
    time.sleep(1000)
"""


def test_a_second_session_waits_says_for_whom_and_goes_on_when_that_one_dies(tiny: Tiny) -> None:
    tree = tiny.root / ".harness/build/one/tiny"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tree)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        script = (
            "import pathlib, sys; from harness.build.lock import holding\n"
            "with holding(pathlib.Path(sys.argv[1]), lambda text: print(text, flush=True)): print('mine')"
        )
        with subprocess.Popen(
            [sys.executable, "-c", script, str(tree)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
        ) as waiter:
            assert waiter.stdout is not None
            assert waiter.stdout.readline().startswith(f"waiting for pid {holder.pid} (")
            os.kill(holder.pid, signal.SIGKILL)
            assert waiter.communicate(timeout=60)[0] == "mine\n"


def test_an_interrupt_leaves_no_compiler_behind(tiny: Tiny, tmp_path: Path) -> None:
    """Ninja gives each compiler a process group of its own; this one also ignores signals."""
    mark = tmp_path / "compiling"
    wrapper = tmp_path / "bin" / "g++"
    wrapper.parent.mkdir()
    wrapper.write_text(
        "#!/bin/sh\n"
        'case "$*" in *main.cpp*) trap "" TERM INT HUP\n'
        f'echo $$ > "{mark}"; while :; do sleep 1; done;; esac\n'
        'exec g++ "$@"\n'
    )
    wrapper.chmod(0o755)
    script = (
        "import pathlib, sys\n"
        "from tests.build.test_build import Tiny\n"
        "Tiny(pathlib.Path(sys.argv[1])).build(compiler=sys.argv[2])\n"
    )
    # A test run in the background may have inherited that SIGINT is ignored.
    hears = ["env", "--default-signal=INT"]
    command = [*hears, sys.executable, "-c", script, str(tiny.root), str(wrapper)]
    with subprocess.Popen(command, cwd=Path.cwd(), stderr=subprocess.DEVNULL) as process:
        while not (mark.exists() and mark.read_text().strip()):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    pid = int(mark.read_text())
    assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]
