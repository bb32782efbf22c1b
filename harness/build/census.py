"""How many objects of the code under test are instrumented, and whether the program is.

An object is instrumented by a sanitizer if it calls the sanitizer's runtime,
or if the compiler recorded in the object's debug information that it was told
to (an object may hold nothing that the sanitizer has to check).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from harness.build.model import Census
from harness.words import Sanitizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SYMBOLS = {
    Sanitizer.ADDRESS: (
        "__asan_report_",
        "__asan_load",
        "__asan_store",
        "__asan_register_",
        "__asan_stack_malloc",
    ),
    Sanitizer.UNDEFINED: ("__ubsan_handle_",),
    Sanitizer.THREAD: ("__tsan_func_entry", "__tsan_read", "__tsan_write"),
}


def take(objects: Sequence[Path], program: Path, wanted: Sequence[Sanitizer]) -> Census:
    """Examine objects before linking and the linked program; unreadable ones count as not instrumented."""
    found = {path: _instrumented(path, wanted) for path in objects}
    lacking = [path.name for path, has in found.items() if not set(wanted) <= has]
    return Census(
        objects=len(objects),
        instrumented={sanitizer: sum(sanitizer in has for has in found.values()) for sanitizer in wanted},
        binary=frozenset(_instrumented(program, wanted)),
        uninstrumented=tuple(sorted(lacking)),
    )


def _instrumented(path: Path, wanted: Sequence[Sanitizer]) -> set[Sanitizer]:
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            names = set(_symbols(elf))
            has = {s for s in wanted if any(name.startswith(_SYMBOLS[s]) for name in names)}
            missing = [sanitizer for sanitizer in wanted if sanitizer not in has]
            if missing and elf["e_type"] == "ET_REL":
                told = _recorded_flags(elf)
                has |= {sanitizer for sanitizer in missing if sanitizer.value in told}
            return has
    except (OSError, ELFError, DWARFError):
        return set()


def _symbols(elf: ELFFile) -> Iterator[str]:
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.iter_symbols():
                yield symbol.name


def _recorded_flags(elf: ELFFile) -> set[str]:
    """Sanitizers in the -fsanitize= options that DW_AT_producer holds (gcc always, clang where asked to)."""
    if not elf.has_dwarf_info():
        return set()
    told: set[str] = set()
    for unit in elf.get_dwarf_info().iter_CUs():
        producer = unit.get_top_DIE().attributes.get("DW_AT_producer")
        if producer is None:
            continue
        for word in producer.value.decode(errors="replace").split():
            option, _, value = word.partition("=")
            if option == "-fsanitize":
                told.update(value.split(","))
            elif option == "-fno-sanitize":
                told = set() if "all" in value.split(",") else told - set(value.split(","))
    return told
