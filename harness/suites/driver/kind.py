"""Suites whose cases are run by a driver of their own (docs/driver.md)."""

from __future__ import annotations

import re
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.build import build
from harness.suites.driver.ask import DriverError, list_cases, list_devices
from harness.suites.driver.keys import DriverSuite
from harness.suites.driver.plan import CASES, LanePlan
from harness.suites.driver.rows import rows_of
from harness.suites.driver.runner import Tracker, prepare, selected
from harness.suites.protocol import Devices, PlantedDefect

if TYPE_CHECKING:
    from harness.build import Artifact
    from harness.evidence.model import CaseRecord, DeviceRecord, Evidence
    from harness.evidence.rows import Row
    from harness.suites.driver.ask import Listing
    from harness.suites.protocol import Command, Progress, Setting, Work

BUILD_LOG = "build.log"


class DriverOfLane:
    """The driver of one lane: built, asked, run and read."""

    def __init__(self, setting: Setting) -> None:
        declared = setting.lane.suite
        if not isinstance(declared, DriverSuite):
            raise TypeError(f"{setting.lane.id} is a suite of kind {declared.kind}")
        self._setting = setting
        self._source = setting.root / declared.kernels
        self._oracle = self._source / "oracle.py"
        self._program = Path()
        self._plan: LanePlan | None = None
        self._tracker = Tracker(setting.folder, total=0)

    def build(self) -> Artifact:
        """Build the driver for exactly the lane's target and inspect it."""
        setting = self._setting
        log = setting.folder / BUILD_LOG
        artifact = build(
            setting.lane,
            source=self._source,
            root=setting.root,
            cache=setting.cache,
            log=log,
            say=setting.say,
        )
        self._program = artifact.driver
        return artifact

    def inputs(self) -> tuple[Path, ...]:
        """The oracle, which no compiler reads."""
        return (self._oracle,) if self._oracle.is_file() else ()

    def devices(self) -> Devices:
        """What the driver answers to `--devices`."""
        answer = list_devices(self._program, self._setting.environment)
        known = answer.status_name and answer.status
        return Devices(answer.records(), f"{answer.status_name}, {answer.status}" if known else "")

    @cached_property
    def _listing(self) -> Listing:
        listing = list_cases(self._program, self._setting.environment)
        wanted = self._setting.lane.target.backend
        if listing.backend is not wanted:
            raise DriverError(f"{self._program}: is a {listing.backend} driver, the target is {wanted}")
        return listing

    def cases(self) -> tuple[CaseRecord, ...]:
        """Those of the driver's cases whose copy mode the matrix declares, and those without one."""
        wanted = self._setting.lane.copy_modes
        cases = (case.record() for case in self._listing.cases)
        return tuple(case for case in cases if case.mode is None or case.mode in wanted)

    def defects(self) -> tuple[PlantedDefect, ...]:
        """The defects that the driver lists."""
        return tuple(
            PlantedDefect(
                name=plant.name,
                sanitizer=plant.sanitizer,
                report=plant.report,
                file=plant.file,
                line=plant.line,
                command=(str(self._program), "--plant", plant.name),
            )
            for plant in self._listing.plants
        )

    def start(self, work: Work) -> Command:
        """Write the plan; pytest runs it."""
        setting = self._setting
        gpu = work.device if setting.lane.target.backend.has_device else None
        self._plan = LanePlan(
            lane=setting.lane.id,
            cases=work.cases,
            driver=self._program,
            device=(gpu.pci or gpu.uuid) if gpu is not None else None,
            device_lock=_device_lock(gpu) if gpu is not None else None,
            environment=dict(setting.environment),
            timeout_s=work.timeout_s,
            nonce=setting.nonce,
            oracle=next(iter(self.inputs()), None),
            folder=setting.folder,
            root=setting.root,
            reproduce=f"nox -s {setting.lane.session} -- --case",
        )
        self._tracker = Tracker(setting.folder, total=len(work.cases))
        return prepare(self._plan, keyword=work.keyword, workers=work.workers)

    def look(self) -> Progress:
        """Count the results so far."""
        return self._tracker.look()

    def selected(self) -> frozenset[str]:
        """What pytest collected."""
        return selected(self._plan) if self._plan is not None else frozenset()

    def transactions(self, case: CaseRecord) -> frozenset[str]:
        """The keys that the case left: thousands of them, which is why they are not in its result."""
        try:
            return frozenset((self._setting.folder / CASES / f"{case.name}.keys").read_text().splitlines())
        except OSError:
            return frozenset()


def _device_lock(chosen: DeviceRecord) -> Path:
    """A lock file for the device that all checkouts and users of this machine share."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", chosen.identity)
    return Path(tempfile.gettempdir()) / f"gpu-test-matrix-device-{name}.lock"


class DriverKind:
    """The kind `driver`."""

    def suite(self, setting: Setting) -> DriverOfLane:
        """The driver of one lane."""
        return DriverOfLane(setting)

    def rows(self, folder: Path, evidence: Evidence, *, ended: bool) -> tuple[Row, ...]:
        """All rows of a lane from its folder."""
        return rows_of(folder, evidence, ended=ended)


KIND = DriverKind()
