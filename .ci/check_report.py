"""Fail if a lane that CI must run did not: nox calls a lane without a device skipped, whatever the reason."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.judge.qualification import LaneQualification, Qualification
from harness.words import Backend, LaneVerdict


def problem(lane: LaneQualification) -> str:
    """Say what is wrong with a lane on a machine with compilers but no GPU; "" if nothing is."""
    if lane.backend is Backend.CPU:
        return "" if lane.verdict is LaneVerdict.QUALIFIED else f"{lane.verdict}: {'; '.join(lane.reasons)}"
    if not lane.built:
        return f"was not built: {'; '.join(lane.reasons)}"
    if lane.architectures != (lane.arch,):
        return f"holds code for {', '.join(lane.architectures)}, not for {lane.arch} alone"
    return ""


def main(path: str) -> int:
    """Check a `qualification.json`; 0 if all is well."""
    qualification = Qualification.model_validate_json(Path(path).read_bytes())
    problems = [(lane.id, problem(lane)) for lane in qualification.lanes]
    for name, text in problems:
        print(f"{name}: {text or 'as CI needs it'}")
    return 1 if any(text for _, text in problems) or not problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
