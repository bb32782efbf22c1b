"""The published JSON Schemas, generated from the models: `python -m harness.schema --check | --write`.

They are checked in so that an editor, or a program that reads our files, needs
no Python.  `--check` keeps them from falling behind the models.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic.json_schema import GenerateJsonSchema

from harness.evidence.model import Evidence
from harness.judge.qualification import Qualification
from harness.matrix.model import Matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_FOLDER = Path(__file__).parent


class _Generator(GenerateJsonSchema):
    """Leaves out titles, which would only repeat the keys in other letters, and closes maps of names."""

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        made = super().dict_schema(schema)
        if "patternProperties" in made:
            # Without this, a name that is no name would be anything at all.
            made["additionalProperties"] = False
        return made

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


_Mode = Literal["validation", "serialization"]

# A file that people write may leave out what has a default; files that we
# write hold every key, and their readers may rely on that.
_MODELS: dict[str, tuple[type[BaseModel], _Mode]] = {
    "matrix.schema.json": (Matrix, "validation"),
    "evidence.schema.json": (Evidence, "serialization"),
    "qualification.schema.json": (Qualification, "serialization"),
}


def schema(name: str = "matrix.schema.json") -> dict[str, Any]:
    """One of the schemas, by the name of its file; raises KeyError for any other name."""
    model, mode = _MODELS[name]
    return {"$schema": DIALECT, **model.model_json_schema(mode=mode, schema_generator=_Generator)}


def outdated(folder: Path = _FOLDER) -> tuple[str, ...]:
    """Names of the schema files in a folder that are missing or not what the models say."""
    return tuple(name for name in _MODELS if not _is_current(folder / name))


def write(folder: Path = _FOLDER) -> None:
    """Write every schema file into a folder."""
    for name in _MODELS:
        (folder / name).write_text(_text(name), encoding="utf-8")


def _is_current(file: Path) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8") == _text(file.name)


def _text(name: str) -> str:
    return json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None, folder: Path = _FOLDER) -> int:
    """Check or write the schema files; 1 if the check finds one that is not current."""
    parser = argparse.ArgumentParser(prog="python -m harness.schema", description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail if a schema file is not current")
    action.add_argument("--write", action="store_true", help="write the schema files")
    if parser.parse_args(arguments).write:
        write(folder)
        return 0
    old = outdated(folder)
    for name in old:
        sys.stderr.write(f"{name} is not what the models say; run: python -m harness.schema --write\n")
    return 1 if old else 0


if __name__ == "__main__":
    raise SystemExit(main())
