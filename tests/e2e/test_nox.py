"""What a person sees who runs nox: verdicts, exit statuses, reports, whatever goes wrong."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from junitparser.xunit2 import JUnitXml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.e2e.conftest import Project


def test_a_passing_project_is_qualified(project: Project) -> None:
    status, output = project.nox("-s", "one", "two")
    assert status == 0, output
    assert project.qualification["verdict"] == "QUALIFIED"
    assert output.count("QUALIFIED") == 1, "one summary, not one a session"
    xml = JUnitXml.fromfile(str(project.root / "reports/latest/junit.xml"))
    assert [(suite.name, suite.tests, suite.failures) for suite in xml] == [
        ("one/fake", 2, 0),
        ("two/fake", 2, 0),
    ]
    assert (project.root / "reports/latest/qualification.md").read_text().count("one/fake") >= 1


def test_a_failing_case_fails_the_session_and_the_report_says_how_to_see_it_again(project: Project) -> None:
    project.cases("sync/pass", "sync/mismatch")
    status, _ = project.nox("-s", "one")
    assert status == 1
    failure = project.lane("one/fake")["failures"][0]
    assert failure["message"].startswith(
        "pos=0 q=1 accepted=0 tensor=0 row=4 column=2 expected=0x3c00 got=0x0000"
    )
    assert failure["reproduce"][0] == "nox -s one -- --case 'sync/mismatch'"
    assert "--run sync/mismatch --only sync/mismatch:1" in failure["reproduce"][1]
    again = subprocess.run(failure["reproduce"][1], shell=True, cwd=project.root, check=False)
    assert again.returncode == 1
    markdown = (project.root / "reports/latest/qualification.md").read_text()
    assert "NOT QUALIFIED" in markdown
    assert failure["reproduce"][0] in markdown


def test_a_failed_session_does_not_keep_the_others_from_the_report(project: Project) -> None:
    (project.root / "matrix.yaml").write_text(
        (project.root / "matrix.yaml")
        .read_text()
        .replace("two: {backend: cpu}", "two: {backend: cpu, compiler: no-such}")
    )
    status, output = project.nox("-s", "two", "one")
    assert project.lane("one/fake")["verdict"] == "qualified"
    assert project.lane("two/fake")["verdict"] == "incomplete"
    assert "no-such" in project.lane("two/fake")["reasons"][0]
    assert status == 0, "no toolchain is yellow on a person's machine"
    assert "skipped" in output


def test_in_parallel_there_is_one_run_and_one_summary(project: Project) -> None:
    project.cases("sync/pass", "sync/mismatch")
    status, output = project.nox("-j", "2", "-s", "one", "two")
    assert status == 1
    assert {lane["verdict"] for lane in project.qualification["lanes"]} == {"failed"}
    assert len(list((project.root / "reports/runs").iterdir())) == 1
    assert output.count("NOT QUALIFIED") == 1


def test_a_session_that_was_not_asked_for_leaves_the_report_incomplete(project: Project) -> None:
    status, output = project.nox("-s", "one")
    assert status == 0
    assert project.qualification["verdict"] == "INCOMPLETE"
    assert project.lane("two/fake")["reasons"] == ["not selected in this run"]
    summary = output.partition("INCOMPLETE  ")[2]
    assert [line for line in summary.splitlines() if "two/fake" in line] == [
        "not selected in this run: two/fake"
    ]
    page = (project.root / "reports/latest/qualification.md").read_text()
    assert [line for line in page.splitlines() if "two/fake" in line] == [
        "Not selected in this run: two/fake."
    ]


@pytest.mark.parametrize(
    ("ci", "excused", "expected"), [("", False, 0), ("true", False, 1), ("true", True, 0)]
)
def test_a_missing_device_is_yellow_here_and_an_error_in_ci(
    project: Project, ci: str, excused: bool, expected: int
) -> None:
    project.cases("sync/pass", devices={"devices": [], "status": 100, "status_name": "noDevice"})
    if excused:
        with (project.root / "matrix.yaml").open("a") as file:
            file.write("ci: {may_be_missing: [one]}\n")
    project.environment["CI"] = ci
    status, output = project.nox("-s", "one")
    assert status == expected, output
    assert project.lane("one/fake")["reasons"] == ["built for x86-64, no CPU device here (noDevice, 100)"]
    assert project.qualification["verdict"] == "INCOMPLETE"


def test_a_build_that_fails_shows_its_first_error_and_the_log(project: Project) -> None:
    (project.root / "kernels/fake/main.cpp").write_text("int main() { return undeclared; }\n")
    status, output = project.nox("-s", "one")
    assert status == 1
    assert "undeclared" in project.lane("one/fake")["reasons"][0]
    assert "build.log" in output
    log = next((project.root / "reports/latest/lanes").rglob("build.log"))
    assert "undeclared" in log.read_text()


@pytest.mark.parametrize(
    ("listing", "says"),
    [
        ({"list_output": "not JSON"}, "not an answer as docs/driver.md wants it"),
        ({"list_output": "{}"}, "Field required"),
        ({"list_status": 5}, "exited with 5"),
    ],
)
def test_a_driver_that_cannot_be_asked_fails_the_lane(
    project: Project, listing: dict[str, object], says: str
) -> None:
    project.cases("sync/pass", **listing)
    status, _ = project.nox("-s", "one")
    assert status == 1
    assert says in project.lane("one/fake")["reasons"][0]


def test_options_after_the_dashes_select_cases(project: Project) -> None:
    project.cases("sync/width1/pass", "sync/width3/pass", "async/width3/pass")
    project.nox("-s", "one", "--", "--mode", "sync", "-k", "width3")
    lane = project.lane("one/fake")
    assert lane["counts"]["planned"] == lane["counts"]["passed"] == 1
    assert lane["verdict"] == "incomplete"
    assert "only a part was selected: --mode sync -k width3" in lane["reasons"]


def test_a_selection_that_matches_nothing_is_not_green(project: Project) -> None:
    status, output = project.nox("-s", "one", "--", "-k", "typo")
    assert status == 1
    assert "no case matches -k typo" in output


@pytest.mark.parametrize("arguments", [["--mode", "pined"], ["--workers", "0"], ["--nonsense"], ["-k"]])
def test_a_wrong_option_is_one_clear_message(project: Project, arguments: list[str]) -> None:
    status, output = project.nox("-s", "one", "--", *arguments)
    assert status == 1
    assert "usage: nox -s one --" in output
    assert not (project.root / "reports").exists(), "nothing was run"


def test_a_wrong_matrix_stops_nox_with_its_problems(project: Project) -> None:
    (project.root / "matrix.yaml").write_text("version: 1\ntargets: {one: {backend: cpuu}}\nsuites: {}\n")
    status, output = project.nox("-s", "one")
    assert status == 2
    assert "matrix.yaml:2:" in output
    assert "cpu" in output


def test_the_list_explains_every_session(project: Project) -> None:
    status, output = project.nox("-l")
    assert status == 0
    assert "one -> Build and run one/fake." in output
    assert "report -> Merge, judge and report" in output
    assert not (project.root / "reports").exists()


def _begin_and_wait(project: Project, *command: str) -> subprocess.Popen[str]:
    project.cases("sync/pass", "sync/hang", "async/pass")
    hanging = project.root / "kernels/fake/hanging"
    process = project.start("nox", *command)
    for _ in range(1200):
        results = project.root.glob("reports/runs/*/lanes/*/*/results.jsonl")
        rows = "".join(path.read_text() for path in results)
        if hanging.exists() and hanging.read_text() and rows.count("\n") == 2:
            return process
        time.sleep(0.05)
    process.kill()
    raise AssertionError(process.communicate()[0])


def _assert_all_gone(project: Project) -> None:
    pids = (project.root / "kernels/fake/hanging").read_text().split()
    for _ in range(200):
        if not any(_alive(pid) for pid in pids):
            return
        time.sleep(0.05)
    raise AssertionError(f"of {pids} some are still there")


def _alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_interrupt_keeps_what_was_measured_and_reports_it(project: Project) -> None:
    process = _begin_and_wait(project, "-s", "one", "two", "--", "--workers", "2")
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    lane = project.lane("one/fake")
    assert lane["counts"]["passed"] == 2
    assert lane["counts"]["missing"] == 1
    assert lane["verdict"] == "incomplete"
    assert any("interrupted" in reason for reason in lane["reasons"])
    assert project.lane("two/fake")["reasons"] == ["not selected in this run"]
    _assert_all_gone(project)


def test_a_killed_run_is_seen_as_dead(project: Project) -> None:
    process = _begin_and_wait(project, "-s", "one", "--", "--workers", "2")
    process.kill()
    process.communicate(timeout=60)
    assert not (project.root / "reports/latest").exists()
    status, output = project.harness("report")
    assert status == 3, output
    lane = project.lane("one/fake")
    assert "the lane died: its evidence was never completed" in lane["reasons"]
    assert lane["counts"]["passed"] == 2, "what was measured before is still there"
    _assert_all_gone(project)


def test_damaged_evidence_is_named_and_the_other_lane_is_reported(project: Project) -> None:
    project.nox("-s", "one", "two")
    path = project.root / "reports/latest/lanes/one/fake/evidence.json"
    path.write_text(path.read_text()[:500])
    status, _ = project.harness("report")
    assert status == 1
    assert "evidence.json: damaged" in project.lane("one/fake")["reasons"][0]
    assert project.lane("two/fake")["verdict"] == "qualified"


def test_two_runs_at_once_do_not_disturb_each_other(project: Project) -> None:
    processes = [project.start("nox", "-s", "one") for _ in range(2)]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    runs = sorted((project.root / "reports/runs").iterdir())
    assert len(runs) == 2
    assert all((run / "qualification.json").exists() for run in runs)


def test_without_git_the_report_says_what_identifies_the_source(project: Project) -> None:
    (project.root / ".git").rename(project.root.parent / "gone.git")
    project.environment["GIT_CEILING_DIRECTORIES"] = str(project.root.parent)
    status, _ = project.nox("-s", "one", "two")
    assert status == 0
    assert project.qualification["revision"]["commit"] is None
    assert project.qualification["revision"]["reason"] == "no git repository"


def test_a_dirty_tree_is_not_its_commit(project: Project) -> None:
    (project.root / "kernels/fake/notes.txt").write_text("x")
    project.nox("-s", "one")
    assert project.qualification["revision"]["dirty"] is True
    assert "+ changes" in (project.root / "reports/latest/qualification.md").read_text()


def test_yesterday_s_run_is_not_fresh_after_a_commit(project: Project) -> None:
    assert project.harness("run")[0] == 0
    assert project.harness("report")[0] == 0, "nothing has changed"
    old = project.lane("one/fake")["revision"]["commit"]
    (project.root / "README.md").write_text("about something else\n")
    project.git("add", ".")
    project.git("commit", "-qm", "two")
    assert project.harness("report")[0] == 0, "no input of the build has changed"
    (fresh,) = (c for c in project.lane("one/fake")["claims"] if c["claim"] == "fresh")
    assert "input files are the same in" in fresh["reason"]
    with (project.root / "kernels/fake/main.cpp").open("a") as file:
        file.write("// another source\n")
    status, output = project.harness("report")
    assert status == 3, output
    assert "input files differ: kernels/fake/main.cpp" in " ".join(output.split())
    assert project.harness("report", "--revision", old)[0] == 0, "it still stands for its own commit"
    assert project.harness("report", "--revision", "HEAD")[0] == 0
    status, output = project.harness("report", "--revision", "nothing-like-it")
    assert status == 2
    assert output == "--revision nothing-like-it: git knows no such commit\n"
    project.environment["CI"] = "true"
    assert project.nox("-s", "report")[0] == 1
    assert project.nox("-s", "report", "--", "--revision", old)[0] == 0


def test_another_declaration_in_the_matrix_is_not_fresh(project: Project) -> None:
    assert project.harness("run")[0] == 0
    matrix = project.root / "matrix.yaml"
    matrix.write_text(matrix.read_text().replace("one: {backend: cpu}", "one: {backend: cpu, compiler: g++}"))
    status, output = project.harness("report")
    assert status == 3
    said = " ".join(output.split())
    assert "under another declaration of this target or suite in the matrix" in said
    assert project.lane("two/fake")["verdict"] == "qualified"


def test_a_tree_that_changes_during_a_run_is_said_with_its_files(project: Project) -> None:
    project.cases("sync/touch")
    project.git("commit", "-qam", "a case that changes the tree")
    status, output = project.harness("run", "one/*")
    assert status == 3, output
    assert "the tree changed while the lane ran: kernels/fake/touched.h" in " ".join(output.split())


def test_reports_that_cannot_be_written_are_one_message(project: Project) -> None:
    (project.root / "reports").write_text("a file in the way")
    status, output = project.nox("-s", "one")
    assert status == 1
    assert "cannot write" in output
    assert "reports" in output


def test_a_cache_that_cannot_be_written_is_said_in_the_report(project: Project) -> None:
    (project.root / ".harness").write_text("a file in the way")
    status, output = project.nox("-s", "one")
    assert status == 1
    assert "cannot lock" in output
    assert "cannot lock" in project.lane("one/fake")["reasons"][0]


def _in_namespace(
    project: Project, setup: str, *command: str, unshare: Sequence[str] = ("--mount",)
) -> tuple[int, str]:
    """Run nox in a namespace of its own after `setup`, as only root can."""
    script = f"{setup}\nexec {shlex.join([sys.executable, '-m', *command])}"
    done = subprocess.run(
        ["unshare", *unshare, "bash", "-ec", script],
        cwd=project.root,
        env={**os.environ, **project.environment, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def _can_mount() -> bool:
    done = subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True)
    return done.returncode == 0


needs_mount = pytest.mark.skipif(not _can_mount(), reason="not here: this user cannot make a mount namespace")


@needs_mount
def test_a_read_only_reports_folder_is_one_message(project: Project) -> None:
    (project.root / "reports").mkdir()
    setup = "mount --bind reports reports; mount -o remount,ro,bind reports"
    status, output = _in_namespace(project, setup, "nox", "-s", "one")
    assert status == 1
    assert "Read-only file system" in output
    assert "Traceback" not in output


@needs_mount
def test_without_network_the_lanes_run_as_with_it(project: Project) -> None:
    status, output = _in_namespace(project, "", "nox", "-s", "one", "two", unshare=["--net"])
    assert status == 0, output
    assert project.qualification["verdict"] == "QUALIFIED"


@needs_mount
@pytest.mark.parametrize("size_k", [8, 24, 40])
def test_a_full_disk_is_said_and_never_green(project: Project, size_k: int) -> None:
    (project.root / "reports").mkdir()
    setup = f"mount -t tmpfs -o size={size_k}k tmpfs reports"
    status, output = _in_namespace(project, setup, "nox", "-s", "one")
    assert status == 1, output
    assert "No space left on device" in output
    assert "Traceback" not in output
