"""The distinct transactions of each copy mode's sweep that an independent oracle recomputed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.claims import COVERAGE, ORACLE
from harness.witness.driver_count import counted, swept
from harness.witness.protocol import Point, Sighting, Witness
from harness.words import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.witness.protocol import View


def observe(view: View) -> Iterator[Sighting]:
    """Count those of cases in which the oracle recomputed every transaction; silent if it was never asked."""
    rows = {row.name: row for row in view.rows}
    for mode, cases in swept(view).items():
        by_oracle: set[str] = set()
        asked = False
        for case in cases:
            row = rows.get(case.name)
            verified = row.observed.oracle_transactions if row is not None else None
            asked = asked or verified is not None
            keys = view.suite.transactions(case)
            if row is not None and row.outcome is Outcome.PASSED and verified == len(keys):
                by_oracle |= keys
        if asked:
            yield counted("oracle", mode, len(by_oracle), cases)


WITNESS = Witness(COVERAGE, ORACLE, Point.AFTER_RUN, observe)
