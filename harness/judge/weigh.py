"""What the witnesses of a lane add up to, claim by claim.

The rule has no exceptions: a claim is *established* when every required
witness confirmed it, *contradicted* when any witness denied it, and *not
established* when a required witness is silent or absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness import claims
from harness.claims import claims_of
from harness.evidence.devices import renames
from harness.evidence.model import Evidence, Finding, Observation
from harness.judge.qualification import ClaimResult, WitnessResult
from harness.matrix.lanes import matrix_entry_digest
from harness.words import ClaimState, Execution

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.claims import Claim
    from harness.evidence.model import Revision
    from harness.matrix.lanes import Lane


_FEW_NAMES = 5


def claims_of_evidence(
    lane: Lane, evidence: Evidence | None, wanted: Revision, differing: Sequence[str] | None = None
) -> tuple[ClaimResult, ...]:
    """Decide every claim of a lane by what was recorded, for the revision that is being qualified.

    `differing` names the inputs of the lane's build that are not the same in
    that revision; None if nobody has compared them.
    """
    seen = () if evidence is None else tuple(_believed(lane, evidence, wanted, differing))
    return tuple(decide(claim, seen) for claim in claims_of(lane))


def _believed(
    lane: Lane, evidence: Evidence, wanted: Revision, differing: Sequence[str] | None
) -> Iterator[Observation]:
    """What was recorded, less the confirmations that cannot be believed, and what the record itself shows."""
    real_device = lane.target.backend.has_device
    for seen in (*evidence.observations, _freshness(lane, evidence, wanted, differing)):
        # A stream that a CPU lane imitates is part of what that lane is for and is labelled;
        # on a GPU lane an imitation says nothing about the device.
        emulated = evidence.execution is Execution.EMULATED or (
            real_device and seen.execution is Execution.EMULATED
        )
        yield _silenced(seen, "emulated") if emulated else seen
    yield from (
        Observation(
            claim=claims.DEVICE,
            witness=claims.RUNTIME,
            finding=Finding.SILENT,
            text=f"{name} was set to {value!r}, so that what the runtime calls the device proves nothing",
        )
        for name, value in evidence.environment.items()
        if renames(name, lane.target.backend)
    )


def _silenced(seen: Observation, why: str) -> Observation:
    """Take the weight from a confirmation; a denial keeps it."""
    if seen.finding is not Finding.CONFIRMS:
        return seen
    return seen.model_copy(update={"finding": Finding.SILENT, "text": f"{why}: {seen.text}"})


def _freshness(
    lane: Lane, evidence: Evidence, wanted: Revision, differing: Sequence[str] | None
) -> Observation:
    """Whether the evidence is of the revision that is being qualified, and of this entry of the matrix.

    Evidence of another revision is as good if every file that its build read
    is the same in both.
    """
    collected = evidence.revision
    finding, text = Finding.SILENT, f"collected on {collected.short}"
    known = collected.difference is not None or (collected.commit is not None and not collected.dirty)
    if evidence.changed_meanwhile:
        text += f", and the tree changed while the lane ran: {_some(evidence.changed_meanwhile)}"
    elif evidence.matrix_entry != matrix_entry_digest(lane):
        text += ", under another declaration of this target or suite in the matrix"
    elif collected == wanted:
        finding = Finding.CONFIRMS if known else Finding.SILENT
    elif differing:
        text += (
            f", which is not {wanted.short}: {len(differing)} of {len(evidence.inputs)} input files differ: "
            f"{_some(differing)}"
        )
    elif differing is not None and evidence.inputs:
        finding = Finding.CONFIRMS
        text += f"; all {len(evidence.inputs)} input files are the same in {wanted.short}"
    else:
        text += f", which is not {wanted.short}"
    return Observation(claim=claims.FRESH, witness=claims.REVISION, finding=finding, text=text)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW_NAMES} more" if len(names) > _FEW_NAMES else ""
    return ", ".join(names[:_FEW_NAMES]) + more


def decide(claim: Claim, observations: Iterable[Observation]) -> ClaimResult:
    """Derive the state of a claim from what its witnesses saw."""
    about = [o for o in observations if o.claim == claim.name and o.subject in ("", claim.subject)]
    heard = tuple(_hear(claim, witness, about) for witness in claim.witnesses)
    denials = [w for w in heard if w.finding is Finding.DENIES]
    silent = [w for w in heard if w.finding is Finding.SILENT]
    if denials:
        state, reason = ClaimState.CONTRADICTED, denials[0].text
    elif silent:
        state = ClaimState.NOT_ESTABLISHED
        reason = "; ".join(f"{w.witness}: {w.text}" for w in silent)
    else:
        state, reason = ClaimState.ESTABLISHED, "; ".join(w.text for w in heard)
    return ClaimResult(claim=claim.name, subject=claim.subject, state=state, reason=reason, witnesses=heard)


def _hear(claim: Claim, witness: str, about: list[Observation]) -> WitnessResult:
    """Reduce the observations of one witness to one finding; a denial outweighs everything."""
    said = [o for o in about if o.witness == witness]
    if not said:
        return WitnessResult(
            witness=witness,
            finding=Finding.SILENT,
            text="nothing was observed",
        )
    order = (Finding.DENIES, Finding.SILENT, Finding.CONFIRMS)
    first = min(said, key=lambda o: order.index(o.finding))
    finding, text = first.finding, first.text
    if claim.least is not None and finding is Finding.CONFIRMS:
        count = sum(o.value or 0 for o in said)
        if count < claim.least:
            finding = Finding.SILENT
            text = f"{count:,} of {claim.least:,} transactions"
        elif count > claim.least:
            finding = Finding.DENIES
            text = f"{count:,} transactions where the matrix says {claim.least:,}"
    return WitnessResult(witness=witness, finding=finding, text=text)
