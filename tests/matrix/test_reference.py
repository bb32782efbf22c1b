"""docs/matrix.md keeps up with the model, and its examples are what the program takes and says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.matrix.model import (
    ContinuousIntegration,
    Device,
    ExpectedSkip,
    Matrix,
    Sanitizers,
    Target,
)
from harness.matrix.yaml_reader import MOST_BYTES, MOST_DEPTH, MOST_NODES
from harness.suites.driver.keys import DriverSuite, Establish

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tests.matrix.conftest import ProblemsOf

PAGE = (Path(__file__).parents[2] / "docs" / "matrix.md").read_text(encoding="utf-8")

SECTIONS: dict[str, type[BaseModel]] = {
    "The file": Matrix,
    "targets.NAME": Target,
    "targets.NAME.device": Device,
    "targets.NAME.sanitizers": Sanitizers,
    "suites.NAME": DriverSuite,
    "suites.NAME.establish": Establish,
    "expected_skips[]": ExpectedSkip,
    "ci": ContinuousIntegration,
}


@pytest.mark.parametrize("title", SECTIONS)
def test_a_section_has_a_row_for_each_key_of_its_model(title: str) -> None:
    section = PAGE.split(f"\n### {title}\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", section, re.MULTILINE)
    fields = SECTIONS[title].model_fields
    assert [key for key, _, _ in rows] == list(fields)
    for key, default, meaning in rows:
        assert (default == "needed") == fields[key].is_required(), key
        description = (fields[key].description or "").split(";")[0].split(",")[0]
        assert description.removeprefix("false: ") in meaning.replace("`", ""), key


def _example() -> str:
    examples: list[str] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 1
    return examples[0]


def test_the_example_is_valid(problems_of: ProblemsOf) -> None:
    assert problems_of(_example()) == []


def test_the_messages_shown_are_those_of_the_program(problems_of: ProblemsOf) -> None:
    (shown,) = re.findall(r"```\n(matrix\.yaml:.*?)```", PAGE, re.DOTALL)
    text = (
        _example()
        .replace("backend: cuda", "backend: cud", 1)
        .replace("    arch: gfx1151\n", "")
        .replace("rollback:\n", "rollback:\n    timeout_s: 12:30\n", 1)
    )
    assert "".join(f"matrix.yaml:{line}\n" for line in problems_of(text)) == shown


def test_the_limits_are_the_program_s() -> None:
    limits = f"at most {MOST_BYTES >> 10} KiB, {MOST_NODES:,} values and {MOST_DEPTH} levels"
    assert limits in PAGE
