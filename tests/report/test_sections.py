"""The size of a page: it stays within its limit, is cut between entries, and says what was cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.judge.qualification import Failure
from harness.report.markdown import MOST_BYTES, markdown
from harness.report.sections import Section, fit, size
from tests.report.examples import damaged, defect_in_restore

entries = st.lists(st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=300), max_size=40)


@given(st.lists(entries, max_size=6), st.integers(2000, 20_000))
def test_a_page_stays_within_its_limit_and_counts_what_was_cut(found: list[list[str]], limit: int) -> None:
    sections = [Section(f"S{index}", tuple(texts), lead="lead") for index, texts in enumerate(found)]
    page = fit("head\n", sections, limit)
    assert size(page) <= limit
    assert page.startswith("head\n")
    whole = fit("head\n", sections, 10**9)
    assert page == whole or "entries were cut here" in page
    for section in sections:
        assert (f"### {section.title}" in page) == bool(section.entries), "no section vanishes"


def test_a_long_section_does_not_push_out_a_short_one() -> None:
    long, short = Section("Long", ("x" * 99,) * 1000), Section("Short", ("only",))
    for order in ((long, short), (short, long)):
        page = fit("head\n", order, 5000)
        assert "### Short\n\nonly\n" in page
        assert re.search(r"\*9\d\d of 1000 entries were cut here", page)


@pytest.mark.parametrize(("lanes", "failures"), [(1000, 100), (3, 20_000)])
def test_the_page_of_a_huge_run_is_short_and_whole(lanes: int, failures: int) -> None:
    example = defect_in_restore()
    many = tuple(
        Failure(
            case=f"case-{index}",
            outcome="failed",
            message=f"größe {index} `" * 20,
            reproduce=(f"run {index}", "x" * 500),
        )
        for index in range(failures)
    )
    lane = example.lanes[4].model_copy(update={"failures": many})
    everything = tuple(lane.model_copy(update={"target": f"t{number}"}) for number in range(lanes))
    page = markdown(example.model_copy(update={"lanes": everything}))
    assert size(page) <= MOST_BYTES
    assert page.startswith("## NOT QUALIFIED: 1943f738cdd4")
    for title in ("Lanes", "Failures", "Not established", "Established", "Not claimed", "Evidence"):
        assert f"### {title}" in page
    assert "more failing cases; qualification.json has them" in page
    if lanes == 1000:
        assert re.search(r"\*\d+ of 1000 entries were cut here; qualification.json has them all", page)
    fences = [t for t in MarkdownIt().parse(page) if t.type == "fence"]
    assert [t.content for t in fences] == [f"run {index}\n{'x' * 500}\n" for index in range(3)]


def test_the_same_qualification_gives_the_same_bytes() -> None:
    first = damaged()
    assert markdown(first) == markdown(first.model_copy(deep=True))
    assert markdown(first) == markdown(damaged())
