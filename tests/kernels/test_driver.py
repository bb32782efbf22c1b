"""What a person or the harness sees of the driver."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from tests.kernels.conftest import Driver

SCHEDULES = ("lazy", "lazy-reversed", "split")


def test_compiles_without_a_warning(build: Path) -> None:
    assert "warning" not in (build.parent / "build.log").read_text()


def test_lists_every_transaction_of_each_mode_and_schedule(driver: Driver) -> None:
    listing = driver.list()
    assert listing["suite"] == "ds4_rollback"
    assert listing["backend"] == "cpu"
    assert listing["arch"] == "x86-64"
    sweep = [case for case in listing["cases"] if case["group"] == "sweep"]
    expected = {f"sync/width{width}" for width in range(1, 7)}
    expected |= {f"async/width{width}/{name}" for width in range(1, 7) for name in SCHEDULES}
    assert {case["name"] for case in sweep} == expected
    assert sum(case["transactions"] for case in sweep if case["mode"] == "sync") == 3456
    for case in listing["cases"]:
        assert case["execution"] == ("real" if case["mode"] == "sync" else "emulated"), case["name"]


def test_list_can_be_narrowed(driver: Driver) -> None:
    names = {case["name"] for case in driver.list("--mode", "async", "--width", "3")["cases"]}
    assert names == {f"async/width3/{name}" for name in SCHEDULES}


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_every_case_passes_and_both_oracles_agree(
    mode: str, driver: Driver, oracle: ModuleType, tmp_path: Path
) -> None:
    for case in driver.list("--mode", mode)["cases"]:
        ran = driver.run(case["name"], tmp_path / "records", HARNESS_NONCE="n0")
        assert ran.status == 0, f"{case['name']}: {ran.out}{ran.err}"
        assert ran.out == ran.err == ""
        begin, device, end = ran.records[0], ran.records[1], ran.records[-1]
        assert (begin["type"], begin["case"], begin["nonce"]) == ("begin", case["name"], "n0")
        assert (device["type"], device["arch"]) == ("device", driver.list()["arch"])
        transactions = ran.of("transaction")
        assert end == {"type": "end", "transactions": case["transactions"], "failed": 0, "mismatches": 0}
        assert len({record["key"] for record in transactions}) == len(transactions) == case["transactions"]
        verified = oracle.verify(case["name"], transactions)
        assert verified.agrees, verified.first
        assert verified.transactions == case["transactions"]


def test_what_was_recorded_is_what_was_used(driver: Driver, tmp_path: Path) -> None:
    """A CPU has no page-locked memory: asking for it is recorded as what it became."""
    ran = driver.run("async/edge/allocation-failure/lazy", tmp_path / "records")
    assert ran.status == 0, ran.out
    buffers = ran.of("buffer")
    assert {(b["requested"], b["recorded"], b["kind"]) for b in buffers} == {("pinned", "async", "not-asked")}
    assert {record["recorded"] for record in ran.of("transaction")} == {"async"}


def test_refused_requests_leave_the_state_alone(driver: Driver, oracle: ModuleType, tmp_path: Path) -> None:
    for case in ("sync/edge/apply-before-save", "sync/edge/too-many-tokens"):
        ran = driver.run(case, tmp_path / "records")
        assert ran.status == 0, ran.out
        transactions = ran.of("transaction")
        assert {record["recorded"] for record in transactions} == {"none"}
        assert all("accepted=0" in record["key"] for record in transactions)
        assert oracle.verify(case, transactions).agrees


def test_high_positions_cross_the_sign_bit_of_32(driver: Driver, tmp_path: Path) -> None:
    ran = driver.run("sync/edge/high-positions", tmp_path / "records")
    keys = [record["key"] for record in ran.of("transaction")]
    assert f"pos={2**31 - 1},q=6,accepted=6" in keys
    assert f"pos={2**20},q=1,accepted=0" in keys


def test_only_runs_one_transaction_and_dump_writes_its_state(
    driver: Driver, oracle: ModuleType, tmp_path: Path
) -> None:
    key = "pos=123,q=6,accepted=5"
    whole = driver.run("sync/width6", tmp_path / "whole")
    alone = driver.run("sync/width6", tmp_path / "alone", "--only", key, "--dump")
    assert alone.status == 0
    assert alone.of("transaction") == [record for record in whole.of("transaction") if record["key"] == key]
    (state,) = alone.of("state")
    assert "as computed" in oracle.explain("sync/width6", state).text


def test_a_changed_byte_of_a_dump_is_named(driver: Driver, oracle: ModuleType, tmp_path: Path) -> None:
    ran = driver.run("sync/width1", tmp_path / "r", "--only", "pos=9,q=1,accepted=1", "--dump")
    (state,) = ran.of("state")
    tensor = bytearray.fromhex(state["tensors"][5])  # ratio 128, attention score: 8 columns of 4 bytes
    at = (9 * 8 + 3) * 4
    good = int.from_bytes(tensor[at : at + 4], "little")
    tensor[at] ^= 1
    state["tensors"][5] = tensor.hex()
    assert oracle.explain("sync/width1", state).text == (
        f"pos=9 q=1 accepted=1 tensor=5 row=9 column=3 expected=0x{good:08x} got=0x{good ^ 1:08x}"
    )


BAD_CALLS = [
    ((), "--run CASE"),
    (("--list", "--devices"), "--list and --devices"),
    (("--nonsense",), "--nonsense is not an option"),
    (("--list", "--width", "0"), "from 1 to 6"),
    (("--list", "--width", "7"), "from 1 to 6"),
    (("--list", "--width", "3x"), "from 1 to 6"),
    (("--list", "--width", "-1"), "from 1 to 6"),
    (("--list", "--width", "99999999999999999999"), "from 1 to 6"),
    (("--list", "--width"), "needs a value"),
    (("--list", "--mode", "turbo"), "sync, async or pinned"),
    (("--list", "--mode", "sync", "--mode", "sync"), "given twice"),
    (("--list", "--only", "x"), "does not go with --list"),
    (("--run",), "needs a value"),
    (("--run", "sync/width9"), "no such case"),
    (("--run", "pinned/width1"), "no such case"),
    (("--run", "sync/width1", "trailing"), "trailing is not an option"),
    (("--run", "sync/width1", "--only", "pos=128,q=1,accepted=0"), "no such transaction"),
    (("--run", "sync/width1", "--only", "pos=0,q=1,accepted=2"), "no such transaction"),
    (("--run", "sync/width1", "--only", "pos=-1,q=1,accepted=0"), "no such transaction"),
    (("--run", "sync/width1", "--dump"), "--dump needs --only"),
    (("--run", "sync/width1", "--max-failures", "many"), "a number from 0"),
    (("--run", "sync/width1", "--json", "/nonexistent/folder/file"), "cannot be written"),
    (("--run", "sync/width1", "--json", "/dev/full"), "cannot be written"),
    (("--plant", "nothing"), "heap-out-of-bounds"),
]


@pytest.mark.parametrize(("options", "said"), BAD_CALLS, ids=[" ".join(o) or "none" for o, _ in BAD_CALLS])
def test_a_wrong_call_gets_one_line_and_status_2(options: tuple[str, ...], said: str, driver: Driver) -> None:
    ran = driver.call(*options)
    assert ran.status == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert said in ran.err


def test_a_cpu_is_not_a_device_with_an_address(driver: Driver) -> None:
    ran = driver.call("--run", "sync/width1", "--device", "0000:01:00.0")
    assert ran.status == 77
    assert "0000:01:00.0" in ran.err
    (device,) = json.loads(driver.call("--devices").out)["devices"]
    assert device["memory_bytes"] > 0
    assert "uuid" not in device
    assert "pci" not in device


def _plants(driver: Driver) -> list[dict[str, Any]]:
    plants: list[dict[str, Any]] = driver.list()["plants"]
    return plants


PLANTS = (
    "heap-out-of-bounds",
    "use-after-free",
    "signed-overflow",
    "misaligned-access",
    "kernel-out-of-bounds",
)


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_defect_is_reported_at_its_line(name: str, driver: Driver) -> None:
    (plant,) = [each for each in _plants(driver) if each["name"] == name]
    ran = driver.call("--plant", name)
    assert ran.status not in (0, 2)
    assert plant["report"] in ran.err
    lines = ran.err.splitlines()
    if plant["sanitizer"] == "address":
        where = next(line for line in lines if line.strip().startswith("#0"))
    else:
        where = next(line for line in lines if "runtime error" in line)
    assert f"{plant['file']}:{plant['line']}" in where, os.linesep.join(lines[:6])


def test_all_plants_are_tested(driver: Driver) -> None:
    assert {plant["name"] for plant in _plants(driver)} == set(PLANTS)
