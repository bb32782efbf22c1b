"""The nox sessions of a matrix.

A project's `noxfile.py` needs two lines:

    from harness.sessions import register
    register("matrix.yaml")

nox has no step that runs after all sessions whatever became of them: a
`requires=` session is aborted by a failure, and `notify` does not work under
`-j`.  So the process that loaded the noxfile first merges, judges and reports
when it exits; with `-j`, nox's child processes find the run's name in the
environment and leave that to their parent.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import nox

from harness.cli.arguments import parse_report_arguments, parse_session_arguments
from harness.errors import HarnessError
from harness.evidence import folders
from harness.evidence.folders import Run
from harness.evidence.revision import source_of
from harness.judge.policy import OF_MATRIX, POLICY, SessionState
from harness.matrix.lanes import Lane, all_lanes
from harness.matrix.load import load
from harness.report import terminal_summary
from harness.report.sentences import single_reason
from harness.run.conclusion import Conclusion
from harness.run.series import run_session
from harness.system.machine import in_ci

if TYPE_CHECKING:
    from harness.matrix.model import Matrix

_RUN_VARIABLE = "HARNESS_RUN"


def register(path: str | os.PathLike[str] = "matrix.yaml") -> None:
    """Make one nox session for each session of the matrix, and `report`.

    A matrix that is wrong ends nox with its problems and exit status 2.
    """
    try:
        matrix = load(Path(path))
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_status) from None
    root = Path(path).resolve().parent
    conclusion = _join_run(root, matrix)
    by_session: dict[str, list[Lane]] = {}
    for lane in all_lanes(matrix):
        by_session.setdefault(lane.session, []).append(lane)
    for name, lanes in by_session.items():
        _add_session(name, lanes, conclusion)
    _add_report(matrix, root)


def _join_run(root: Path, matrix: Matrix) -> Conclusion:
    """Join the run of the nox process above this one, or begin one and report it at exit."""
    named = os.environ.get(_RUN_VARIABLE, "")
    folder, _, name = named.rpartition(os.sep)
    if name and folder == str(root):
        return Conclusion(matrix, Run(root, name))
    run = folders.new_run(root)
    os.environ[_RUN_VARIABLE] = f"{root}{os.sep}{run.name}"
    conclusion = Conclusion(matrix, run)
    atexit.register(_report_at_exit, conclusion)
    return conclusion


def _report_at_exit(conclusion: Conclusion) -> None:
    if not conclusion.run.exists:
        return
    try:
        qualification = conclusion.write()
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return
    sys.stderr.flush()
    sys.stdout.write(terminal_summary(qualification, conclusion.run.folder))
    sys.stdout.flush()


def _add_session(name: str, lanes: list[Lane], conclusion: Conclusion) -> None:
    def lanes_of_session(session: nox.Session) -> None:
        try:
            options = parse_session_arguments(name, session.posargs)
            result = run_session(conclusion, lanes, options)
        except HarnessError as error:
            session.error(str(error))
        _tell_nox(session, result.state, result.text)

    lanes_of_session.__doc__ = f"Build and run {', '.join(lane.id for lane in lanes)}."
    nox.session(name=name, venv_backend="none", allow_parallel=True)(lanes_of_session)


def _add_report(matrix: Matrix, root: Path) -> None:
    def report(session: nox.Session) -> None:
        """Merge, judge and report the last run, or the one that is named."""
        try:
            arguments = parse_report_arguments(session.posargs)
            run = folders.find_run(root, arguments.run)
            qualification = Conclusion(matrix, run, source_of(root, arguments.revision)).write()
        except HarnessError as error:
            session.error(str(error))
        sys.stdout.write(terminal_summary(qualification, run.folder))
        text = f"{qualification.verdict}: {single_reason(qualification)}"
        _tell_nox(session, POLICY[OF_MATRIX[qualification.verdict]].state(ci=in_ci()), text)

    nox.session(venv_backend="none", default=False)(report)


def _tell_nox(session: nox.Session, state: SessionState, text: str) -> None:
    match state:
        case SessionState.SUCCESS:
            session.log(text)
        case SessionState.SKIPPED:
            session.skip(text)
        case SessionState.FAILED:
            session.error(text)
