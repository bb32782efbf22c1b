"""From what the lanes of a run left to its verdict and reports: each lane is read once and judged once."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from harness import __version__, junit, report
from harness.evidence import store
from harness.evidence.folders import JUNIT, point_latest
from harness.evidence.model import Revision, State
from harness.evidence.store import EvidenceError, LaneRecord
from harness.judge.verdicts import judge_lane, qualification_of
from harness.matrix.lanes import all_lanes
from harness.suites.protocol import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.evidence.folders import Run
    from harness.evidence.revision import Source
    from harness.judge.qualification import LaneQualification, Qualification
    from harness.matrix.lanes import Lane
    from harness.matrix.model import Matrix


class Conclusion:
    """The judgement of one run.

    Lanes that this process runs are judged as they end; what other processes
    left (those of `nox -j`, or of an earlier day) is read from the run's
    folder when the reports are written.
    """

    def __init__(self, matrix: Matrix, run: Run, source: Source | None = None) -> None:
        """Judge for a source; by default for the revision that the run's first lane recorded.

        The default is for a run that has just been made; one of an earlier
        day must be held against what is there now.
        """
        self.matrix = matrix
        self.run = run
        self.revision = source.revision if source is not None else None
        self._source = source
        self._now = dt.datetime.now(dt.UTC)
        self._records: dict[str, LaneRecord] = {}
        self._judged: dict[str, LaneQualification] = {}

    def judge(self, lane: Lane, record: LaneRecord | None) -> LaneQualification:
        """Judge a lane by its record; None means that it has none."""
        if record is not None:
            self._records[lane.id] = record
        if self.revision is None:
            self.revision = _revision_of(self._records)
        self._judged[lane.id] = judge_lane(
            lane,
            record,
            self.matrix.expected_skips,
            revision=self.revision,
            now=self._now,
            differing=self._differing(record),
        )
        return self._judged[lane.id]

    def _differing(self, record: LaneRecord | None) -> tuple[str, ...] | None:
        evidence = record.evidence if record is not None else None
        if self._source is None or evidence is None or evidence.revision == self.revision:
            return None
        return self._source.differing(evidence.inputs)

    def write(self) -> Qualification:
        """Judge what is left and write `junit.xml`, `qualification.md` and `.json`; raises OutputError."""
        for lane_id in self.run.begun_lanes():
            if lane_id not in self._records:
                self._records[lane_id] = read_record(self.run, lane_id)
        lanes = all_lanes(self.matrix)
        for lane in lanes:
            if lane.id not in self._judged:
                self.judge(lane, self._records.get(lane.id))
        qualification = qualification_of(
            self.matrix,
            [self._judged[lane.id] for lane in lanes],
            revision=self.revision or _revision_of(self._records),
            run=self.run.name,
            now=dt.datetime.now(dt.UTC).replace(microsecond=0),
            harness_version=__version__,
        )
        _write_junit(qualification, self._records, self.run)
        report.write(qualification, self.run.folder)
        point_latest(self.run)
        return qualification


def read_record(run: Run, lane_id: str) -> LaneRecord:
    """Everything that a lane left; a damaged folder becomes a record that says so."""
    folder = run.lane_folder(lane_id)
    where = str(folder.relative_to(run.folder))
    try:
        found = store.load(folder)
    except EvidenceError as error:
        return LaneRecord(None, damage=str(error), folder=where)
    return LaneRecord(
        found, rows=kind_of(found.kind).rows(folder, found, ended=found.state is State.FINISHED), folder=where
    )


def _revision_of(records: Mapping[str, LaneRecord]) -> Revision:
    found = [record.evidence for record in records.values() if record.evidence is not None]
    if not found:
        return Revision(commit=None, reason="no lane of this run left readable evidence")
    return min(found, key=lambda e: e.started).revision


def _write_junit(qualification: Qualification, records: Mapping[str, LaneRecord], run: Run) -> None:
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
    junit.write(junit.merged(lanes, properties), run.folder / JUNIT)
