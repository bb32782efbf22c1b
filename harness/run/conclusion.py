"""From a run's folder to its reports: load, merge, judge, write."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from harness import __version__, junit
from harness.evidence import store
from harness.evidence.folders import point_latest
from harness.evidence.model import Revision
from harness.evidence.store import EvidenceError
from harness.judge.verdicts import LaneRecord, judge
from harness.matrix.lanes import all_lanes
from harness.report import write as write_report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from harness.evidence.folders import Run
    from harness.judge.qualification import Qualification
    from harness.matrix.model import Matrix


def qualify(matrix: Matrix, run: Run, *, revision: Revision | None = None) -> Qualification:
    """Judge a run and write its merged `junit.xml`, `qualification.md` and `qualification.json`.

    `revision` is what is being qualified; by default the one that the run's
    first lane recorded.  Raises OutputError.
    """
    records = load_records(run)
    qualification = judge(
        matrix,
        all_lanes(matrix),
        records,
        revision=revision or _revision_of(records),
        run=run.name,
        now=dt.datetime.now(dt.UTC).replace(microsecond=0),
        harness_version=__version__,
    )
    _write_junit(qualification, records, run.folder)
    write_report(qualification, run.folder)
    point_latest(run)
    return qualification


def load_records(run: Run) -> dict[str, LaneRecord]:
    """Everything that the lanes of a run left; a damaged lane folder becomes a record that says so."""
    records = {}
    for lane in run.begun_lanes():
        folder = run.lane_folder(lane)
        where = str(folder.relative_to(run.folder))
        try:
            found = store.load(folder)
        except EvidenceError as error:
            records[lane] = LaneRecord(None, damage=str(error), folder=where)
        else:
            records[lane] = LaneRecord(found, rows=junit.lane_rows(folder, found), folder=where)
    return records


def _revision_of(records: Mapping[str, LaneRecord]) -> Revision:
    found = [record.evidence for record in records.values() if record.evidence is not None]
    if not found:
        return Revision(commit=None, reason="no lane of this run left readable evidence")
    return min(found, key=lambda e: e.started).revision


def _write_junit(qualification: Qualification, records: Mapping[str, LaneRecord], folder: Path) -> None:
    lanes = {lane.id: records[lane.id].rows for lane in qualification.lanes if lane.id in records}
    properties = {
        lane.id: {
            "verdict": lane.verdict,
            "backend": lane.backend,
            "arch": lane.arch or "",
            "device": "; ".join(device.name for device in lane.devices),
            "execution": lane.execution,
            "revision": qualification.revision.short,
        }
        for lane in qualification.lanes
    }
    junit.write(junit.merged(lanes, properties), folder / "junit.xml")
