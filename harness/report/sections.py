"""Fitting the sections of a page into the room that there is, and saying what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOTE = "\n*{} of {} entries were cut here; qualification.json has them all.*"
_NOTE_BYTES = len(_NOTE) + 16
"""The note with two numbers of up to ten digits."""


@dataclass(frozen=True, slots=True)
class Section:
    """A title, the entries, and what stands above them (the head of a table) and below.

    An entry is whole Markdown of its own, so that a page cut between two of
    them is still well-formed.
    """

    title: str
    entries: tuple[str, ...]
    lead: str = ""
    tail: str = ""

    def text(self, number: int | None = None) -> str:
        """The section with its first `number` entries and, if that is not all, the note."""
        total = len(self.entries)
        kept = self.entries if number is None else self.entries[:number]
        note = [_NOTE.format(total - len(kept), total)] if len(kept) < total else []
        around = [[text] if text else [] for text in (self.lead, self.tail)]
        return "\n".join([f"### {self.title}", "", *around[0], *kept, *note, *around[1]]) + "\n"

    def cut(self, room: int) -> str:
        """The section in at most `room` bytes, as many entries as fit."""
        whole = self.text()
        if size(whole) <= room:
            return whole
        left = room - size(self.text(0)) - _NOTE_BYTES
        number = 0
        for entry in self.entries:
            left -= size(entry) + 1
            if left < 0:
                break
            number += 1
        return self.text(number)


def fit(head: str, sections: Sequence[Section], limit: int) -> str:
    """Join a head and the sections that have entries, within `limit` bytes of UTF-8.

    The head is never cut.  Short sections stay whole; long ones share what is
    left in equal parts, so that no section can push out another.
    """
    filled = [section for section in sections if section.entries]
    rooms = _shares([size(section.text()) + 1 for section in filled], limit - size(head))
    return "\n".join([head, *(s.cut(room - 1) for s, room in zip(filled, rooms, strict=True))])


def size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text.encode())


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """Divide room: whoever wants less than an equal part of what is left gets it, smallest first."""
    shares = [0] * len(wanted)
    for rank, index in enumerate(sorted(range(len(wanted)), key=lambda index: wanted[index])):
        shares[index] = min(wanted[index], room // (len(wanted) - rank))
        room -= shares[index]
    return shares
