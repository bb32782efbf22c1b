"""Reports of runs as they happen, letter by letter: a change of the wording is read before it goes in."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from harness import report
from harness.evidence import store
from harness.evidence.model import NotRun
from harness.judge.qualification import Qualification
from harness.words import ClaimState, LaneVerdict, Verdict
from tests.report.examples import EXAMPLES, FOLDER, GOLDEN, LANES, damaged, forms, ran

SCHEMAS = Path(__file__).parents[2] / "harness"

VERDICTS = {
    "fresh_machine": Verdict.INCOMPLETE,
    "no_compilers": Verdict.INCOMPLETE,
    "defect_in_restore": Verdict.NOT_QUALIFIED,
    "everything_qualified": Verdict.QUALIFIED,
    "gpu_with_open_claims": Verdict.INCOMPLETE,
    "interrupted": Verdict.INCOMPLETE,
    "damaged": Verdict.NOT_QUALIFIED,
    "one_lane_of_many": Verdict.INCOMPLETE,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_forms_are_those_that_were_read(name: str) -> None:
    for file, text in forms(name).items():
        assert text == (GOLDEN / file).read_text(encoding="utf-8"), (
            f"{file} differs; if that is meant: python -m tests.report.examples, and read the difference"
        )


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {file for name in EXAMPLES for file in forms(name)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_what_they_are_called(name: str) -> None:
    found = EXAMPLES[name]()
    assert found.verdict is VERDICTS[name]
    assert len(found.lanes) == 5


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_written_is_as_the_schema_says_and_reads_back(name: str, tmp_path: Path) -> None:
    found = EXAMPLES[name]()
    report.write(found, tmp_path)
    text = (tmp_path / "qualification.json").read_text(encoding="utf-8")
    schema = json.loads((SCHEMAS / "qualification.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    assert Qualification.model_validate_json(text) == found


@pytest.mark.parametrize("target", LANES)
def test_evidence_is_written_as_its_schema_says(target: str, tmp_path: Path) -> None:
    found = ran(LANES[target]).evidence
    assert found is not None
    store.save(found, tmp_path)
    schema = json.loads((SCHEMAS / "evidence.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    written = json.loads((tmp_path / store.FILE_NAME).read_text(encoding="utf-8"))
    validator.validate(written)
    assert not validator.is_valid({**written, "more": 1})
    assert not validator.is_valid({**written, "state": "asleep"})


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_established_section_holds_established_claims_and_nothing_else(name: str) -> None:
    found = EXAMPLES[name]()
    text = report.markdown(found)
    section = text.partition("### Established\n")[2].partition("\n### ")[0]
    said = [line.strip(" -").split(":")[0] for line in section.splitlines() if line.startswith("  - ")]
    held = [
        claim.title
        for lane in found.lanes
        for claim in lane.claims
        if claim.state is ClaimState.ESTABLISHED and lane.counts.executed
    ]
    assert said == held


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_open_claim_and_every_reason_is_on_the_page(name: str) -> None:
    found = EXAMPLES[name]()
    text = report.markdown(found).replace("&lt;", "<").replace("&gt;", ">").replace("\\", "")
    for lane in found.lanes:
        for claim in lane.claims:
            if claim.state is not ClaimState.ESTABLISHED and lane.counts.executed:
                assert claim.title in text
                assert claim.reason in text
        if lane.not_run is NotRun.NOT_SELECTED:
            (line,) = (line for line in text.splitlines() if lane.id in line)
            assert line.startswith("Not selected in this run: ")
        elif lane.verdict is not LaneVerdict.QUALIFIED and not lane.failures and not lane.counts.executed:
            assert lane.reasons[0] in text


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_summary_fits_eighty_columns_but_for_what_is_copied(name: str) -> None:
    found = EXAMPLES[name]()
    lines = report.terminal_summary(found, FOLDER, width=80, color=False).splitlines()
    copied = {failure.reproduce[0] for lane in found.lanes for failure in lane.failures[:1]}
    assert all(len(line) <= 80 for line in lines if line.strip() not in copied)
    rows = [line for line in lines if line.startswith(tuple(f"{lane.id} " for lane in found.lanes))]
    assert sorted(row.split()[0] for row in rows if row.endswith(tuple(LaneVerdict))) == sorted(
        lane.id for lane in found.lanes if lane.not_run is not NotRun.NOT_SELECTED
    )


def test_a_damaged_lane_is_not_called_not_run() -> None:
    text = report.markdown(damaged())
    row = next(line for line in text.splitlines() if line.startswith("| rtx3090/"))
    assert "not known: evidence.json: damaged" in row
    assert "not run" not in row
