"""A loopback of its own for servers that a test starts beside labs."""

from __future__ import annotations

import subprocess

from dunnage.model.layout import Software
from dunnage.software.trees import DebianSoftware

# Mounts of its own for the tree's prefix, and a network of its own, so that ports are free.
_HOME = """
mount -t tmpfs tmpfs /run && mkdir -p "$2" && mount --bind "$1" "$2" &&
ip link set lo up && echo ready && exec cat
"""


class OwnLoopback:
    """Namespaces with a tree of software; whoever is in them ends before `close`."""

    def __init__(self, software: Software) -> None:
        tree = DebianSoftware().tree(software)
        self.prefix = tree.prefix
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--net", "sh", "-c", _HOME, "home", tree.source, tree.prefix],
            stdin=subprocess.PIPE,  # it ends with this process
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n"

    def inside(self, *argv: str) -> list[str]:
        """What carries out a command in there."""
        return ["nsenter", "-t", str(self._holder.pid), "-m", "-n", *argv]

    def bring(self, software: Software) -> str:
        """Put the tree of other software beside its own; returns the prefix of that tree."""
        tree = DebianSoftware().tree(software)
        mount = 'mkdir -p "$2" && mount --bind "$1" "$2"'
        words = ("sh", "-c", mount, "bring", str(tree.source), tree.prefix)
        subprocess.run(self.inside(*words), check=True)
        return tree.prefix

    def close(self) -> None:
        """Take all of it down."""
        self._holder.kill()
        self._holder.wait()
