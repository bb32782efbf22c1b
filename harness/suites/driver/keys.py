"""What `matrix.yaml` says about a suite whose cases are run by a driver."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, field_validator

from harness.suites.keys import Keys, SuiteKeys, Text, refuse_repetition
from harness.words import Backend, CopyMode

if TYPE_CHECKING:
    from collections.abc import Mapping


class Establish(Keys):
    """What each lane of a suite has to show, beyond passing."""

    transactions_per_copy_mode: Annotated[
        int | None,
        Field(description="distinct sweep transactions that driver and oracle must both count", ge=1),
    ] = None
    pinned: Annotated[
        Literal["verified"] | None,
        Field(description="page-locked memory must be verified for the pinned mode"),
    ] = None


class DriverSuite(SuiteKeys):
    """Kernels with a driver of their own (docs/driver.md)."""

    kind: Annotated[Literal["driver"], Field(description="kind of the suite")] = "driver"
    kernels: Annotated[Text, Field(description="folder of the suite, relative to this file")]
    copy_modes: Annotated[
        dict[Backend, tuple[CopyMode, ...]],
        Field(description="copy modes to run on each backend", min_length=1),
    ]
    establish: Annotated[Establish, Field(description="what each lane has to show")] = Establish()

    @field_validator("kernels")
    @classmethod
    def _inside(cls, folder: str) -> str:
        path = PurePosixPath(folder)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError("must be a folder below this file: no leading / and no ..")
        return folder

    @field_validator("copy_modes")
    @classmethod
    def _modes(cls, modes: dict[Backend, tuple[CopyMode, ...]]) -> dict[Backend, tuple[CopyMode, ...]]:
        for backend, of_backend in modes.items():
            refuse_repetition(of_backend, of=f" for {backend}")
            if CopyMode.PINNED in of_backend and not backend.has_device:
                raise ValueError(
                    f"{backend} has no page-locked memory to verify: pinned is not a mode of {backend} lanes"
                )
        return modes

    @property
    def modes(self) -> Mapping[Backend, tuple[CopyMode, ...]]:
        """The copy modes that are declared for each backend."""
        return self.copy_modes

    @property
    def transactions_per_mode(self) -> int | None:
        """Distinct transactions that each lane has to show for each copy mode."""
        return self.establish.transactions_per_copy_mode

    @property
    def pinned_verified(self) -> bool:
        """Whether page-locked memory must be verified for the pinned mode."""
        return self.establish.pinned is not None

    def why_not_on(self, backend: Backend) -> str:
        """Why the suite does not run on targets of a backend; "" if it does."""
        return "" if self.copy_modes.get(backend) else f"the suite has no copy modes for {backend}"


KEYS = DriverSuite
