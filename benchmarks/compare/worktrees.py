"""Two commits of a repository checked out beside each other in a temporary folder."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

__all__ = ["UnknownCommitError", "commit_of", "worktrees"]


class UnknownCommitError(ValueError):
    """A name that git does not know as a commit."""


def commit_of(repository: Path, name: str) -> str:
    """The full hash of a commit, branch or tag."""
    # The end of options keeps a name such as --all from being one.
    ran = _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if ran.returncode:
        raise UnknownCommitError(f"Expected a commit, got {name!r} - at {repository}")
    return ran.stdout.strip()


@contextmanager
def worktrees(repository: Path, commits: tuple[str, str]) -> Iterator[tuple[Path, Path]]:
    """Folders with the two commits, removed afterwards whatever happens."""
    with tempfile.TemporaryDirectory(prefix="thatch-compare-") as folder, ExitStack() as stack:
        trees = Path(folder, "base"), Path(folder, "head")
        for commit, tree in zip(commits, trees, strict=True):
            ran = _git(repository, "worktree", "add", "--detach", "--quiet", str(tree), commit)
            if ran.returncode:
                raise OSError(f"git worktree add: {ran.stderr.strip()}")
            stack.callback(_git, repository, "worktree", "remove", "--force", str(tree))
        yield trees


def _git(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False
    )
