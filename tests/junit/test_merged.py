"""The merged file: every row is there, under its own lane, with everything that was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser.xunit2 import JUnitXml
from lxml import etree

from harness import junit
from harness.evidence.rows import Observed, Row
from harness.words import CopyMode, Outcome

if TYPE_CHECKING:
    from pathlib import Path

rows = st.builds(
    Row,
    lane=st.just("target/suite"),
    name=st.text(min_size=1, max_size=50).filter(lambda name: "@" not in name),
    outcome=st.sampled_from([Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED]),
    seconds=st.floats(min_value=0, max_value=1e6),
    message=st.text(max_size=200),
    text=st.text(max_size=200),
    properties=st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=50)), max_size=3).map(
        tuple
    ),
)


@given(st.lists(rows, max_size=8))
def test_what_is_written_is_well_formed_and_complete(
    tmp_path_factory: pytest.TempPathFactory, some: list[Row]
) -> None:
    path = tmp_path_factory.mktemp("merged") / "junit.xml"
    junit.write(junit.merged({"target/suite": some}, {}), path)
    back = list(junit.read_junit(path, "target/suite"))
    assert [row.outcome for row in back] == [row.outcome for row in some]
    assert len(back) == len(some)
    xml = JUnitXml.fromfile(str(path))
    assert xml.tests == len(some)
    assert xml.failures == sum(row.outcome is Outcome.FAILED for row in some)
    assert xml.errors == sum(row.outcome is Outcome.ERROR for row in some)
    assert sum(suite.skipped for suite in xml) == sum(row.outcome is Outcome.SKIPPED for row in some)


def test_equal_cases_of_two_lanes_stay_two(tmp_path: Path) -> None:
    lanes = {lane: [Row(lane, "sync/width1", Outcome.PASSED)] for lane in ("rtx3090/s", "h200/s")}
    path = tmp_path / "junit.xml"
    junit.write(junit.merged(lanes, {"h200/s": {"verdict": "incomplete"}}), path)
    xml = JUnitXml.fromfile(str(path))
    found = [(suite.name, case.classname, case.name) for suite in xml for case in suite]
    assert found == [("rtx3090/s", "rtx3090/s", "sync/width1"), ("h200/s", "h200/s", "sync/width1")]


def test_observations_and_target_are_in_every_row(tmp_path: Path) -> None:
    row = Row(
        "h200/s",
        "pinned/width1",
        Outcome.PASSED,
        observed=Observed(mode=CopyMode.PINNED, group="sweep", memory_kind="page-locked"),
    )
    path = tmp_path / "junit.xml"
    junit.write(junit.merged({"h200/s": [row]}, {}), path)
    elements = etree.parse(path).iterfind(".//testcase/properties/property")
    assert {element.get("name"): element.get("value") for element in elements} == {
        "target": "h200",
        "suite": "s",
        "memory_kind": "page-locked",
        "mode": "pinned",
        "group": "sweep",
        "execution": "real",
    }


def test_a_row_that_observed_no_memory_says_so(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    junit.write(junit.merged({"t/s": [Row("t/s", "a", Outcome.MISSING, synthetic=True)]}, {}), path)
    (row,) = junit.read_junit(path, "t/s")
    known = dict(row.properties)
    assert known["memory_kind"] == known["mode"] == "not observed"


def test_control_characters_become_visible(tmp_path: Path) -> None:
    row = Row(
        "t/s", "case", Outcome.FAILED, message="red \x1b[31m nul \0 \ud800 \uffff", text="]]> <b> & \x07"
    )
    path = tmp_path / "junit.xml"
    junit.write(junit.merged({"t/s": [row]}, {}), path)
    (back,) = junit.read_junit(path, "t/s")
    assert back.message == r"red \x1b[31m nul \x00 \ud800 \uffff"
    assert back.text == r"]]> <b> & \x07"


@pytest.mark.parametrize(
    "document",
    [
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><testsuite name="&a;"/>',
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><testsuite name="&b;"/>',
    ],
)
def test_entities_are_refused(tmp_path: Path, document: str) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(document)
    with pytest.raises(junit.DamagedReportError):
        list(junit.read_junit(path, "t/s"))
