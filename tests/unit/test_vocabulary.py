"""Every word that a report may say is fed by something: a word that nothing produces promises too much."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import harness
from harness.evidence.model import Evidence, Finding, NotRun, State
from harness.judge.policy import SessionState, Standing
from harness.words import ClaimState, LaneVerdict, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import Enum

PACKAGE = Path(harness.__file__).parent
SOURCES = [ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))]

VOCABULARIES: list[type[Enum]] = [
    *(Outcome, ClaimState, LaneVerdict, Verdict),
    *(NotRun, State, Finding),
    *(Standing, SessionState),
]


def produced(tree: ast.AST) -> Iterator[str]:
    """`Enum.MEMBER` where it can be a value: no pattern, operand of a comparison, key, or part of a set."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.match_case():
                for statement in node.body:
                    yield from produced(statement)
            case ast.Compare() | ast.Set():
                pass
            case ast.Dict():
                for value in node.values:
                    yield from produced(ast.Expression(value))
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                yield f"{owner}.{name}"
            case _:
                yield from produced(node)


PRODUCED = {word for tree in SOURCES for word in produced(tree)}


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda vocabulary: vocabulary.__name__)
def test_every_word_is_produced(vocabulary: type[Enum]) -> None:
    words = {f"{vocabulary.__name__}.{member.name}" for member in vocabulary}
    assert words - PRODUCED == set()


def test_every_field_of_the_evidence_is_filled_in() -> None:
    filled = {"schema_version"}
    for tree in SOURCES:
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg is not None:
                filled.add(node.arg)
            elif isinstance(node, ast.Dict):
                filled.update(str(key.value) for key in node.keys if isinstance(key, ast.Constant))
    assert set(Evidence.model_fields) - filled == set()


def test_a_word_that_is_only_compared_does_not_count() -> None:
    text = """
match x:
    case Outcome.PASSED:
        y = Outcome.FAILED
if x is Outcome.ERROR or x in {Outcome.SKIPPED}:
    table = {Outcome.XFAILED: Outcome.MISSING}
"""
    assert set(produced(ast.parse(text))) == {"Outcome.FAILED", "Outcome.MISSING"}
