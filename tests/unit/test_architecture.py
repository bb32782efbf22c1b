"""The table of floors in docs/architecture.md holds: no import runs upwards, none in a circle."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 400


def floors_of(page: str) -> dict[str, int]:
    """Number of the floor of each entry, from the top, as the table on the page has it.

    An entry is a module below the package, with all that is in it; a longer
    entry, which may have a * for one part, stands for itself.
    """
    table = page.partition("| floor |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ((?:`[\w.*]+`(?:, )?)+) \|", table, re.MULTILINE)
    return {name: number for number, row in enumerate(rows) for name in re.findall(r"`([\w.*]+)`", row)}


def entry_of(module: str, floors: dict[str, int]) -> str | None:
    """The longest entry that a module (without the package's name) belongs to."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        for entry in floors:
            wanted = entry.split(".")
            if len(wanted) == length and all(w in ("*", p) for w, p in zip(wanted, parts, strict=False)):
                return entry
    return None


def modules_of(package: Path) -> dict[str, Path]:
    """Every module of a package by its dotted name."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(path: Path, known: dict[str, Path], package: str) -> set[str]:
    """Modules of the package that a module imports, wherever in its text the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides its floor"
            base = node.module or ""
            found.update(
                f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names
            )
    return {name for name in found if name.partition(".")[0] == package and name != package}


def faults(package: Path, page: str) -> list[str]:
    """Everything in which a package differs from its page."""
    floors, known, name = floors_of(page), modules_of(package), package.name
    found = []
    graph = {}
    used = set()
    for module, path in sorted(known.items()):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MOST_LINES:
            found.append(f"{module} has {lines} lines")
        if module == name:
            continue
        own = entry_of(module.partition(".")[2], floors)
        graph[module] = imports_of(path, known, name) - {module}
        if own is None:
            found.append(f"{module} stands on no floor")
            continue
        used.add(own)
        for imported in sorted(graph[module]):
            other = entry_of(imported.partition(".")[2], floors)
            if other is not None and floors[other] < floors[own]:
                found.append(f"{module} imports {imported} from a floor above")
    found += [f"{entry} is on the page and not in the package" for entry in floors if entry not in used]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append(f"a circle of imports: {' <- '.join(error.args[1])}")
    return found


def test_the_house_is_as_its_page_says() -> None:
    assert faults(ROOT / "harness", (ROOT / "docs/architecture.md").read_text(encoding="utf-8")) == []


def test_no_two_modules_differ_only_by_an_ending() -> None:
    names = {name.rpartition(".")[2] for name in modules_of(ROOT / "harness")}
    endings = ("s", "es", "ed", "ing", "er", "file", "files")
    pairs = [(name, name + ending) for name in names for ending in endings if name + ending in names]
    assert pairs == []


PAGE = (
    "| floor | what |\n| --- | --- |\n| `top`, `front` | Above. |\n| `low` | Below. |\n"
    "| `front.*.keys` | At the bottom. |\n\nMore.\n"
)


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"low.py": "from pack.top import x\n"}, "pack.low imports pack.top from a floor above"),
        ({"low.py": "import pack.top\n"}, "pack.low imports pack.top from a floor above"),
        ({"low.py": "from pack import top\n"}, "pack.low imports pack.top from a floor above"),
        (
            {"low.py": "if TYPE_CHECKING:\n    from pack.top import x\n"},
            "pack.low imports pack.top from a floor above",
        ),
        (
            {"low.py": "def f():\n    from pack.front.part import y\n"},
            "pack.low imports pack.front.part from a floor above",
        ),
        (
            {"top.py": "import pack.front\n", "front/__init__.py": "from pack import top\n"},
            "a circle of imports",
        ),
        (
            {"front/a/keys.py": "from pack import low\n"},
            "pack.front.a.keys imports pack.low from a floor above",
        ),
        (
            {"low.py": "from pack.front.a import y\n"},
            "pack.low imports pack.front.a from a floor above",
        ),
        ({"other.py": ""}, "pack.other stands on no floor"),
        ({"low.py": "x = 1\n" * (MOST_LINES + 1)}, f"pack.low has {MOST_LINES + 1} lines"),
    ],
)
def test_each_fault_is_found(tmp_path: Path, files: dict[str, str], fault: str) -> None:
    package = tmp_path / "pack"
    sound = {
        "__init__.py": "",
        "top.py": "from pack.low import z\n",
        "front/__init__.py": "",
        "front/part.py": "from pack.top import x\nimport os\n",
        "front/a/__init__.py": "",
        "front/a/keys.py": "",
        "low.py": "from pack.front.a.keys import z\n",
    }
    for name, text in sound.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    assert faults(package, PAGE) == []
    for name, text in files.items():
        (package / name).write_text(text)
    assert any(found.startswith(fault) for found in faults(package, PAGE)), faults(package, PAGE)


def test_a_floor_without_a_module_is_found(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    assert "low is on the page and not in the package" in faults(tmp_path / "pack", PAGE)
