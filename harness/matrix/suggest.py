"""Words for messages: what was probably meant, and what there is."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

# Beyond this, comparing one word with all the others costs more than a suggestion is worth.
_MOST_COMPARED = 300

_MOST_LISTED = 20


def did_you_mean(word: str, allowed: Collection[str]) -> str:
    """`; did you mean 'x'?` if one of the allowed words is close, else nothing."""
    if len(allowed) > _MOST_COMPARED:
        return ""
    by_folded = {candidate.lower(): candidate for candidate in reversed(list(allowed))}
    close = difflib.get_close_matches(word[:100].lower(), by_folded, n=1)
    return f"; did you mean {by_folded[close[0]]!r}?" if close else ""


def listed(words: Collection[str]) -> str:
    """Words in their order, shortened where there are very many."""
    shown = list(words)[:_MOST_LISTED]
    more = f", … ({len(words)} in all)" if len(words) > len(shown) else ""
    return (", ".join(shown) or "none") + more
