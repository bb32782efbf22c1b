"""The checked-in schemas: current, valid, and of one mind with the reader."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from harness import schema
from harness.evidence import store
from harness.evidence.model import Evidence, HostRecord, Revision, State
from harness.judge.qualification import LaneQualification, Qualification
from harness.matrix.load import MatrixError, load
from harness.matrix.yaml_reader import read
from harness.report import as_json
from harness.words import Backend, LaneVerdict, Verdict
from tests.matrix.conftest import VALID

ROOT = Path(__file__).parents[2]
NAMES = ("matrix.schema.json", "evidence.schema.json", "qualification.schema.json")


def checked_in(name: str = "matrix.schema.json") -> jsonschema.Draft202012Validator:
    data = json.loads((ROOT / "harness" / name).read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_checked_in_schema_is_current_and_valid(name: str) -> None:
    validator = checked_in(name)
    assert validator.schema == schema.schema(name)
    jsonschema.Draft202012Validator.check_schema(schema.schema(name))


def test_the_check_finds_what_is_old_and_writing_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema.write(tmp_path)
    assert schema.main(["--check"], tmp_path) == 0
    (tmp_path / NAMES[0]).write_text("{}")
    (tmp_path / NAMES[1]).unlink()
    assert schema.outdated(tmp_path) == NAMES[:2]
    assert schema.main(["--check"], tmp_path) == 1
    assert "python -m harness.schema --write" in capsys.readouterr().err
    assert schema.main(["--write"], tmp_path) == 0
    assert schema.main(["--check"], tmp_path) == 0


def test_the_module_checks_this_checkout() -> None:
    command = [sys.executable, "-m", "harness.schema", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_this_project_s_matrix_follows_the_schema() -> None:
    checked_in().validate(read(ROOT / "matrix.yaml").data)
    assert load(ROOT / "matrix.yaml").version == 1


def test_a_matrix_as_json_follows_the_schema() -> None:
    checked_in().validate(load(ROOT / "matrix.yaml").model_dump(mode="json"))


def _with(*path: str, value: Any) -> Any:
    data = yaml.safe_load(VALID)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


@pytest.mark.parametrize(
    "data",
    [
        _with("version", value=2),
        _with("targets", "gpu", "backend", value="cud"),
        _with("targets", "gpu", value={"backend": "cuda"}),
        _with("targets", "gpu", "arch", value="gfx1201"),
        _with("targets", "gpu", "devcie", value={}),
        _with("targets", "my host", value={"backend": "cpu"}),
        _with("targets", "host", "required", value="no"),
        _with("suites", "sweep", "timeout_s", value=0),
        _with("suites", "sweep", "copy_modes", "cpu", value=["asynch"]),
        _with("suites", "sweep", "targets", value=[]),
        _with("targets", value={}),
    ],
    ids=[
        "version",
        "backend",
        "no arch",
        "arch of another backend",
        "unknown key",
        "name",
        "text for true or false",
        "number out of range",
        "copy mode",
        "empty list",
        "no targets",
    ],
)
def test_editors_mark_what_the_reader_refuses(data: Any, tmp_path: Path) -> None:
    assert not checked_in().is_valid(data)
    path = tmp_path / "matrix.yaml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(MatrixError):
        load(path)


REVISION = Revision(commit="a" * 40, dirty=True, difference="b" * 64)
NOW = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)


def test_evidence_as_it_is_written_follows_its_schema(tmp_path: Path) -> None:
    record = Evidence(
        harness_version="0.1.0",
        run="r",
        target="gpu",
        suite="sweep",
        nonce="n",
        state=State.RUNNING,
        revision=REVISION,
        matrix_entry="c" * 64,
        inputs={"a.cpp": "d" * 64},
        host=HostRecord(system="Linux", release="6", machine="x86_64", python="3.11"),
        started=NOW,
    )
    store.save(record, tmp_path)
    written = json.loads((tmp_path / store.FILE_NAME).read_text())
    validator = checked_in("evidence.schema.json")
    validator.validate(written)
    del written["state"]
    assert not validator.is_valid(written)


def test_a_qualification_as_it_is_written_follows_its_schema() -> None:
    lane = LaneQualification(
        target="gpu",
        suite="sweep",
        session="cuda",
        backend=Backend.CUDA,
        arch="sm_86",
        required=True,
        verdict=LaneVerdict.INCOMPLETE,
        reasons=("no device",),
        declared_device="any",
    )
    whole = Qualification(
        verdict=Verdict.INCOMPLETE,
        revision=REVISION,
        run="r",
        created=NOW,
        harness_version="0.1.0",
        reasons=("no device",),
        lanes=(lane,),
    )
    written = json.loads(as_json(whole))
    validator = checked_in("qualification.schema.json")
    validator.validate(written)
    written["lanes"][0]["verdict"] = "fine"
    assert not validator.is_valid(written)
