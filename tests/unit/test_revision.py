"""The revision tells apart every two trees that could give different results."""

from __future__ import annotations

import hashlib
import subprocess
from typing import TYPE_CHECKING

import pytest

from harness.errors import ConfigurationError
from harness.evidence.revision import changed_between, revision_of, snapshot_of, source_of

if TYPE_CHECKING:
    from pathlib import Path


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "a folder with späces"
    root.mkdir()
    git(root, "init", "-q")
    (root / "kernel.cpp").write_text("int main() {}\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def test_a_clean_tree_is_its_commit(repository: Path) -> None:
    revision = revision_of(repository)
    assert revision.commit == git(repository, "rev-parse", "HEAD").strip()
    assert revision.tree == git(repository, "rev-parse", "HEAD^{tree}").strip()
    assert not revision.dirty
    assert revision.short == revision.commit[:12]


def test_what_the_program_writes_does_not_make_a_tree_dirty(repository: Path) -> None:
    clean = revision_of(repository)
    for folder in (".harness", "reports", ".nox"):
        (repository / folder).mkdir()
        (repository / folder / "file").write_text("x")
    assert revision_of(repository) == clean


@pytest.mark.parametrize("change", ["content", "untracked", "staged", "deleted", "mode", "odd name"])
def test_every_difference_makes_another_revision(repository: Path, change: str) -> None:
    clean = revision_of(repository)
    source = repository / "kernel.cpp"
    match change:
        case "content":
            source.write_text("int main() { return 1; }\n")
        case "untracked":
            (repository / "new.h").write_text("")
        case "staged":
            source.write_text("int main() { return 1; }\n")
            git(repository, "add", ".")
        case "deleted":
            source.unlink()
        case "mode":
            source.chmod(0o755)
        case "odd name":
            (repository / "é\n\t'").write_text("")
    dirty = revision_of(repository)
    assert dirty.dirty
    assert dirty.commit == clean.commit
    assert dirty != clean
    assert "+ changes" in dirty.short


def test_two_dirty_trees_differ_by_the_content_of_untracked_files(repository: Path) -> None:
    (repository / "new.h").write_text("a")
    first = revision_of(repository)
    (repository / "new.h").write_text("b")
    assert revision_of(repository) != first


def test_without_git_the_files_themselves_are_the_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "kernel.cpp").write_text("a")
    first = revision_of(tmp_path)
    assert first.commit is None
    assert first.reason == "no git repository"
    assert first == revision_of(tmp_path)
    (tmp_path / "kernel.cpp").write_text("b")
    assert revision_of(tmp_path) != first


def test_a_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert revision_of(tmp_path).reason == "git has no commit yet"


def test_a_machine_without_git_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert revision_of(tmp_path).reason == "git is not installed"


def test_two_moments_of_a_tree_differ_in_the_files_that_changed(repository: Path) -> None:
    (repository / "same.h").write_text("dirty before and after")
    before = snapshot_of(repository)
    assert changed_between(repository, before, snapshot_of(repository)) == ()
    (repository / "kernel.cpp").write_text("int main() { return 1; }\n")
    (repository / "new é.h").write_text("")
    after = snapshot_of(repository)
    assert changed_between(repository, before, after) == ("kernel.cpp", "new é.h")
    git(repository, "add", "kernel.cpp")
    git(repository, "commit", "-qm", "two")
    committed = snapshot_of(repository)
    assert "kernel.cpp" in changed_between(repository, before, committed)
    assert committed != after


def test_without_git_the_files_that_changed_are_known_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / name).write_text("")
    before = snapshot_of(tmp_path)
    (tmp_path / "b.cpp").write_text("changed")
    assert changed_between(tmp_path, before, snapshot_of(tmp_path)) == ("b.cpp",)


def test_a_source_tells_which_files_it_has_otherwise(repository: Path) -> None:
    digests = {"kernel.cpp": hashlib.sha256((repository / "kernel.cpp").read_bytes()).hexdigest()}
    first = git(repository, "rev-parse", "HEAD").strip()
    assert source_of(repository).differing(digests) == ()
    (repository / "kernel.cpp").write_text("int main() { return 1; }\n")
    git(repository, "commit", "-qam", "two")
    assert source_of(repository).differing(digests) == ("kernel.cpp",)
    named = source_of(repository, first[:10])
    assert named.revision.commit == first
    assert named.differing(digests) == ()
    assert named.differing({**digests, "gone.h": "0" * 64}) == ("gone.h",)
    assert source_of(repository, "HEAD~1").revision == named.revision


def test_a_project_in_a_folder_of_its_repository_is_read_there(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "kernel.cpp").write_text("inner")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "inner")
    digests = {"kernel.cpp": hashlib.sha256(b"inner").hexdigest()}
    assert source_of(inner, "HEAD").differing(digests) == source_of(inner).differing(digests) == ()


@pytest.mark.parametrize("name", ["no-such-branch", "--help", "-n", "HEAD:kernel.cpp", ""])
def test_a_commit_that_git_does_not_know_is_one_message(repository: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="git knows no such commit"):
        source_of(repository, name)
