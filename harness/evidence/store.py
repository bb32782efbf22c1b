"""Keeping evidence: `evidence.json` of a lane folder, written in one step and read with suspicion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from harness.errors import HarnessError
from harness.evidence.model import Evidence
from harness.system.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from harness.evidence.rows import Row

FILE_NAME = "evidence.json"


class EvidenceError(HarnessError):
    """An evidence file that cannot be believed: damaged, or of a schema that this version does not know."""

    exit_status = 3


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """What is known of one lane: its evidence, or why there is none that can be read, and its rows.

    `folder` is the lane's, relative to the run's.
    """

    evidence: Evidence | None
    rows: Sequence[Row] = ()
    damage: str = ""
    folder: str = ""


def save(evidence: Evidence, folder: Path) -> None:
    """Write `evidence.json` into a lane folder in one step; raises OutputError."""
    write_atomically(folder / FILE_NAME, evidence.model_dump_json(indent=1) + "\n")


def load(folder: Path) -> Evidence:
    """Read a lane folder's `evidence.json`.

    Raises EvidenceError, with the file and the first thing that is wrong, if
    it is missing, unreadable, damaged or of another schema.
    """
    path = folder / FILE_NAME
    try:
        return Evidence.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise EvidenceError(f"{path}: no evidence was written") from None
    except OSError as error:
        raise EvidenceError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "file"
        raise EvidenceError(f"{path}: damaged or of another version: {where}: {first['msg']}") from error
