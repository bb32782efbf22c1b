"""The independent oracles of ds4_rollback: what the state must be after a transaction, twice over.

`_Sequential` writes the accepted tokens one after the other; `_ClosedForm` asks for
each row which token was the last to write it.  They share the data (README.md:
generator, shape) and no code: `verify` takes the digests of one and demands that
the other has the same state.  Everything is computed for many transactions at
once; the first axis of every array is the transaction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness.oracle import Difference, Verification

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

U64 = NDArray[np.uint64]
Bits = NDArray[np.uint16] | NDArray[np.uint32]
"""Elements as their bits: halves as 16, floats as 32."""

ATTENTION, INDEX = 8, 3
RAW_ROWS, RAW = 10, 5
HYPER_CONNECTION = 12
RAW_RING, HYPER = 8, 9
ARRAYS = 10
SHAPES: tuple[tuple[int, int], ...] = (
    *((rows, columns) for rows in (8, 128) for columns in (ATTENTION, INDEX) for _ in range(2)),
    (RAW_ROWS, RAW),
    (1, HYPER_CONNECTION),
)
"""Rows and columns of the ten arrays, in the order of README.md."""

NAMES = (*(str(tensor) for tensor in range(8)), "raw", "hc", "counters")
TOKEN_STREAM = 16
MAX_WIDTH = 6
_BATCH = 128  # transactions at a time: their arrays stay in a processor's cache

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_SEED = np.uint64(0x6473345F726F6C6C)


@dataclass(frozen=True, slots=True)
class State:
    """States: ten arrays, each `[transaction][row][column]`, and counters `[transaction][3]`."""

    arrays: tuple[Bits, ...]
    counters: U64


@dataclass(frozen=True, slots=True)
class Transactions:
    """Many transactions; each member has one value a transaction."""

    pos: U64
    width: U64
    accepted: U64

    @classmethod
    def of(cls, triples: Iterable[tuple[int, int, int]]) -> Transactions:
        """Take `(pos, q, accepted)` of each."""
        columns = np.array(list(triples), dtype=np.uint64).reshape(-1, 3)
        return cls(columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy())

    def __len__(self) -> int:
        return len(self.pos)

    def keys(self) -> U64:
        """The generator's key of each."""
        key = np.full(len(self), _SEED, dtype=np.uint64)
        for part in (self.pos, self.width, self.accepted):
            key = _mix(key + (part + np.uint64(1)) * _GAMMA)
        return key

    def parts(self) -> Iterable[Transactions]:
        """The same, a batch at a time."""
        for start in range(0, len(self), _BATCH):
            part = slice(start, start + _BATCH)
            yield Transactions(self.pos[part], self.width[part], self.accepted[part])


# ---- data: the generator and the digest, as README.md describes them


def _mix(value: U64) -> U64:
    """Finalise as splitmix64 does; the argument keeps its value."""
    mixed = value ^ (value >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _bits(random: U64, array: int) -> Bits:
    if array % 2:
        steps = (random >> np.uint64(40)).astype(np.int32) - np.int32(1 << 23)
        return (steps.astype(np.float32) * np.float32(2.0**-20)).view(np.uint32)
    half = (random >> np.uint64(48)).astype(np.uint16)
    infinite = (half & np.uint16(0x7C00)) == np.uint16(0x7C00)
    return np.where(infinite, half ^ np.uint16(0x4000), half)


def generated(keys: U64, stream: int, array: int, rows: int) -> Bits:
    """Elements of `rows` rows of an array for each key, shape `[key][row][column]`."""
    columns = SHAPES[array][1]
    row = np.arange(rows, dtype=np.uint64)[:, None]
    column = np.arange(columns, dtype=np.uint64)
    counters: U64 = (np.uint64(stream) << np.uint64(48)) + (row << np.uint64(24)) + column
    counters = (counters + np.uint64(1)) * _GAMMA
    return _bits(_mix(keys[:, None, None] + counters), array)


def image(keys: U64) -> list[Bits]:
    """The initial image of each key."""
    return [generated(keys, array, array, rows) for array, (rows, _) in enumerate(SHAPES)]


def tokens(keys: U64, array: int) -> Bits:
    """What the tokens of each key put into an array, shape `[key][token][column]`."""
    return generated(keys, TOKEN_STREAM + array, array, MAX_WIDTH)


@dataclass(frozen=True, slots=True)
class Given:
    """What both oracles start from: for each array its initial images and its tokens."""

    images: tuple[Bits, ...]
    tokens: tuple[Bits, ...]

    @classmethod
    def of(cls, transactions: Transactions) -> Given:
        """Generate them."""
        keys = transactions.keys()
        return cls(tuple(image(keys)), tuple(tokens(keys, array) for array in range(ARRAYS)))


def digests(state: State) -> U64:
    """Digest of each array and of the counters, shape `[transaction][11]`."""
    found = [_digest(array.reshape(len(array), -1)) for array in state.arrays]
    return np.stack([*found, _digest(state.counters)], axis=1)


def _digest(elements: NDArray[np.unsignedinteger]) -> U64:
    place = np.arange(1, elements.shape[1] + 1, dtype=np.uint64) * _GAMMA
    total: U64 = _mix(elements.astype(np.uint64) ^ place).sum(axis=1, dtype=np.uint64)
    return total


# ---- the first oracle: token by token


class _Sequential:
    """The accepted tokens, written one after the other."""

    @staticmethod
    def after(transactions: Transactions, given: Given) -> State:
        arrays = [array.copy() for array in given.images]
        inputs = given.tokens
        position = transactions.pos.copy()
        every = np.arange(len(transactions))
        most = int(transactions.accepted.max(initial=0))
        for token in range(most):
            now = every[transactions.accepted > token]
            at = position[now]
            for array in range(ARRAYS):
                new = inputs[array][now, token]
                if array < 4:
                    window = arrays[array]
                    window[now, (4 + at % 4).astype(np.intp)] = new
                    full = now[at % 4 == 3]
                    window[full, 0:4] = window[full, 4:8]
                elif array < RAW_RING:
                    arrays[array][now, (at % 128).astype(np.intp)] = new
                elif array == RAW_RING:
                    arrays[array][now, (at % RAW_ROWS).astype(np.intp)] = new
                else:
                    before = arrays[array][now, 0].view(np.float32)
                    arrays[array][now, 0] = (before * np.float32(0.5) + new.view(np.float32)).view(np.uint32)
            position[now] += np.uint64(1)
        counters = np.stack([position, position // 4, position // 128], axis=1)
        return State(tuple(arrays), counters)


# ---- the second oracle: which token wrote a row last


class _ClosedForm:
    """For each row: the last accepted token that belongs there, else what was there."""

    @staticmethod
    def after(transactions: Transactions, given: Given) -> State:
        pos, accepted = transactions.pos.astype(np.int64), transactions.accepted.astype(np.int64)
        arrays: list[Bits] = []
        for array, (old, new) in enumerate(zip(given.images, given.tokens, strict=True)):
            if array < 4:
                arrays.append(_ClosedForm._window(pos, accepted, old, new))
            elif array != HYPER:
                last = _ClosedForm._last(pos, accepted, old.shape[1])
                arrays.append(_ClosedForm._chosen(last, old, new))
            else:
                arrays.append(_ClosedForm._weighted(accepted, old, new))
        end = transactions.pos + transactions.accepted
        counters = np.stack([end, end >> np.uint64(2), end >> np.uint64(7)], axis=1)
        return State(tuple(arrays), counters)

    @staticmethod
    def _last(pos: NDArray[np.int64], count: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
        """Last token `i < count` with `(pos + i) mod modulus == row`, else -1; `[transaction][row]`."""
        rows = np.arange(modulus, dtype=np.int64)
        back = (pos[:, None] + count[:, None] - 1 - rows) % modulus
        return np.maximum(count[:, None] - 1 - back, -1)

    @staticmethod
    def _chosen(last: NDArray[np.int64], old: Bits, new: Bits) -> Bits:
        picked = np.take_along_axis(new, np.maximum(last, 0)[:, :, None], axis=1)
        return np.where(last[:, :, None] >= 0, picked, old)

    @staticmethod
    def _window(pos: NDArray[np.int64], accepted: NDArray[np.int64], old: Bits, new: Bits) -> Bits:
        current = _ClosedForm._chosen(_ClosedForm._last(pos, accepted, 4), old[:, 4:], new)
        # Tokens up to and with the last one that closes a window; none if no accepted token does.
        closed = accepted - (pos + accepted) % 4
        rotated = _ClosedForm._chosen(_ClosedForm._last(pos, np.maximum(closed, 0), 4), old[:, 4:], new)
        previous = np.where((closed > 0)[:, None, None], rotated, old[:, :4])
        return np.concatenate([previous, current], axis=1)

    @staticmethod
    def _weighted(accepted: NDArray[np.int64], old: Bits, new: Bits) -> Bits:
        """Nested halvings, from the oldest term inwards; each step is rounded to F32 as the state is."""
        value = old[:, 0].view(np.float32)
        for token in range(MAX_WIDTH):
            step = np.ldexp(value, -1) + new[:, token].view(np.float32)
            value = np.where((token < accepted)[:, None], step, value)
        return value.astype(np.float32).view(np.uint32)[:, None]


# ---- what the harness calls


def _check(transactions: Transactions) -> tuple[U64, NDArray[np.bool_]]:
    """Digests by the sequential oracle, and where the closed form has another state."""
    found: list[U64] = []
    apart: list[NDArray[np.bool_]] = []
    for part in transactions.parts():
        given = Given.of(part)
        one, other = _Sequential.after(part, given), _ClosedForm.after(part, given)
        differs = (one.counters != other.counters).any(axis=1)
        for left, right in zip(one.arrays, other.arrays, strict=True):
            differs |= (left != right).any(axis=(1, 2))
        found.append(digests(one))
        apart.append(differs)
    return np.concatenate(found), np.concatenate(apart)


@lru_cache(maxsize=32)
def _expected(triples: tuple[tuple[int, int, int], ...]) -> tuple[U64, NDArray[np.bool_]]:
    """Remembered: every schedule and copy mode asks for the same transactions."""
    return _check(Transactions.of(triples))


_KEY = re.compile(r"pos=(\d{1,20}),q=(\d{1,3}),(?:first=\d{1,3},)?accepted=(\d{1,3})")


@lru_cache(maxsize=1 << 14)
def _triple(key: object) -> tuple[int, int, int]:
    """Read a transaction's key; raises ValueError."""
    match = _KEY.fullmatch(key) if isinstance(key, str) else None
    if match is None:
        raise ValueError(f"not the key of a transaction: {key!r}")
    pos, width, accepted = (int(part) for part in match.groups())
    if pos >= 1 << 63 or accepted > min(width, MAX_WIDTH):
        raise ValueError(f"not a transaction that can be computed: {key}")
    return pos, width, accepted


def verify(case: str, records: Sequence[Mapping[str, object]]) -> Verification:
    """Recompute the digests of each transaction record of a case.

    A transaction differs if any digest does, or if the two oracles disagree
    about it.  Raises ValueError for a record that is none of this suite.
    """
    if not records:
        return Verification(0, 0)
    triples = tuple(_triple(record["key"]) for record in records)
    expected, apart = _expected(triples)
    got = np.array([_digests_of(record["digests"]) for record in records], np.uint64)
    if got.shape != expected.shape:
        raise ValueError(f"{case}: {expected.shape[1]} digests a transaction are needed")
    wrong = got != expected
    differing = np.flatnonzero(wrong.any(axis=1) | apart)
    if not len(differing):
        return Verification(len(records), 0)
    first = int(differing[0])
    key = str(records[first]["key"])
    where = np.flatnonzero(wrong[first])
    said = f"tensor={NAMES[where[0]]} digest differs" if len(where) else "the two oracles disagree"
    return Verification(len(records), len(differing), Difference(key, f"{key.replace(',', ' ')} {said}"))


def group(case: str) -> str:
    """Name the transactions of a case: copy modes and schedules of one name have the same answers."""
    parts = case.split("/")
    return "/".join(parts[1:3] if parts[1:2] == ["edge"] else parts[1:2])


def explain(case: str, state: Mapping[str, object]) -> Difference:
    """Name the first element of a `state` record that is not as computed; raises ValueError."""
    key = str(state["key"])
    alone = Transactions.of([_triple(key)])
    expected = _Sequential.after(alone, Given.of(alone))
    dumped = _list(state["tensors"])
    arrays: list[NDArray[np.unsignedinteger]] = [array[0] for array in expected.arrays]
    arrays.append(expected.counters)
    spoken = key.replace(",", " ")
    for name, array, text in zip(NAMES, arrays, dumped, strict=True):
        got = np.frombuffer(bytes.fromhex(str(text)), dtype=array.dtype.newbyteorder("<"))
        if got.size != array.size:
            raise ValueError(f"{case}: tensor {name} has {got.size} elements instead of {array.size}")
        wrong = np.flatnonzero(got != array.ravel())
        if len(wrong):
            at = int(wrong[0])
            row, column = divmod(at, array.shape[1])
            want, have = int(array.ravel()[at]), int(got[at])
            values = (
                f"expected={want} got={have}"
                if name == "counters"
                else f"expected=0x{want:0{2 * array.itemsize}x} got=0x{have:0{2 * array.itemsize}x}"
            )
            return Difference(key, f"{spoken} tensor={name} row={row} column={column} {values}")
    return Difference(key, f"{spoken} run again by itself, the transaction is as computed")


def _digests_of(texts: object) -> NDArray[np.uint64]:
    """Read digests as the driver writes them, 0x and 16 hexadecimal digits; raises ValueError."""
    words = [str(text) for text in _list(texts)]
    if any(len(word) != 18 or not word.startswith("0x") for word in words):
        raise ValueError(f"not digests of 16 hexadecimal digits: {words}")
    return np.frombuffer(bytes.fromhex("".join(word[2:] for word in words)), dtype=">u8")


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"not a list: {value!r}")  # noqa: TRY004 - a bad record, not a bad call
    return value
