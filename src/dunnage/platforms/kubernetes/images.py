"""The images that pods run, in the containerd of their nodes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dunnage.contracts.host import Host, Site
from dunnage.contracts.kubernetes import IMAGES, ContainerRuntime
from dunnage.contracts.software import Tree
from dunnage.errors import TO_LOOK, StayError, UnavailableError
from dunnage.image_archive import write_archive
from dunnage.platforms.image_of_tree import image_of
from dunnage.platforms.kubernetes.objects import Image

_SPACE = ("--namespace", IMAGES)
"""Where a kubelet has its images."""
_SECONDS = 300.0
"""For an image of some hundred megabytes."""


def provide(host: Host, runtime: ContainerRuntime | None, tree: Tree) -> Image:
    """See to it that a host's containerd has the image of a tree.

    An image that the study names is left to its kubelet to pull. Raises StayError with containerd's
    reason: it may be just restarted; and UnavailableError as `chosen` does.
    """
    image = chosen(host, tree, ours=runtime is not None)
    if runtime is not None and image.imported and not _has(host, runtime, image.name):
        _bring(host, runtime, tree, image.name)
    return image


def chosen(host: Site, tree: Tree, *, ours: bool) -> Image:
    """What a container of a tree runs on a host; `ours` says whether its node is.

    Raises UnavailableError where nothing can bring that there.
    """
    name = image_of(tree)
    if tree.software.image:
        return Image(name, imported=False)
    if not ours:
        raise UnavailableError(
            f"image `{name}` cannot be brought to a node that is not ours: name one that it can "
            "pull",
            where=host.name,
            hint="dunnage schema study  # the key `image` of `database`",
        )
    return Image(name, imported=True)


def _has(host: Host, runtime: ContainerRuntime, name: str) -> bool:
    listed = _ctr(host, runtime, "images", "list", "--quiet")
    return any(each.endswith(f"/{name}") for each in listed.splitlines())


def _bring(host: Host, runtime: ContainerRuntime, tree: Tree, name: str) -> None:
    there = f"{host.scratch}/{name.replace('/', '-').replace(':', '-')}.tar"
    with tempfile.TemporaryDirectory() as directory:
        archive = Path(directory, "image.tar")
        write_archive(tree.archive, name, (), archive)
        host.put(there, archive.read_bytes())
    try:
        _ctr(host, runtime, "images", "import", there)
    finally:
        host.remove(there)


def _ctr(host: Host, runtime: ContainerRuntime, *argv: str) -> str:
    variables = [f"{name}={value}" for name, value in runtime.environment.items()]
    done = host.run(["env", *variables, *runtime.ctr, *_SPACE, *argv], timeout=_SECONDS)
    if done.code != 0:
        raise StayError(
            f"containerd refuses `ctr {' '.join(argv[:2])}`: {done.stderr.strip()}",
            where=host.name,
            hint=TO_LOOK,
        )
    return done.stdout
