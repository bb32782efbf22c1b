"""What `matrix.yaml` says about a suite of any kind, and which kinds there are.

Each kind has a folder here, with its own keys in `keys.py` (`KEYS`, a class
derived from `SuiteKeys`) and what it does in `kind.py` (`KIND`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from enum import StrEnum

    from harness.words import Backend, CopyMode

KINDS: dict[str, str] = {"driver": "harness.suites.driver"}
"""The package of each kind."""

DEFAULT_KIND = "driver"

Text = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


class Keys(BaseModel):
    """A part of the matrix: nothing but its keys, and never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def refuse_repetition(words: Sequence[StrEnum], of: str = "") -> None:
    """Raise ValueError if a word is there twice."""
    for word in words:
        if words.count(word) > 1:
            raise ValueError(f"{word} is named twice{of}")


class SuiteKeys(Keys):
    """A set of cases that can run on targets: what suites of all kinds have in common.

    A kind adds its own keys and answers below what it declares with them.
    """

    kind: Annotated[str, Field(description="kind of the suite")]
    targets: Annotated[
        tuple[str, ...], Field(description="names of the targets it runs on; * and ? match", min_length=1)
    ] = ("*",)
    timeout_s: Annotated[float, Field(description="seconds that one case may take", gt=0, le=86400)] = 300.0

    @property
    def modes(self) -> Mapping[Backend, tuple[CopyMode, ...]]:
        """The copy modes that are declared for each backend; none where the kind knows none."""
        return {}

    @property
    def transactions_per_mode(self) -> int | None:
        """Distinct transactions that each lane has to show for each copy mode."""
        return None

    @property
    def pinned_verified(self) -> bool:
        """Whether page-locked memory must be verified for the pinned mode."""
        return False

    def why_not_on(self, backend: Backend) -> str:
        """Why a suite does not run on targets of a backend; "" if it does."""
        del backend
        return ""


def keys_of(kind: str) -> type[SuiteKeys]:
    """The keys of a kind."""
    found: type[SuiteKeys] = importlib.import_module(f"{KINDS[kind]}.keys").KEYS
    return found
