"""One lane from its declaration to its evidence: build, ask, run, observe, record."""

from __future__ import annotations

import datetime as dt
import os
import platform
import re
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from harness import __version__, claims
from harness.build import Artifact, build
from harness.errors import BuildFailedError, NotBuiltError
from harness.evidence import store
from harness.evidence.folders import CACHE
from harness.evidence.model import (
    BuildRecord,
    CaseRecord,
    CensusRecord,
    Evidence,
    Finding,
    HostRecord,
    NotRun,
    Observation,
    State,
    ToolchainRecord,
)
from harness.evidence.store import LaneRecord
from harness.matrix.lanes import matrix_entry_digest
from harness.run.local import PytestRun, run_cases
from harness.suites.driver.ask import Devices, DriverError, Listing, list_cases, list_devices
from harness.suites.driver.case import base_environment
from harness.suites.driver.pytest_plugin import LanePlan
from harness.suites.driver.rows import rows_of
from harness.system.files import OutputError, sha256_of
from harness.witness import device, memory, sanitizer
from harness.words import Backend

if TYPE_CHECKING:
    from harness.evidence.folders import Run
    from harness.evidence.model import DeviceRecord, Revision
    from harness.evidence.rows import Row
    from harness.matrix.lanes import Lane
    from harness.run.console import Console
    from harness.run.options import Options

BUILD_LOG = "build.log"


class _StopError(Exception):
    """The lane ends here, with the evidence that it has."""

    def __init__(self, not_run: NotRun, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.not_run = not_run
        self.reason = reason
        self.hint = hint


def run_lane(lane: Lane, run: Run, revision: Revision, options: Options, console: Console) -> LaneRecord:
    """Build and run one lane and leave its folder.

    Whatever goes wrong with the lane itself is recorded and returned, not
    raised.  KeyboardInterrupt is recorded and raised again.  Raises OutputError
    if the evidence cannot be written.
    """
    folder = run.lane_folder(lane.id)
    current = _begin(lane, run, revision, options)
    store.save(current, folder)
    recorder = _Recorder(lane, run.root, folder, options, console, current)
    try:
        recorder.go()
    except _StopError as stop:
        recorder.update(not_run=stop.not_run, reason=stop.reason, hint=stop.hint)
    except KeyboardInterrupt:
        recorder.finish(State.INTERRUPTED)
        raise
    except OutputError as error:
        recorder.update(reason=str(error))
        recorder.finish(State.INTERRUPTED)
    except OSError as error:
        recorder.update(reason=f"{error.strerror}: {error.filename or folder}")
        recorder.finish(State.INTERRUPTED)
    if recorder.current.state is State.RUNNING:
        recorder.finish(State.FINISHED)
    where = str(folder.relative_to(run.folder))
    return LaneRecord(recorder.current, rows=recorder.rows, folder=where)


def _begin(lane: Lane, run: Run, revision: Revision, options: Options) -> Evidence:
    return Evidence(
        harness_version=__version__,
        run=run.name,
        target=lane.target_name,
        suite=lane.suite_name,
        nonce=secrets.token_hex(16),
        state=State.RUNNING,
        revision=revision,
        matrix_entry=matrix_entry_digest(lane),
        environment=device.device_variables(os.environ),
        host=HostRecord(
            system=platform.system(),
            release=platform.release(),
            machine=platform.machine(),
            python=platform.python_version(),
        ),
        selection=options.selection,
        started=dt.datetime.now(dt.UTC),
    )


class _Recorder:
    """Takes one lane through its stages and keeps `evidence.json` true after each."""

    def __init__(
        self, lane: Lane, root: Path, folder: Path, options: Options, console: Console, current: Evidence
    ) -> None:
        self.lane = lane
        self.root = root
        self.folder = folder
        self.options = options
        self.console = console
        self.current = current
        self.rows: tuple[Row, ...] = ()
        self.oracle = root / lane.suite.kernels / "oracle.py"
        self.environment = {**base_environment(), **sanitizer.environment(lane.target)}
        if lane.target.backend is Backend.CPU:
            # A CPU lane must not find a GPU by accident.
            self.environment.update(CUDA_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="", ROCR_VISIBLE_DEVICES="")

    def update(self, **changes: object) -> None:
        """Replace fields of the evidence, validated, without writing it."""
        self.current = Evidence.model_validate({**dict(self.current), **changes})

    def observe(self, *observations: Observation | None) -> None:
        """Add what witnesses saw."""
        seen = tuple(o for o in observations if o is not None)
        self.update(observations=(*self.current.observations, *seen))

    def finish(self, state: State) -> None:
        """Complete the evidence and write it."""
        self.update(state=state, ended=dt.datetime.now(dt.UTC))
        store.save(self.current, self.folder)

    def go(self) -> None:
        """All stages in order; raises _StopError where the lane cannot go on."""
        artifact = self._build()
        if self.options.build_only:
            raise _StopError(NotRun.BUILD_ONLY, f"built for {_built_for(artifact)}, not run as asked")
        chosen = self._find_device(artifact)
        listing = self._list(artifact)
        planned = self._plan(listing)
        self._observe_sanitizers(artifact, listing)
        self._run(artifact, chosen, planned)

    def _build(self) -> Artifact:
        lane, log = self.lane, self.folder / BUILD_LOG
        try:
            artifact = build(lane, root=self.root, cache=self.root / CACHE, log=log, say=self.console.say)
        except NotBuiltError as error:
            raise _StopError(NotRun.NO_TOOLCHAIN, f"not built: {error.reason}", error.hint) from error
        except BuildFailedError as error:
            self.console.say(f"{lane.id}: {error}")
            reason = f"the build failed: {error.first_error}"
            raise _StopError(NotRun.BUILD_FAILED, reason, f"{error.command}  # log: {error.log}") from error
        how = "built" if artifact.rebuilt else "up to date"
        self.console.say(
            f"{lane.id}: {how} for {_built_for(artifact)} with {artifact.toolchain.kind} "
            f"{artifact.toolchain.version} in {artifact.seconds:.1f} s"
        )
        inputs = dict(artifact.inputs)
        if self.oracle.is_file():
            inputs[_relative(self.oracle, self.root)] = sha256_of(self.oracle)
        self.update(build=_build_record(artifact, self.root), inputs=inputs)
        self.observe(_observe_native(lane, artifact))
        return artifact

    def _find_device(self, artifact: Artifact) -> DeviceRecord:
        try:
            answer = list_devices(artifact.driver, self.environment)
        except DriverError as error:
            raise _StopError(NotRun.LISTING_FAILED, str(error)) from error
        chosen, why = device.choose(answer.records(), self.lane.target)
        if chosen is None:
            raise _StopError(NotRun.NO_DEVICE, f"built for {_built_for(artifact)}, {why}{_status(answer)}")
        self.update(devices=(chosen,))
        self.observe(device.observe_system(self.lane.target, chosen.arch))
        return chosen

    def _list(self, artifact: Artifact) -> Listing:
        try:
            listing = list_cases(artifact.driver, self.environment)
        except DriverError as error:
            raise _StopError(NotRun.LISTING_FAILED, str(error)) from error
        if listing.backend is not self.lane.target.backend:
            raise _StopError(
                NotRun.LISTING_FAILED,
                f"{artifact.driver}: is a {listing.backend} driver, the target is {self.lane.target.backend}",
            )
        return listing

    def _plan(self, listing: Listing) -> tuple[CaseRecord, ...]:
        """Keep the cases that the matrix asks for and the person selected."""
        wanted = set(self.lane.copy_modes)
        cases = [case.record() for case in listing.cases]
        planned = tuple(c for c in cases if (c.mode is None or c.mode in wanted) and self.options.wants(c))
        self.update(planned=planned)
        store.save(self.current, self.folder)
        return planned

    def _observe_sanitizers(self, artifact: Artifact, listing: Listing) -> None:
        target = self.lane.target
        if target.sanitizers is None:
            return
        census = self.current.build.census if self.current.build is not None else None
        self.observe(
            *sanitizer.observe_census(census, target.sanitizers.on),
            *sanitizer.observe_planted(
                artifact.driver,
                listing.plants,
                target.sanitizers.on,
                environment=self.environment,
                folder=self.folder / "planted",
            ),
        )

    def _run(self, artifact: Artifact, chosen: DeviceRecord, planned: tuple[CaseRecord, ...]) -> None:
        lane = self.lane
        gpu = lane.target.backend is not Backend.CPU
        plan = LanePlan(
            lane=lane.id,
            cases=planned,
            driver=artifact.driver,
            device=(chosen.pci or chosen.uuid) if gpu else None,
            device_lock=_device_lock(chosen) if gpu else None,
            environment=self.environment,
            timeout_s=self.options.timeout_s or lane.suite.timeout_s,
            nonce=self.current.nonce,
            oracle=self.oracle if self.oracle.is_file() else None,
            folder=self.folder,
            root=self.root,
            reproduce=f"nox -s {lane.session} -- --case",
        )
        workers = 1 if gpu else self.options.workers or _cores()
        done = run_cases(
            plan,
            keyword=self.options.keyword,
            workers=max(1, min(workers, len(planned))),
            progress=lambda progress: self.console.progress(lane.id, progress),
        )
        self._record(planned, done)

    def _record(self, planned: tuple[CaseRecord, ...], done: PytestRun) -> None:
        """Take what the processes left and turn it into observations; then the lane is over."""
        selected = set(done.selected)
        self.update(
            planned=tuple(case for case in planned if case.name in selected),
            command=done.command,
            exit_status=done.exit_status,
        )
        self.rows = rows = rows_of(self.folder, self.current, ended=not done.interrupted)
        by_name = {row.name: row for row in rows}
        self.observe(
            device.observe_runtime(self.lane.target, rows),
            memory.observe_pinned(rows),
            *memory.observe_coverage(planned, by_name, self.folder / "cases"),
        )
        if self.lane.target.backend is not Backend.CPU:
            self.observe(device.observe_exclusive(rows))
        if not selected:
            self.update(reason=f"no case matches {' '.join(self.options.selection)}")
        if done.interrupted:
            raise KeyboardInterrupt


def _observe_native(lane: Lane, artifact: Artifact) -> Observation:
    found = ", ".join(artifact.architectures) or "nothing"
    wanted = lane.target.arch or device.machine()
    exact = set(artifact.architectures) == {wanted}
    return Observation(
        claim=claims.NATIVE_CODE,
        witness=claims.BINARY,
        finding=Finding.CONFIRMS if exact else Finding.DENIES,
        text=f"the binary holds code for {found}" + ("" if exact else f", not for {wanted} alone"),
    )


def _built_for(artifact: Artifact) -> str:
    return ", ".join(artifact.architectures)


def _status(answer: Devices) -> str:
    return f" ({answer.status_name}, {answer.status})" if answer.status_name and answer.status else ""


def _build_record(artifact: Artifact, root: Path) -> BuildRecord:
    toolchain, census = artifact.toolchain, artifact.census
    return BuildRecord(
        toolchain=ToolchainRecord(
            kind=toolchain.kind,
            compiler=str(toolchain.compiler),
            version=toolchain.version,
            origin=toolchain.origin,
        ),
        driver=_relative(artifact.driver, root),
        sha256=artifact.sha256,
        flags=artifact.flags,
        architectures=artifact.architectures,
        census=None
        if census is None
        else CensusRecord(
            objects=census.objects,
            instrumented=dict(census.instrumented),
            binary=tuple(sorted(census.binary)),
            uninstrumented=census.uninstrumented,
        ),
        rebuilt=artifact.rebuilt,
        seconds=artifact.seconds,
        log=_relative(artifact.log, root),
    )


def _relative(path: Path, root: Path) -> str:
    try:
        return str(path.relative_to(root))
    except ValueError:
        return str(path)


def _device_lock(chosen: DeviceRecord) -> Path:
    """A lock file for the device that all checkouts and users of this machine share."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", chosen.identity)
    return Path(tempfile.gettempdir()) / f"gpu-test-matrix-device-{name}.lock"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
