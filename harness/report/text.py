"""Text of others made safe to show: on a terminal, in a line of Markdown, as code.

Names, messages and commands come from drivers, compilers and file systems.
Whatever they hold is shown; nothing of it acts.
"""

from __future__ import annotations

import re
import unicodedata

MOST_LINE = 600
"""Letters of one piece of foreign text in a report; what is longer is in `qualification.json`."""

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode's controls, format characters (which reorder text), surrogates, private ones, separators."""

_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_STARTS_BLOCK = re.compile(r"[-+=#]|\d{1,9}(?=[.)](?:\s|$))")
_NO_NAME = "<!-- -->"


def shown(text: str) -> str:
    r"""Replace what cannot be seen by a visible mark, as `\x1b` or `\u202e`; line breaks and tabs stay."""
    return "".join(
        letter.encode("unicode_escape", "surrogatepass").decode()
        if letter not in "\n\t" and unicodedata.category(letter) in _UNSEEN
        else letter
        for letter in text.replace("\r\n", "\n")
    )


def one_line(text: str, most: int = MOST_LINE) -> str:
    """Make text one visible line of at most `most` letters."""
    # Far more than is shown, so that a message of megabytes costs nothing.
    line = " ".join(shown(text[: 4 * most]).split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def plain(text: str, most: int = MOST_LINE) -> str:
    """Make text safe in a line or a table cell: nothing in it is markup, a mention or a second line."""
    line = one_line(text, most).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # An underscore inside a word is no markup, and sm_86 reads better without a backslash.
    line = _MARKUP.sub(lambda found: f"\\{found.group()}", line)
    start = _STARTS_BLOCK.match(line)
    if start is not None:
        at = start.end() if start.group()[0].isdigit() else 0
        line = f"{line[:at]}\\{line[at:]}"
    # GitHub looks for names and numbers of issues in the finished page, where a backslash or an
    # entity is gone; a comment between the letters is what it does not look through.
    return re.sub(r"@|#(?=\d)", lambda found: f"{found.group()}{_NO_NAME}", line)


def code(text: str, most: int = MOST_LINE) -> str:
    """Make text an inline code span, whatever backticks it holds; line breaks become spaces."""
    line = one_line(text, most)
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def fenced(text: str, most: int = 4 * MOST_LINE) -> str:
    """Make text a block of shell code; one that is too long to show is replaced by a note that says so.

    A command that was cut could still run, and do something else.
    """
    if len(text) > most:
        return "*the command is too long to show; it is in qualification.json*"
    block = shown(text)
    fence = "`" * max(3, _longest_run(block) + 1)
    return f"{fence}sh\n{block}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
