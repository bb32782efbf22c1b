"""Which source is being qualified: commit, tree, and a digest of whatever differs from them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ConfigurationError
from harness.evidence.folders import OWN_OUTPUT
from harness.evidence.model import Revision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LARGE = 64 << 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A working tree at one moment: its revision, and a digest of each file that is not as in its commit."""

    revision: Revision
    files: Mapping[str, str]


def revision_of(root: Path) -> Revision:
    """The revision of the working tree at `root`; see `snapshot_of`."""
    return snapshot_of(root).revision


def snapshot_of(root: Path) -> Snapshot:
    """Describe the working tree at `root`.

    Without git, or where git refuses the folder, the revision has no commit,
    says why, and is told apart by a digest of all files.
    """
    try:
        commit = _git(root, "rev-parse", "--verify", "HEAD^{commit}").strip()
        tree = _git(root, "rev-parse", "--verify", "HEAD^{tree}").strip()
        exclude = [f":(exclude,top){folder}" for folder in OWN_OUTPUT]
        tracked = _git_bytes(
            root, "diff", "HEAD", "--binary", "--no-ext-diff", "--no-textconv", "--", ":/", *exclude
        )
        names = _git_bytes(
            root, "ls-files", "--others", "--exclude-standard", "-z", "--full-name", "--", ":/", *exclude
        )
        changed = b""
        if tracked:
            changed = _git_bytes(
                root, "diff", "HEAD", "--name-only", "-z", "--no-ext-diff", "--", ":/", *exclude
            )
        top = Path(_git(root, "rev-parse", "--show-toplevel").removesuffix("\n"))
    except OSError as error:
        absent = isinstance(error, FileNotFoundError) and shutil.which("git") is None
        return _without_git(
            root, "git is not installed" if absent else f"git cannot be started: {error.strerror}"
        )
    except subprocess.CalledProcessError as error:
        return _without_git(root, _why(error))
    if not commit or not tree:
        return _without_git(root, "git said nothing when it was asked for the commit")
    untracked = _names(names)
    if not tracked and not untracked:
        return Snapshot(Revision(commit=commit, tree=tree), {})
    difference = hashlib.sha256(tracked)
    for part in _contents(top, untracked):
        difference.update(part)
    revision = Revision(commit=commit, tree=tree, dirty=True, difference=difference.hexdigest())
    return Snapshot(revision, _digests(top, [*_names(changed), *untracked]))


def _without_git(root: Path, why: str) -> Snapshot:
    names = _files_below(root)
    digest = hashlib.sha256()
    for part in _contents(root, names):
        digest.update(part)
    revision = Revision(commit=None, difference=digest.hexdigest(), reason=why)
    return Snapshot(revision, _digests(root, names))


def _names(listed: bytes) -> list[str]:
    return sorted(os.fsdecode(name) for name in listed.split(b"\0") if name)


def _digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """A digest of each file, its kind and mode included."""
    found = {}
    for name in names:
        digest = hashlib.sha256()
        for part in _contents(folder, [name]):
            digest.update(part)
        found[name] = digest.hexdigest()
    return found


def changed_between(root: Path, before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Names of the files in which two moments of a working tree differ, sorted."""
    names = {name for name, _ in set(before.files.items()) ^ set(after.files.items())}
    old, new = before.revision.commit, after.revision.commit
    if old is not None and new is not None and old != new:
        # Git can have lost a commit since; that it is another one is known all the same.
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            names.update(_names(_git_bytes(root, "diff", "--name-only", "-z", "--no-ext-diff", old, new)))
    return tuple(sorted(names))


@dataclass(frozen=True, slots=True)
class Source:
    """What is being qualified: a revision, and the files as it has them.

    `commit` is where they are read from; None reads the working tree.
    """

    root: Path
    revision: Revision
    commit: str | None = None

    def differing(self, digests: Mapping[str, str]) -> tuple[str, ...]:
        """Names of the files whose content is not what these digests (SHA-256) say, sorted."""
        return tuple(sorted(name for name, digest in digests.items() if self._digest(name) != digest))

    def _digest(self, name: str) -> str | None:
        try:
            if self.commit is None:
                return hashlib.sha256((self.root / name).read_bytes()).hexdigest()
            return hashlib.sha256(_git_bytes(self.root, "show", f"{self.commit}:./{name}")).hexdigest()
        except (OSError, subprocess.CalledProcessError):
            return None


def source_of(root: Path, named: str | None = None) -> Source:
    """The working tree at `root`, or the commit that a person named.

    Raises ConfigurationError if git does not know that commit.
    """
    if named is None:
        return Source(root, revision_of(root))
    try:
        commit = _git(root, "rev-parse", "--verify", "--end-of-options", f"{named}^{{commit}}").strip()
        tree = _git(root, "rev-parse", "--verify", f"{commit}^{{tree}}").strip()
    except OSError as error:
        raise ConfigurationError(f"--revision {named}: git cannot be started: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        known = "no git repository" if _why(error) == "no git repository" else "git knows no such commit"
        raise ConfigurationError(f"--revision {named}: {known}") from error
    return Source(root, Revision(commit=commit, tree=tree), commit)


def _git(root: Path, *arguments: str) -> str:
    return os.fsdecode(_git_bytes(root, *arguments))


def _git_bytes(root: Path, *arguments: str) -> bytes:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-C", os.fspath(root), "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=environment).stdout


def _why(error: subprocess.CalledProcessError) -> str:
    said = os.fsdecode(error.stderr).strip().splitlines()
    text = said[0] if said else f"it exited with {error.returncode} and said nothing"
    if "not a git repository" in text:
        return "no git repository"
    if "single revision" in text:
        return "git has no commit yet"
    return f"git refused: {text}"


def _files_below(root: Path) -> list[str]:
    """Names of all files below `root` except our own output and hidden folders, sorted."""
    names: list[str] = []
    for folder, folders, files in os.walk(root):
        top = Path(folder) == root
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name != "__pycache__" and not (top and name in OWN_OUTPUT)
        )
        names.extend(os.path.relpath(Path(folder, name), root) for name in files)
    return sorted(names)


def _contents(root: Path, names: Iterable[str]) -> Iterator[bytes]:
    """Yield name, kind and content of each file, framed so that no two trees give the same bytes."""
    for name in names:
        path = root / name
        yield b"\0name\0" + os.fsencode(name)
        try:
            if path.is_symlink():
                yield b"\0link\0" + os.fsencode(path.readlink())
            elif path.is_file():
                status = path.stat()
                yield b"\0file\0%d\0%d\0" % (status.st_size, status.st_mode & 0o111)
                if status.st_size > _LARGE:
                    yield b"\0mtime\0%d" % status.st_mtime_ns
                else:
                    yield path.read_bytes()
            else:
                yield b"\0other\0"
        except OSError as error:
            yield b"\0unreadable\0%d" % (error.errno or 0)
