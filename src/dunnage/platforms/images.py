"""The image that a member runs: made of the very tree that runs natively, or named by the study."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from docker import DockerClient
from docker.errors import ImageNotFound

from dunnage.contracts.software import Tree
from dunnage.docker_api import translated
from dunnage.errors import UnavailableError


def image_of(tree: Tree) -> str:
    """Name of the image that a tree's software runs in."""
    return tree.software.image or tree.tag


def provide(client: DockerClient, tree: Tree, host: str) -> None:
    """See to it that a daemon has the image; raises UnavailableError with the daemon's reason."""
    name = image_of(tree)
    with translated(
        UnavailableError,
        f"image `{name}` is not available",
        where=host,
        hint=shlex.join(["docker", "pull", name]) if tree.software.image else "dunnage doctor",
    ):
        try:
            client.images.get(name)
        except ImageNotFound:
            if tree.software.image:
                client.images.pull(name)
            else:
                repository, _, tag = name.rpartition(":")
                client.api.import_image_from_file(str(tree.archive), repository=repository, tag=tag)


def command(argv: tuple[str, ...], tree: Tree) -> tuple[str, ...]:
    """The same command in the image: a named image has its programs on PATH, not in our tree."""
    if tree.software.image and argv[0].startswith(f"{tree.prefix}/"):
        return (PurePosixPath(argv[0]).name, *argv[1:])
    return argv
