"""Which source is being qualified: commit, tree, and a digest of whatever differs from them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from harness.evidence.folders import OWN_OUTPUT
from harness.evidence.model import Revision

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LARGE = 64 << 20


def revision_of(root: Path) -> Revision:
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
        top = Path(_git(root, "rev-parse", "--show-toplevel").removesuffix("\n"))
    except OSError as error:
        absent = isinstance(error, FileNotFoundError) and shutil.which("git") is None
        why = "git is not installed" if absent else f"git cannot be started: {error.strerror}"
        return Revision(commit=None, difference=_digest_of_tree(root), reason=why)
    except subprocess.CalledProcessError as error:
        return Revision(commit=None, difference=_digest_of_tree(root), reason=_why(error))
    if not commit or not tree:
        why = "git said nothing when it was asked for the commit"
        return Revision(commit=None, difference=_digest_of_tree(root), reason=why)
    untracked = sorted(os.fsdecode(name) for name in names.split(b"\0") if name)
    if not tracked and not untracked:
        return Revision(commit=commit, tree=tree)
    difference = hashlib.sha256(tracked)
    for part in _contents(top, untracked):
        difference.update(part)
    return Revision(commit=commit, tree=tree, dirty=True, difference=difference.hexdigest())


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


def _digest_of_tree(root: Path) -> str:
    """Digest names and contents of all files below `root` except our own output and hidden folders."""
    names: list[str] = []
    for folder, folders, files in os.walk(root):
        top = Path(folder) == root
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name != "__pycache__" and not (top and name in OWN_OUTPUT)
        )
        names.extend(os.path.relpath(Path(folder, name), root) for name in files)
    digest = hashlib.sha256()
    for part in _contents(root, sorted(names)):
        digest.update(part)
    return digest.hexdigest()


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
