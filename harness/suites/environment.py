"""What every process of a lane inherits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.words import Backend, Sanitizer, SanitizerCheck

if TYPE_CHECKING:
    from harness.matrix.model import Target

FOUND = 98
"""Exit status of a program in which a sanitizer found something; 1 would read as a failed case."""


def environment_of(target: Target) -> dict[str, str]:
    """Our variables without those of pytest and nox, with the sanitizers' options, without GPUs on a CPU."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "NOX_"))}
    kept.update(sanitizer_options(target))
    if not target.backend.has_device:
        # A CPU lane must not find a GPU by accident.
        kept.update({name: "" for backend in Backend for name in backend.facts.masks})
    return kept


def sanitizer_options(target: Target) -> dict[str, str]:
    """Run-time options of a target's sanitizers: what is off there is off here, everything else is strict."""
    sanitizers = target.sanitizers
    if sanitizers is None:
        return {}
    leaks = "0" if SanitizerCheck.LEAK in sanitizers.off else "1"
    common = f"exitcode={FOUND}:abort_on_error=0:color=never"
    options = {}
    if Sanitizer.ADDRESS in sanitizers.on:
        # A GPU runtime maps memory where the address sanitizer keeps its gap.
        gap = ":protect_shadow_gap=0" if target.backend.has_device else ""
        options["ASAN_OPTIONS"] = f"{common}:detect_leaks={leaks}:detect_stack_use_after_return=1{gap}"
    if Sanitizer.UNDEFINED in sanitizers.on:
        options["UBSAN_OPTIONS"] = f"{common}:print_stacktrace=1:halt_on_error=1"
    if Sanitizer.THREAD in sanitizers.on:
        options["TSAN_OPTIONS"] = f"{common}:halt_on_error=1"
    return options
