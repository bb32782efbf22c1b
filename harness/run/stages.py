"""One lane through its stages on the machine that it runs on: build, ask, run, observe, record.

It asks the suite and the witnesses, and knows none of them by name.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from harness import __version__
from harness.errors import BuildFailedError, NotBuiltError
from harness.evidence import store
from harness.evidence.devices import choose, device_variables
from harness.evidence.folders import CACHE
from harness.evidence.model import Evidence, HostRecord, NotRun, State
from harness.evidence.revision import changed_between, snapshot_of
from harness.evidence.store import LaneRecord
from harness.matrix.lanes import matrix_entry_digest
from harness.run.build_record import build_record, relative
from harness.run.child import run_watched
from harness.suites.environment import environment_of
from harness.suites.protocol import Setting, SuiteError, Work, kind_of
from harness.system.files import OutputError, sha256_of
from harness.system.machine import cores
from harness.witness import absent, observe
from harness.witness.protocol import Point, View

if TYPE_CHECKING:
    from pathlib import Path

    from harness.evidence.folders import Run
    from harness.evidence.model import Revision
    from harness.evidence.rows import Row
    from harness.matrix.lanes import Lane
    from harness.run.console import Console
    from harness.run.options import Options


class _StopError(Exception):
    """The lane ends here, with the evidence that it has."""

    def __init__(self, not_run: NotRun, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.not_run = not_run
        self.reason = reason
        self.hint = hint


def run_lane(lane: Lane, run: Run, options: Options, console: Console, *, executor: str) -> LaneRecord:
    """Build and run one lane and leave its folder.

    Whatever goes wrong with the lane itself is recorded and returned, not
    raised.  KeyboardInterrupt is recorded and raised again.  Raises OutputError
    if the evidence cannot be written.
    """
    folder = run.lane_folder(lane.id)
    before = snapshot_of(run.root)
    current = _begin(lane, run, before.revision, options, executor)
    store.save(current, folder)
    stages = _Stages(lane, run.root, folder, options, console, current)
    try:
        stages.go()
    except _StopError as stop:
        stages.update(not_run=stop.not_run, reason=stop.reason, hint=stop.hint)
    except KeyboardInterrupt:
        stages.finish(State.INTERRUPTED)
        raise
    except OutputError as error:
        stages.update(reason=str(error))
        stages.finish(State.INTERRUPTED)
    except OSError as error:
        stages.update(reason=f"{error.strerror}: {error.filename or folder}")
        stages.finish(State.INTERRUPTED)
    if stages.current.state is State.RUNNING:
        after = snapshot_of(run.root)
        if after != before:
            stages.update(changed_meanwhile=changed_between(run.root, before, after))
        stages.finish(State.FINISHED)
    where = str(folder.relative_to(run.folder))
    return LaneRecord(stages.current, rows=stages.rows, folder=where)


def _begin(lane: Lane, run: Run, revision: Revision, options: Options, executor: str) -> Evidence:
    return Evidence(
        harness_version=__version__,
        run=run.name,
        target=lane.target_name,
        suite=lane.suite_name,
        kind=lane.suite.kind,
        nonce=secrets.token_hex(16),
        state=State.RUNNING,
        revision=revision,
        matrix_entry=matrix_entry_digest(lane),
        environment=device_variables(os.environ),
        host=HostRecord(
            system=platform.system(),
            release=platform.release(),
            machine=platform.machine(),
            python=platform.python_version(),
        ),
        executor=executor,
        selection=options.selection,
        started=dt.datetime.now(dt.UTC),
    )


class _Stages:
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
        environment = environment_of(lane.target)
        self.kind = kind_of(lane.suite.kind)
        self.suite = self.kind.suite(
            Setting(
                lane=lane,
                root=root,
                folder=folder,
                cache=root / CACHE,
                environment=environment,
                nonce=current.nonce,
                say=console.say,
            )
        )
        self.view = View(lane=lane, suite=self.suite, folder=folder, environment=environment)

    def update(self, **changes: object) -> None:
        """Replace fields of the evidence, validated, without writing it."""
        self.current = Evidence.model_validate({**dict(self.current), **changes})

    def observe(self, point: Point) -> None:
        """Add what the witnesses of a point see."""
        self.update(observations=(*self.current.observations, *observe(point, self.view)))

    def finish(self, state: State) -> None:
        """Complete the evidence and write it."""
        self.update(state=state, ended=dt.datetime.now(dt.UTC))
        store.save(self.current, self.folder)

    def go(self) -> None:
        """All stages in order; raises _StopError where the lane cannot go on."""
        self.update(observations=tuple(absent(self.lane)))
        self._build()
        self.observe(Point.BUILT)
        if self.options.build_only:
            raise _StopError(NotRun.BUILD_ONLY, f"{self._built}, not run as asked")
        try:
            self._find_device()
            self._plan()
            self.observe(Point.BEFORE_RUN)
        except SuiteError as error:
            raise _StopError(NotRun.LISTING_FAILED, str(error)) from error
        self._run()

    def _build(self) -> None:
        lane = self.lane
        try:
            artifact = self.suite.build()
        except NotBuiltError as error:
            raise _StopError(NotRun.NO_TOOLCHAIN, f"not built: {error.reason}", error.hint) from error
        except BuildFailedError as error:
            self.console.say(f"{lane.id}: {error}")
            reason = f"the build failed: {error.first_error}"
            raise _StopError(NotRun.BUILD_FAILED, reason, f"{error.command}  # log: {error.log}") from error
        inputs = {relative(path, self.root): sha256_of(path) for path in self.suite.inputs()}
        if artifact is not None:
            self.view = replace(self.view, artifact=artifact)
            how = "built" if artifact.rebuilt else "up to date"
            self.console.say(
                f"{lane.id}: {how} for {', '.join(artifact.architectures)} with {artifact.toolchain.kind} "
                f"{artifact.toolchain.version} in {artifact.seconds:.1f} s"
            )
            self.update(build=build_record(artifact, self.root))
            inputs = {**artifact.inputs, **inputs}
        self.update(inputs=inputs)

    @property
    def _built(self) -> str:
        artifact = self.view.artifact
        return (
            f"built for {', '.join(artifact.architectures)}" if artifact is not None else "nothing to build"
        )

    def _find_device(self) -> None:
        answer = self.suite.devices()
        if answer is None:
            return
        chosen, why = choose(answer.found, self.lane.target)
        if chosen is None:
            status = f" ({answer.status})" if answer.status else ""
            raise _StopError(NotRun.NO_DEVICE, f"{self._built}, {why}{status}")
        self.view = replace(self.view, device=chosen)
        self.update(devices=(chosen,))

    def _plan(self) -> None:
        """Keep the cases that the suite plans and the person selected."""
        planned = tuple(case for case in self.suite.cases() if self.options.wants(case))
        self.view = replace(self.view, planned=planned)
        self.update(planned=planned)
        store.save(self.current, self.folder)

    def _run(self) -> None:
        """Run the cases; then the rows and the witnesses of them."""
        lane, planned = self.lane, self.view.planned
        workers = 1 if lane.target.backend.has_device else self.options.workers or cores()
        command = self.suite.start(
            Work(
                cases=planned,
                device=self.view.device,
                keyword=self.options.keyword,
                workers=max(1, min(workers, len(planned))),
                timeout_s=self.options.timeout_s or lane.suite.timeout_s,
            )
        )
        start = time.monotonic()
        done = run_watched(
            command,
            self.folder,
            lambda: self.console.progress(lane.id, self.suite.look(), time.monotonic() - start),
        )
        selected = self.suite.selected()
        planned = tuple(case for case in planned if case.name in selected)
        self.update(planned=planned, command=command.words, exit_status=done.exit_status)
        self.rows = self.kind.rows(self.folder, self.current, ended=not done.interrupted)
        self.view = replace(self.view, planned=planned, rows=self.rows)
        self.observe(Point.AFTER_RUN)
        if not planned:
            self.update(reason=f"no case matches {' '.join(self.options.selection)}")
        if done.interrupted:
            raise KeyboardInterrupt
