"""A machine that lacks something, or that has Docker, for one process and what it starts.

PATH, privileges and mounts of its own make it so. Nothing is patched, and nobody else sees it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Collection, Sequence
from pathlib import Path

from dunnage.model.layout import Software
from dunnage.software import docker
from dunnage.software.cache import Cache
from dunnage.software.trees import DebianSoftware

DUNNAGE = (sys.executable, "-m", "dunnage")
CHECKOUT = Path(__file__).parents[2]

_NOBODY = """
set -e
mount -t tmpfs tmpfs /media
mkdir /media/python /media/packages /media/checkout /media/programs
mkdir --mode=777 /media/home
mount --bind "$1" /media/python
mount --bind "$2" /media/packages
mount --bind "$3" /media/checkout
mount --bind "$4" /media/programs
shift 4
cd /media/home
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""
"""In a shell of root's: another user runs this Python, whatever directory of root's it lies in."""
_PYTHON = Path(sys.executable).resolve().relative_to(Path(sys.base_prefix).resolve())
_NOBODYS = {
    "NO_COLOR": "1",
    "HOME": "/media/home",
    "DUNNAGE_CACHE": "/media/home/cache",
    "PATH": "/media/programs",
    "PYTHONPATH": "/media/checkout/src:/media/packages",
}
NOBODYS_CHECKOUT = Path("/media/checkout")
"""Where this user has the checkout."""

_COVERED = """
for place in /usr/local/sbin /usr/sbin /sbin; do
  test ! -e "$place/dockerd" || mount --bind /dev/null "$place/dockerd"
done
exec "$@"
"""
WITHOUT_DOCKERD = ("unshare", "--mount", "sh", "-c", _COVERED, "covered")
"""Runs a program where `dockerd` is in none of the directories that are searched besides PATH."""

_READ_ONLY_GROUPS = """
set -e
for place in $(findmnt --noheadings --raw --submounts --output TARGET /sys/fs/cgroup); do
  mount -o remount,bind,ro "$place"
done
exec "$@"
"""
READ_ONLY_GROUPS = ("unshare", "--mount", "sh", "-c", _READ_ONLY_GROUPS, "read-only")
"""Runs a program where control groups can be looked at only, as in most containers."""

_INSTALLED = 'mount -t overlay overlay -o "lowerdir=$0:/usr" /usr && exec "$@"'


def typed(
    *words: object, within: Sequence[str] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """What the command says to its end where `within` runs it, with some variables changed."""
    return subprocess.run(
        [*within, *DUNNAGE, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NO_COLOR": "1", **variables},
    )


def typed_by_nobody(path: str, *words: object) -> subprocess.CompletedProcess[str]:
    """The same by a user who is not root, whose PATH is the directory `path` alone."""
    packages = sysconfig.get_paths()["purelib"]
    places = (sys.base_prefix, packages, str(CHECKOUT), path)
    variables = ("env", "-i", *(f"{name}={value}" for name, value in _NOBODYS.items()))
    python = (f"/media/python/{_PYTHON}", "-m", "dunnage")
    return subprocess.run(
        [
            *("unshare", "--mount", "sh", "-c", _NOBODY, "nobody", *places),
            *(*variables, *python, *map(str, words)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )


def programs(place: Path, *, without: Collection[str] = ()) -> str:
    """A directory for PATH, with a link to each program that this machine's PATH has, but some."""
    place.mkdir()
    for directory in filter(Path.is_dir, map(Path, os.get_exec_path())):
        for program in directory.iterdir():
            link = place / program.name
            if program.name not in without and not link.is_symlink():
                link.symlink_to(program)
    return str(place)


def cache_of_redis(cache: Path) -> Path:
    """A cache that holds what the default one has of Redis, and nothing else."""
    entry = DebianSoftware().tree(Software("redis", "7.0")).source.parent
    (cache / "entries").mkdir(parents=True)
    (cache / "entries" / entry.name).symlink_to(entry)
    (cache / "references").mkdir()
    for reference in (entry.parents[1] / "references").glob("redis-7.0-*"):
        shutil.copy(reference, cache / "references")
    return cache


def installed_docker(layer: Path) -> tuple[str, ...]:
    """What runs a program where Debian's Docker is installed and was never started.

    `layer` becomes a directory of links to what the packages put below `/usr`.
    """
    binaries = docker.unpacked(Cache())
    entry = binaries.dockerd.parents[2]
    layer.mkdir()
    for part in ("usr/.", "lib"):  # Debian's `/lib` is a link to `/usr/lib`
        subprocess.run(["cp", "-as", f"{entry}/{part}", str(layer)], check=True)
    chosen = Path(binaries.environment["PATH"].partition(":")[0])
    for name in chosen.iterdir():  # as Debian's alternatives choose
        (layer / "sbin" / name.name).symlink_to(name.readlink().name)
    return ("unshare", "--mount", "sh", "-c", _INSTALLED, str(layer))
