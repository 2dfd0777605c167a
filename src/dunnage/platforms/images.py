"""How a daemon gets the image that a member runs."""

from __future__ import annotations

import shlex

from docker import DockerClient
from docker.errors import ImageNotFound

from dunnage.contracts.software import Tree
from dunnage.docker_api import translated
from dunnage.errors import UnavailableError
from dunnage.platforms.image_of_tree import image_of


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
