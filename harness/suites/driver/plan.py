"""What the pytest run of a driver lane needs to know: written by the lane, read by every worker."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from harness.evidence.model import CaseRecord
from harness.suites.driver.case import CaseRun

PLAN = "plan.json"
SELECTED = "selected.json"


class LanePlan(BaseModel):
    """The cases, the driver that runs them, and under which conditions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lane: str
    cases: tuple[CaseRecord, ...]
    driver: Path
    device: str | None
    device_lock: Path | None
    environment: dict[str, str]
    timeout_s: float
    nonce: str
    oracle: Path | None
    folder: Path
    root: Path
    reproduce: str

    def case_run(self, case: CaseRecord) -> CaseRun:
        """How to run one of the cases."""
        return CaseRun(
            case=case,
            driver=self.driver,
            device=self.device,
            environment=self.environment,
            timeout_s=self.timeout_s,
            nonce=self.nonce,
            oracle=self.oracle,
            folder=self.folder / CASES,
            root=self.root,
        )


CASES = "cases"
"""Folder in the lane's for what each case leaves."""
