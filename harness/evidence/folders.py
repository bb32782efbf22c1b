"""The folders that this program writes: those at the top of a project, and those of a run."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigurationError
from harness.evidence.store import FILE_NAME
from harness.system.files import OutputError

REPORTS = "reports"
"""What runs leave."""

CACHE = ".harness"
"""Build trees and toolchains that are kept between runs."""

OWN_OUTPUT = (CACHE, REPORTS, ".nox", ".venv")
"""Folders at the top of a project that are never a part of its source."""

JUNIT = "junit.xml"
"""In a lane's folder: the runner's own report.  In a run's folder: all lanes in one."""

RESULTS = "results.jsonl"
"""In a lane's folder: one typed line for each case that has ended."""

RUN_LOG = "run.log"
"""In a lane's folder: all that the program that ran its cases said."""

_LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of one run: `reports/runs/<name>`."""

    root: Path
    name: str

    @property
    def folder(self) -> Path:
        """Everything that the run leaves is below it."""
        return self.root / REPORTS / "runs" / self.name

    def lane_folder(self, lane_id: str) -> Path:
        """Folder of one lane, `lanes/<target>/<suite>`."""
        return self.folder / "lanes" / lane_id

    @property
    def exists(self) -> bool:
        """A lane has begun."""
        return self.folder.is_dir()

    def begun_lanes(self) -> tuple[str, ...]:
        """Ids of the lanes that have left anything, sorted."""
        return tuple(
            sorted(
                str(path.parent.relative_to(self.folder / "lanes"))
                for path in (self.folder / "lanes").glob(f"*/*/{FILE_NAME}")
            )
        )


def new_run(root: Path) -> Run:
    """Name a new run after the time and this process; nothing is written yet."""
    now = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    return Run(root, f"{now}-{secrets.token_hex(3)}")


def point_latest(run: Run) -> None:
    """Make `reports/latest` point to a run, in one step; raises OutputError."""
    link = run.root / REPORTS / _LATEST
    temporary = link.with_name(f".latest-{os.getpid()}-{secrets.token_hex(2)}")
    try:
        temporary.symlink_to(Path("runs") / run.name, target_is_directory=True)
        temporary.replace(link)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise OutputError(f"cannot point {link} to the run: {error.strerror}") from error


def find_run(root: Path, name: str | None = None) -> Run:
    """Find a run by its name or folder; without one, the last run.

    Raises ConfigurationError with what there is.
    """
    runs = root / REPORTS / "runs"
    have = sorted(path.name for path in runs.glob("*")) if runs.is_dir() else []
    if not have:
        raise ConfigurationError(f"{runs}: there is no run yet; make one with: nox -s cuda hip cpu-sanitize")
    if name is None:
        latest = root / REPORTS / _LATEST
        return Run(root, latest.resolve().name if latest.exists() else have[-1])
    wanted = Path(name).name
    if wanted not in have:
        raise ConfigurationError(f"no run is called {wanted!r}; the last ones are: {', '.join(have[-5:])}")
    return Run(root, wanted)
