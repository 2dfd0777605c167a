"""The image that a member runs: made of the very tree that runs natively, or named by the study.

Pure.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from dunnage.contracts.software import Tree


def image_of(tree: Tree) -> str:
    """Name of the image that a tree's software runs in."""
    return tree.software.image or tree.tag


def command(argv: tuple[str, ...], tree: Tree) -> tuple[str, ...]:
    """The same command in the image: a named image has its programs on PATH, not in our tree."""
    if tree.software.image and argv[0].startswith(f"{tree.prefix}/"):
        return (PurePosixPath(argv[0]).name, *argv[1:])
    return argv
