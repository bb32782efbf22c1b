"""What a YAML parser says about broken text, in words for people who never read the YAML specification."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import yaml

_TOKENS = {
    "<stream end>": "the end of the file",
    "<document start>": "the end of the document",
    "<document end>": "the end of the document",
    "<block mapping start>": "a key",
    "<block sequence start>": "a list",
    "<block end>": "less indentation",
    "<scalar>": "text",
    "<anchor>": "an anchor (&)",
    "<alias>": "an alias (*)",
    "<tag>": "a tag (!)",
    "<directive>": "a directive (%)",
}

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"character '\\t'", "a tab cannot be used here; indent with spaces"),
        (r"undefined alias '(?P<a>.*)'", "the alias *{a} has no anchor &{a} before it"),
        (r"duplicate anchor '(?P<a>.*)';", "the anchor &{a} is there twice"),
        (r"mapping values are not allowed", "found a ':' that cannot be here; put the text in quotes"),
        (
            r"sequence entries are not allowed",
            "found a '-' that cannot be here; begin the list on a new line",
        ),
        (r"could not find expected ':'", "found text where a key with ':' should be"),
        (r"unexpected end of stream", "the quotes are not closed"),
        (r"expected <block end>, but found (?P<a>.*)", "found {a} that does not fit the indentation above"),
        (
            r"expected ',' or '(?P<b>[]}}])', but got (?P<a>.*)",
            "found {a} where ',' or '{b}' should be",
        ),
        (r"expected '<document start>', but found (?P<a>.*)", "found {a} after the end of the document"),
        (r"expected the node content, but found (?P<a>.*)", "found {a} where a value should be"),
        (r"character '(?P<a>.*)' that cannot start", "a value cannot begin with {a}; put it in quotes"),
        (r"unknown escape character '(?P<a>.*)'", "\\{a} is no escape; use single quotes"),
    )
)


def plain_words(error: yaml.MarkedYAMLError) -> str:
    """The problem in plain words, and where the thing began that it is about."""
    problem = str(error.problem or error.context or "is not YAML")
    text = f"is not YAML: {problem}"
    for pattern, words in _RULES:
        found = pattern.search(problem)
        if found is not None:
            text = words.format_map({name: _token(value) for name, value in found.groupdict().items()})
            break
    began = error.context_mark
    if began is not None and error.problem_mark is not None and began.line != error.problem_mark.line:
        text += f"; it began in line {began.line + 1}"
    return text


def _token(shown: str) -> str:
    return _TOKENS.get(shown.strip("'"), shown)
