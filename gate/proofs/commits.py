"""Which commit is tried, and which come after another.

Documents change nothing that a proof tries, and the page of proofs is one of them.
"""

from __future__ import annotations

import subprocess

_CODE = (".", ":(exclude)docs", ":(exclude)*.md")


def here() -> str:
    """The commit that is checked out; `… and changes` where files differ from it.

    Empty where there is no git, or nothing of it.
    """
    commit = _git("rev-parse", "--short", "HEAD")
    return f"{commit} and changes" if commit and changes() else commit


def changes() -> str:
    """What differs from the commit, a line for each file, as git tells it; empty where nothing."""
    return _git("status", "--porcelain", "--", *_CODE)


def newest() -> str:
    """The last commit that changed more than documents; empty where there is none."""
    return _git("log", "-1", "--format=%h", "--", *_CODE)


def since(commit: str) -> list[str]:
    """The full names of a commit and of those after it up to the present one; none if unknown."""
    first = _git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    return [first, *_git("rev-list", "--ancestry-path", f"{first}..HEAD").split()] if first else []


def _git(*words: str) -> str:
    """What git says; empty where it cannot."""
    try:
        done = subprocess.run(("git", *words), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
