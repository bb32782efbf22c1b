"""What follows from verdicts, held to a second reading of the table in docs/verdicts.md."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from harness.evidence.model import NotRun
from harness.evidence.store import LaneRecord
from harness.judge.policy import OF_MATRIX, POLICY, SessionState, Standing, decide, of_lane, worst
from harness.judge.qualification import Counts, LaneQualification
from harness.judge.verdicts import judge_lane
from harness.words import LaneVerdict, Verdict
from tests.judge.records import CPU, NOW, REVISION, evidence, row

PAGE = Path(__file__).resolve().parents[2] / "docs/verdicts.md"

RAN = Counts(planned=2, executed=2, passed=2)
LEFT_OUT = Counts(planned=2, executed=1, passed=1, missing=1)


def lane(
    verdict: LaneVerdict = LaneVerdict.QUALIFIED,
    *,
    not_run: NotRun | None = None,
    required: bool = True,
    counts: Counts = RAN,
    reasons: tuple[str, ...] = ("because",),
    hint: str = "",
) -> LaneQualification:
    good = judge_lane(CPU, LaneRecord(evidence(), rows=[row()]), revision=REVISION, now=NOW)
    return good.model_copy(
        update={
            "verdict": verdict,
            "not_run": not_run,
            "required": required,
            "counts": counts,
            "reasons": reasons,
            "hint": hint,
        }
    )


def table_of_the_page() -> dict[str, tuple[str, ...]]:
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    begin = next(i for i, cells in enumerate(rows) if cells[:2] == ["standing", "when"])
    table = {}
    for standing, _, *consequence in rows[begin + 2 :]:
        table[standing] = tuple(consequence)
    return table


def test_the_page_says_what_the_table_does() -> None:
    words = {s.name.lower().replace("_", " "): c for s, c in POLICY.items()}
    assert table_of_the_page() == {
        word: (str(c.exit_status), c.here.value, c.in_ci.value) for word, c in words.items()
    }
    assert list(table_of_the_page()) == [s.name.lower().replace("_", " ") for s in Standing], "best to worst"


@pytest.mark.parametrize(
    ("verdict", "not_run", "required", "counts", "named"),
    [
        *product(
            LaneVerdict, [None, *NotRun], [True, False], [RAN, LEFT_OUT, Counts(planned=2)], [True, False]
        )
    ],
)
def test_every_lane_has_a_standing(
    verdict: LaneVerdict, not_run: NotRun | None, required: bool, counts: Counts, named: bool
) -> None:
    found = of_lane(
        lane(verdict, not_run=not_run, required=required, counts=counts), ["cpu"] if named else []
    )
    if verdict == "failed":
        assert found is Standing.FAILED
    elif verdict == "qualified":
        assert found is Standing.QUALIFIED
    elif not_run is None:
        assert found is (Standing.OPEN if counts == RAN else Standing.NO_RESULT)
    elif not required or not_run == "build only" or (not_run == "no device" and named):
        assert found is Standing.EXCUSED
    else:
        assert found is Standing.INCOMPLETE


def test_the_worst_lane_counts_and_nothing_at_all_is_not_green() -> None:
    assert worst([Standing.QUALIFIED, Standing.FAILED, Standing.INCOMPLETE]) is Standing.FAILED
    assert worst([Standing.QUALIFIED, Standing.EXCUSED]) is Standing.EXCUSED
    assert worst([]) is Standing.INCOMPLETE
    assert decide([], may_be_missing=[], ci=True).state is SessionState.FAILED


def test_only_a_qualified_whole_exits_with_0() -> None:
    assert {v: POLICY[OF_MATRIX[v]].exit_status for v in Verdict} == {
        Verdict.QUALIFIED: 0,
        Verdict.INCOMPLETE: 3,
        Verdict.NOT_QUALIFIED: 1,
    }


def test_the_line_names_the_lanes_that_led_to_the_state() -> None:
    good, bad = lane(), lane(LaneVerdict.FAILED, reasons=("it broke", "and more"))
    gone = lane(
        LaneVerdict.INCOMPLETE, not_run=NotRun.NO_TOOLCHAIN, reasons=("no nvcc",), hint="install nvcc"
    )

    def said(*lanes: LaneQualification, ci: bool = False) -> tuple[SessionState, str]:
        result = decide(lanes, may_be_missing=["cpu"], ci=ci)
        return result.state, result.text

    assert said(good, good) == (SessionState.SUCCESS, "cpu/suite qualified; cpu/suite qualified")
    assert said(good, gone) == (SessionState.SKIPPED, "cpu/suite: no nvcc [install nvcc]")
    assert said(good, gone, bad) == (SessionState.FAILED, "cpu/suite: it broke")
    assert said(good, gone, ci=True) == (
        SessionState.FAILED,
        "cpu/suite: no nvcc [install nvcc]; CI is set and ci.may_be_missing in the matrix does not excuse it",
    )
