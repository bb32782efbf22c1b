"""A suite kind is one folder: a second, tiny one goes through a whole lane without a line elsewhere."""

from __future__ import annotations

import io
import json
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Literal

import pytest
from pydantic import Field

from harness import claims
from harness.evidence.folders import Run
from harness.evidence.model import CaseRecord, DeviceRecord, NotRun, State
from harness.evidence.rows import Observed, Row
from harness.judge.policy import SessionState
from harness.matrix.lanes import all_lanes
from harness.matrix.model import Matrix
from harness.run.conclusion import Conclusion, read_record
from harness.run.options import Options
from harness.run.series import run_session
from harness.suites import keys
from harness.suites.keys import SuiteKeys, Text
from harness.suites.protocol import Command, Devices, PlantedDefect, Progress, SuiteError, Work
from harness.system.machine import architecture
from harness.words import Backend, ClaimState, Execution, LaneVerdict, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.build import Artifact
    from harness.evidence.model import Evidence
    from harness.suites.protocol import Setting
    from tests.matrix.conftest import ProblemsOf


class ScriptSuite(SuiteKeys):
    """Suites of this test: each case is a line of Python."""

    kind: Annotated[Literal["script"], Field(description="kind of the suite")] = "script"
    lines: Annotated[dict[str, Text], Field(description="the cases")]


class ScriptOfLane:
    """Runs all cases in one process, which writes one line for each."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        suite = setting.lane.suite
        assert isinstance(suite, ScriptSuite)
        self.lines = suite.lines

    def build(self) -> Artifact | None:
        return None

    def inputs(self) -> tuple[Path, ...]:
        return ()

    def devices(self) -> Devices:
        name, arch = "A processor", architecture()
        return Devices((DeviceRecord(source="runtime", backend=Backend.CPU, name=name, arch=arch),))

    def cases(self) -> tuple[CaseRecord, ...]:
        if "unlisted" in self.lines:
            raise SuiteError("the script cannot say what it has")
        return tuple(
            CaseRecord(name=name, mode=None, group="", execution=Execution.REAL, transactions=0)
            for name in self.lines
        )

    def defects(self) -> tuple[PlantedDefect, ...]:
        return ()

    def start(self, work: Work) -> Command:
        self.total = len(work.cases)
        program = ["import json"]
        for case in work.cases:
            program += [
                f"try:\n  {self.lines[case.name]}\n  said = 'passed'",
                "except AssertionError: said = 'failed'",
                f"print(json.dumps([{case.name!r}, said]), flush=True)",
            ]
        return Command((sys.executable, "-c", "\n".join(program)), self.setting.environment)

    def look(self) -> Progress:
        return Progress(len(_said(self.setting.folder)), 0, self.total)

    def selected(self) -> frozenset[str]:
        return frozenset(self.lines)

    def transactions(self, case: CaseRecord) -> frozenset[str]:
        return frozenset()


def _said(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "run.log").read_text().splitlines()
    return [tuple(json.loads(line)) for line in lines if line.startswith("[")]


class ScriptKind:
    def suite(self, setting: Setting) -> ScriptOfLane:
        return ScriptOfLane(setting)

    def rows(self, folder: Path, evidence: Evidence, *, ended: bool) -> tuple[Row, ...]:
        if evidence.not_run is not None:
            return ()
        device = evidence.devices[0]
        said = dict(_said(folder))
        return tuple(
            Row(
                evidence.lane,
                case.name,
                Outcome(said.get(case.name, "missing")),
                observed=Observed(device=device) if case.name in said else Observed(),
            )
            for case in evidence.planned
        )


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the kind as its folder and its line in the table would."""
    monkeypatch.setitem(keys.KINDS, "script", "script_suites")
    made: dict[str, dict[str, object]] = {"keys": {"KEYS": ScriptSuite}, "kind": {"KIND": ScriptKind()}}
    monkeypatch.setitem(sys.modules, "script_suites", ModuleType("script_suites"))
    for name, content in made.items():
        module = ModuleType(f"script_suites.{name}")
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    Matrix.model_rebuild(force=True)
    yield
    monkeypatch.undo()
    Matrix.model_rebuild(force=True)


def _matrix(**lines: str) -> Matrix:
    return Matrix.model_validate(
        {
            "version": 1,
            "targets": {"here": {"backend": "cpu"}},
            "suites": {"small": {"kind": "script", "lines": lines}},
        }
    )


def _run(tmp_path: Path, matrix: Matrix, options: Options | None = None) -> tuple[Conclusion, SessionState]:
    conclusion = Conclusion(matrix, Run(tmp_path, "run"))
    said = run_session(conclusion, all_lanes(matrix), options or Options(), stream=io.StringIO())
    return conclusion, said.state


@pytest.mark.usefixtures("script")
def test_a_kind_goes_through_a_whole_lane(tmp_path: Path) -> None:
    matrix = _matrix(one="assert 1 + 1 == 2", two="assert 'a' < 'b'")
    conclusion, _ = _run(tmp_path, matrix)
    (lane,) = conclusion.write().lanes
    assert (lane.counts.planned, lane.counts.passed, lane.exit_status) == (2, 2, 0)
    states = {claim.claim: claim.state for claim in lane.claims}
    assert states[claims.DEVICE] is ClaimState.ESTABLISHED
    assert states[claims.NATIVE_CODE] is ClaimState.NOT_ESTABLISHED, "nothing was built, so nothing is known"
    assert not lane.built
    found = read_record(conclusion.run, "here/small")
    assert found.evidence is not None
    assert (found.evidence.kind, found.evidence.state, found.evidence.executor) == (
        "script",
        State.FINISHED,
        "local",
    )
    assert [row.outcome for row in found.rows] == [Outcome.PASSED, Outcome.PASSED]
    assert (conclusion.run.folder / "junit.xml").read_text().count("<testcase") == 2


@pytest.mark.usefixtures("script")
def test_its_failures_and_its_silence_are_judged_as_those_of_any_kind(tmp_path: Path) -> None:
    conclusion, state = _run(tmp_path, _matrix(good="pass", bad="assert False", gone="raise SystemExit(0)"))
    (lane,) = conclusion.write().lanes
    assert (lane.counts.passed, lane.counts.failed, lane.counts.missing) == (1, 1, 1)
    assert lane.verdict is LaneVerdict.FAILED
    assert state is SessionState.FAILED


@pytest.mark.usefixtures("script")
def test_a_suite_that_cannot_list_its_cases_ends_its_lane(tmp_path: Path) -> None:
    conclusion, _ = _run(tmp_path, _matrix(unlisted="pass"))
    (lane,) = conclusion.write().lanes
    assert (lane.not_run, lane.reasons[0]) == (
        NotRun.LISTING_FAILED,
        "the script cannot say what it has",
    )


@pytest.mark.usefixtures("script")
def test_options_select_among_cases_of_any_kind(tmp_path: Path) -> None:
    conclusion, _ = _run(tmp_path, _matrix(one="pass", two="pass"), Options(cases=("t*",)))
    (lane,) = conclusion.write().lanes
    assert (lane.counts.planned, lane.selection) == (1, ("--case t*",))


SMALL = """\
version: 1
targets:
  here: {backend: cpu}
suites:
  small:
    kind: script
    lines: {one: pass}
"""


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("kind: script", "kind: script", ""),
        (
            "kind: script",
            "kind: scirpt",
            "6:11: suites.small.kind: found 'scirpt'; allowed: driver, script; did you mean 'script'?",
        ),
        ("kind: script", "kind: 3", "6:11: suites.small.kind: found '3'; allowed: driver, script"),
        (
            "    kind: script\n",
            "    kernels: k\n    copy_modes: {cpu: [sync]}\n",
            "8:5: unknown key 'lines' in suites.small; allowed: kind, targets, timeout_s, kernels, "
            "copy_modes, establish",
        ),
        (
            "    lines: {one: pass}\n",
            "    copy_modes: {cpu: [sync]}\n    lines: {one: pass}\n",
            "7:5: unknown key 'copy_modes' in suites.small; allowed: kind, targets, timeout_s, lines",
        ),
        ("    lines: {one: pass}\n", "", "5:3: suites.small needs the key 'lines' (the cases)"),
        (
            "{one: pass}",
            "{one: 1.5}",
            "7:18: suites.small.lines.one: found 1.5 (a number; put it in quotes to make it text); "
            "allowed: text",
        ),
    ],
)
def test_each_kind_has_its_own_keys_and_messages(
    problems_of: ProblemsOf, old: str, new: str, says: str
) -> None:
    assert problems_of(SMALL.replace(old, new)) == ([says] if says else [])


def test_without_other_kinds_only_driver_is_allowed(problems_of: ProblemsOf) -> None:
    assert problems_of(SMALL) == ["6:11: suites.small.kind: found 'script'; allowed: driver"]


@pytest.mark.usefixtures("script")
def test_the_schema_is_a_union_of_the_kinds() -> None:
    suites = Matrix.model_json_schema()["properties"]["suites"]
    assert "ScriptSuite" in str(suites)
    assert "DriverSuite" in str(suites)
