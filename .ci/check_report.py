"""Fail if a lane that CI must run did not: nox calls a lane without a device skipped, whatever the reason."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.judge import policy
from harness.judge.policy import POLICY, SessionState, Standing
from harness.judge.qualification import LaneQualification, Qualification
from harness.matrix.load import load

if TYPE_CHECKING:
    from collections.abc import Sequence


def problem(lane: LaneQualification, may_be_missing: Sequence[str]) -> str:
    """Say what is wrong with a lane on a machine with compilers but no GPU; "" if nothing is.

    A lane whose device may be missing must be built, and for its architecture alone.
    """
    standing = policy.of_lane(lane, may_be_missing)
    if POLICY[standing].in_ci is SessionState.SUCCESS:
        return ""
    if standing is not Standing.EXCUSED:
        return f"{standing.value}: {'; '.join(lane.reasons)}"
    if not lane.built:
        return f"was not built: {'; '.join(lane.reasons)}"
    if lane.architectures != (lane.arch,):
        return f"holds code for {', '.join(lane.architectures)}, not for {lane.arch} alone"
    return ""


def main(matrix_file: str, qualification_file: str) -> int:
    """Check a `qualification.json` against the matrix's rules for CI; 0 if all is well."""
    may_be_missing = load(Path(matrix_file)).ci.may_be_missing
    qualification = Qualification.model_validate_json(Path(qualification_file).read_bytes())
    problems = [(lane.id, problem(lane, may_be_missing)) for lane in qualification.lanes]
    for name, text in problems:
        print(f"{name}: {text or 'as CI needs it'}")
    return 1 if any(text for _, text in problems) or not problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
