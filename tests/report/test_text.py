"""What hostile text cannot do, wherever it stands: no markup, no mention, no second line, nothing unseen."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.evidence.model import DeviceRecord, Revision, ToolchainRecord
from harness.judge.qualification import Failure, Qualification, Skip
from harness.report import markdown, terminal_summary
from harness.report.text import code, fenced, one_line, plain, shown
from harness.words import Backend
from tests.report.examples import FOLDER, defect_in_restore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

HOSTILE = (
    "a | b\r\n## c <img src=x> @everyone #12 `x` ```\n*b* _c_ [d](e) ![f](g) \x1b[31m \x9b31m \x00 \u202e "
    "~~h~~ $i$ <!-- --> &amp; --- \n\n    code\n1. one\n\n| - |\n| - |"
)
PAGE = MarkdownIt("gfm-like", {"linkify": False})

pieces = st.sampled_from(list("@#a1. \n`|_*-=<&\\$"))
texts = st.one_of(st.text(max_size=60), st.lists(pieces, max_size=12).map("".join))


def inline(tokens: Sequence[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


def stretches(tokens: Sequence[Token]) -> Iterator[str]:
    """The stretches of text in a finished page in which GitHub looks for names."""
    for token in tokens:
        found = ""
        for child in token.children or ():
            if child.type in ("text", "text_special"):
                found += child.content
            else:
                yield found
                found = ""
        yield found


def check_page(text: str) -> None:
    tokens = PAGE.parse(text)
    inside = inline(tokens)
    assert [t.tag for t in tokens if t.type == "heading_open"].count("h2") == 1, "no second headline"
    assert not [t for t in inside if t.type in ("image", "link_open", "s_open", "em_open")]
    html = [t.content for t in (*tokens, *inside) if t.type.startswith("html")]
    assert set(html) <= {"<br>", "<!-- -->"}
    assert not [s for s in stretches(tokens) if re.search(r"@\w|#\d", s)]
    assert not [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]
    assert len([t for t in tokens if t.type == "table_open"]) == 1


def hostile(place: str, text: str) -> Qualification:
    """A run with a failure in which one place holds hostile text."""
    q = defect_in_restore()
    failure = Failure(
        case=text if place == "case" else "case",
        outcome="failed",
        message=text if place == "message" else "message",
        reproduce=(text if place == "reproduce" else "command",),
    )
    device = DeviceRecord(source="s", backend=Backend.CPU, name=text, arch="x", pci=text)
    changes: dict[str, dict[str, object]] = {
        "message": {"failures": (failure,)},
        "case": {"failures": (failure,)},
        "reproduce": {"failures": (failure,)},
        "reason": {"reasons": (text,)},
        "hint": {"hint": text, "counts": q.lanes[0].counts},
        "folder": {"folder": text},
        "flags": {"flags": (text,)},
        "skip": {"skips": (Skip(case=text, said=text, expected=False, reason=text),)},
        "device": {"devices": (device,)},
        "toolchain": {"toolchain": ToolchainRecord(kind=text, compiler=text, version=text, origin=text)},
        "claim": {"claims": tuple(c.model_copy(update={"reason": text}) for c in q.lanes[4].claims)},
        "memory": {"copy_modes": tuple(m.model_copy(update={"memory": text}) for m in q.lanes[4].copy_modes)},
    }
    if place == "revision":
        return q.model_copy(update={"revision": Revision(commit=None, reason=text)})
    if place == "run":
        return q.model_copy(update={"run": text})
    if place == "not claimed":
        return q.model_copy(update={"not_claimed": (text,)})
    lane = q.lanes[4].model_copy(update=changes[place])
    return q.model_copy(update={"lanes": (*q.lanes[:4], lane)})


PLACES = [
    *("message", "case", "reproduce", "reason", "hint", "folder", "flags", "skip", "device"),
    *("toolchain", "claim", "memory", "revision", "run", "not claimed"),
]


@pytest.mark.parametrize("place", PLACES)
def test_hostile_text_stays_text_wherever_it_stands(place: str) -> None:
    q = hostile(place, HOSTILE)
    check_page(markdown(q))
    assert "everyone" in markdown(q)
    summary = terminal_summary(q, FOLDER, width=80, color=False)
    assert not [c for c in summary if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]


@given(texts)
@example("@0")
@example("---")
@example("1.")
@example("=")
def test_plain_text_is_one_line_without_markup_also_as_the_second_line_of_an_entry(text: str) -> None:
    shown_text = plain(text)
    assert "\n" not in shown_text
    for around in (f"- {shown_text}", f"- x\n  {shown_text}", f"**x {shown_text}**"):
        tokens = PAGE.parse(around)
        blocks = {t.type for t in tokens if t.nesting >= 0}
        assert blocks <= {"bullet_list_open", "list_item_open", "paragraph_open", "inline"}
        kinds = {t.type for t in inline(tokens)}
        assert kinds <= {"text", "text_special", "softbreak", "html_inline", "strong_open", "strong_close"}
        assert all(t.content == "<!-- -->" for t in inline(tokens) if t.type == "html_inline")
        assert not [s for s in stretches(tokens) if re.search(r"@\w|#\d", s)]


@given(texts)
def test_plain_text_is_one_cell_of_a_table(text: str) -> None:
    tokens = PAGE.parse(f"| a | b |\n| --- | --- |\n| {plain(text)} | end |")
    cells = [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "td_open"]
    assert len(cells) == 2
    assert cells[1] == "end"


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Z"]), max_size=40))
def test_nothing_that_can_be_seen_is_lost(text: str) -> None:
    tokens = PAGE.parse(f"x{plain(text)}")
    seen = "".join(t.content for t in inline(tokens) if t.type in ("text", "text_special"))
    assert seen == f"x{text}"


@given(texts)
def test_code_is_one_span_whatever_is_in_it(text: str) -> None:
    tokens = MarkdownIt().parse(f"x {code(text)} y")
    assert [t.type for t in inline(tokens)] == ["text", "code_inline", "text"]


@given(texts)
def test_a_command_is_shown_as_it_is(text: str) -> None:
    tokens = [t for t in MarkdownIt().parse(fenced(text)) if t.type == "fence"]
    assert [t.content for t in tokens] == [f"{shown(text)}\n"]


def test_a_command_that_is_too_long_is_not_shown_in_part() -> None:
    text = fenced("rm -r build/" + "x" * 10_000)
    assert "rm -r" not in text
    assert "qualification.json" in text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
        ("\u2028", "\\u2028"),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("Größe 5 µs", "Größe 5 µs"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text: str, seen: str) -> None:
    assert shown(text) == seen


@given(texts, st.integers(1, 50))
def test_a_line_has_at_most_the_letters_that_were_asked_for(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert "\n" not in line
    if len(line) < most:
        assert not line.endswith("…") or "…" in text


def test_a_message_of_megabytes_is_cut_with_a_mark() -> None:
    line = one_line("a " * 5_000_000)
    assert len(line) == 600
    assert line.endswith("…")
