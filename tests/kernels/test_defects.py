"""One wrong line in the code under test is found, and named, by driver and oracle alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from tests.kernels.conftest import Defects


def test_a_defect_of_the_restore_is_named_by_driver_and_oracle(
    defects: Defects, oracle: ModuleType, tmp_path: Path
) -> None:
    """Ring rows past the end of the ring: needs a phase of 123 or more to show at all."""
    bad = defects.plant(
        "cache/spans.cpp",
        "ring_row(shape, array, pos + token)",
        "(array < kTensors && pos % 128 + token > 127 ? 127 : ring_row(shape, array, pos + token))",
    )
    before = bad.run("sync/width6", tmp_path / "before", "--only", "pos=122,q=6,accepted=0")
    assert before.status == 0
    ran = bad.run("sync/width6", tmp_path / "records")
    assert ran.status == 1
    first = ran.of("mismatch")[0]
    assert first["key"] == "pos=123,q=6,accepted=0"
    assert first["tensor"] == "4"
    assert first["text"].startswith("pos=123 q=6 accepted=0 tensor=4 row=")
    assert first["expected"] != first["got"]
    assert first["text"] in ran.out
    assert len(ran.of("mismatch")) == 20
    end = ran.records[-1]
    verified = oracle.verify("sync/width6", ran.of("transaction"))
    assert verified.differing == end["failed"] > 0
    assert verified.first.key == first["key"]
    again = bad.run("sync/width6", tmp_path / "again", "--only", first["key"], "--dump")
    assert again.status == 1
    assert oracle.explain("sync/width6", again.of("state")[0]).text == first["text"]
    stopped = bad.run("sync/width6", tmp_path / "stopped", "--max-failures", "1")
    assert stopped.records[-1]["failed"] == 1
    assert stopped.of("mismatch")[0] == first


def test_a_missing_event_shows_only_in_a_late_order(defects: Defects, tmp_path: Path) -> None:
    """The overwrite does not wait for the save's copies: an eager machine never shows it."""
    bad = defects.plant("cache/rollback.cpp", "    main.wait(after_copies_);\n", "")
    assert bad.run("sync/width1", tmp_path / "records").status == 0
    assert bad.run("async/width1/lazy-reversed", tmp_path / "records").status == 0
    ran = bad.run("async/width1/lazy", tmp_path / "records")
    assert ran.status == 1
    assert ran.of("mismatch")[0]["key"] == "pos=0,q=1,accepted=0"


def test_staging_that_is_freed_too_early_is_seen_by_asan(defects: Defects, tmp_path: Path) -> None:
    bad = defects.plant(
        "cache/rollback.cpp", "if (other_staging || other_stream) saved_->stream->synchronize();", ""
    )
    ran = bad.run("async/edge/mode-switch/lazy", tmp_path / "records")
    assert ran.status not in (0, 1, 2) or "AddressSanitizer" in ran.err
    assert "heap-use-after-free" in ran.err
