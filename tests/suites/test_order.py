"""The cases of a lane start so that no long group is left for the end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.evidence.model import CaseRecord
from harness.suites.driver.pytest_plugin import longest_first
from harness.words import Execution


def _case(name: str, transactions: int) -> CaseRecord:
    return CaseRecord(name=name, mode=None, group="", execution=Execution.REAL, transactions=transactions)


def test_groups_with_most_transactions_come_first() -> None:
    cases = [
        (_case("small", 5), None),
        (_case("a/1", 4), "a"),
        (_case("big", 9), None),
        (_case("a/2", 4), "a"),
    ]
    assert [case.name for case, _ in longest_first(cases)] == ["big", "a/1", "a/2", "small"]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.sampled_from([None, "a", "b"])), max_size=20).map(
        lambda drawn: [(_case(f"case{i}", number), group) for i, (number, group) in enumerate(drawn)]
    )
)
def test_no_case_is_lost(cases: list[tuple[CaseRecord, str | None]]) -> None:
    ordered = longest_first(cases)
    assert sorted(case.name for case, _ in ordered) == sorted(case.name for case, _ in cases)
    assert {case.name: group for case, group in ordered} == {case.name: group for case, group in cases}
