"""The two oracles: equal to each other everywhere, and deaf to nothing that a driver may say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


@st.composite
def triples(draw: st.DrawFn) -> tuple[int, int, int]:
    width = draw(st.integers(0, 6))
    near = draw(st.sampled_from([0, 1 << 20, (1 << 31) - 128, (1 << 40) - 7]))
    return near + draw(st.integers(0, 300)), width, draw(st.integers(0, width))


def _records(oracle: ModuleType, chosen: list[tuple[int, int, int]]) -> list[dict[str, Any]]:
    some = oracle.Transactions.of(chosen)
    expected = oracle.digests(oracle._Sequential.after(some, oracle.Given.of(some)))
    return [
        {"key": f"pos={pos},q={width},accepted={accepted}", "digests": [f"0x{int(d):016x}" for d in digests]}
        for (pos, width, accepted), digests in zip(chosen, expected, strict=True)
    ]


@settings(deadline=None, max_examples=60)
@given(chosen=st.lists(triples(), min_size=1, max_size=20))
def test_the_two_oracles_agree(oracle: ModuleType, chosen: list[tuple[int, int, int]]) -> None:
    transactions = oracle.Transactions.of(chosen)
    given = oracle.Given.of(transactions)
    one, other = oracle._Sequential.after(transactions, given), oracle._ClosedForm.after(transactions, given)
    for left, right in zip(one.arrays, other.arrays, strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(one.counters, other.counters)


@settings(deadline=None, max_examples=30)
@given(chosen=st.lists(triples(), min_size=1, max_size=5), data=st.data())
def test_any_changed_digest_is_noticed(
    oracle: ModuleType, chosen: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    records = _records(oracle, chosen)
    assert oracle.verify("sync/any", records).agrees
    at = data.draw(st.integers(0, len(records) - 1))
    tensor = data.draw(st.integers(0, 10))
    bit = data.draw(st.integers(0, 63))
    changed = int(records[at]["digests"][tensor], 16) ^ 1 << bit
    records[at]["digests"][tensor] = f"0x{changed:016x}"
    verified = oracle.verify("sync/any", records)
    assert verified.differing == 1
    assert verified.first is not None
    assert verified.first.key == records[at]["key"]
    assert f"tensor={oracle.NAMES[tensor]}" in verified.first.text


def test_by_hand(oracle: ModuleType) -> None:
    """pos 3, two tokens accepted: the first closes a window, the second opens the next."""
    transactions = oracle.Transactions.of([(3, 4, 2)])
    given = oracle.Given.of(transactions)
    state = oracle._Sequential.after(transactions, given)
    for tensor in (0, 1, 2, 3):
        old, new = given.images[tensor][0], given.tokens[tensor][0]
        got = state.arrays[tensor][0]
        np.testing.assert_array_equal(got[0:3], old[4:7])
        np.testing.assert_array_equal(got[3], new[0])
        np.testing.assert_array_equal(got[4], new[1])
        np.testing.assert_array_equal(got[5:7], old[5:7])
        np.testing.assert_array_equal(got[7], new[0])


def test_the_generator_is_splitmix64(oracle: ModuleType) -> None:
    """First outputs of the published generator for seed 0: counters 1 and 2 of key 0."""
    gamma = 0x9E3779B97F4A7C15
    counters = np.array([gamma, 2 * gamma % (1 << 64)], dtype=np.uint64)
    assert [int(v) for v in oracle._mix(counters)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_the_data_can_tell_rows_and_transactions_apart(oracle: ModuleType) -> None:
    """Every row of an image and every token row differs from every other, and so do the transactions."""
    chosen = [(phase, width, kept) for phase in (0, 5) for width in (1, 6) for kept in (0, 1)]
    keys = oracle.Transactions.of(chosen).keys()
    for array in range(8):
        rows = np.concatenate([oracle.image(keys)[array], oracle.tokens(keys, array)], axis=1)
        flat = rows.reshape(-1, rows.shape[2])
        assert len(np.unique(flat, axis=0)) == len(flat)


def test_values_are_finite(oracle: ModuleType) -> None:
    keys = oracle.Transactions.of([(phase, 1, 0) for phase in range(128)]).keys()
    for array, bits in enumerate(oracle.image(keys)):
        values = bits.view(np.float32 if array % 2 else np.float16)
        assert np.isfinite(values).all()
        if array % 2:
            assert (np.abs(values) <= 8).all()


@pytest.mark.parametrize(
    "record",
    [
        {"key": "pos=0", "digests": ["0x0"] * 11},
        {"key": "pos=0,q=1,accepted=2", "digests": ["0x0"] * 11},
        {"key": "pos=99999999999999999999,q=1,accepted=0", "digests": ["0x0"] * 11},
        {"key": None, "digests": ["0x0"] * 11},
        {"key": "pos=0,q=1,accepted=0", "digests": ["0x0"] * 8},
        {"key": "pos=0,q=1,accepted=0", "digests": ["zero"] * 11},
        {"key": "pos=0,q=1,accepted=0", "digests": None},
    ],
)
def test_records_of_something_else_are_refused(oracle: ModuleType, record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        oracle.verify("sync/width1", [record])


def test_no_records_are_no_transactions(oracle: ModuleType) -> None:
    assert oracle.verify("sync/width1", []).transactions == 0
