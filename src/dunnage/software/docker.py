"""Docker's daemon and all it calls, from PATH or from Debian's packages; never installed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from dunnage.contracts.docker import DockerBinaries
from dunnage.software import debian, iptables
from dunnage.software.cache import Cache
from dunnage.software.program import run

_REQUEST = f"docker-debian-recipe1-{platform.machine()}"
_CALLED = ("dockerd", "containerd", "runc", "iptables")
_PACKAGES = (
    "docker.io",
    "containerd",
    "runc",
    "tini",
    "libdevmapper1.02.1",
    "libpcre2-8-0",
    "libseccomp2",
    "libselinux1",
    "libsystemd0",
    "libudev1",
    *iptables.PACKAGES,
)
_TRACES = (
    "/etc/docker/key.json",
    "/etc/docker",
    "/opt/containerd/bin",
    "/opt/containerd/lib",
    "/opt/containerd",
)
_ASKED_SECONDS = 30


def on_path() -> DockerBinaries | None:
    """The daemon on PATH, if everything that it calls is there too."""
    search = search_path()
    dockerd, *others = (shutil.which(program, path=search) for program in _CALLED)
    if dockerd is None or None in others:
        return None
    return DockerBinaries(Path(dockerd), {"PATH": search}, f"on PATH: {dockerd}")


def version(cache: Cache) -> str:
    """The version of the daemon that is used, in the words of whoever tells it: the one on PATH,
    the package in the cache, or else the package index; empty where it is not told."""
    found, entry = on_path(), cache.find(_REQUEST)
    if found is not None:
        return _told_by(found)
    if entry is not None:
        return _versions(entry).partition(",")[0]
    return debian.candidate(_PACKAGES[0])


def remove_traces() -> None:
    """Remove what unpacked daemons that were killed left outside their own directories."""
    for trace in map(Path, _TRACES if on_path() is None else ()):
        with contextlib.suppress(OSError):  # there is none, or more is in it
            trace.rmdir() if trace.is_dir() else trace.unlink()


def is_unpacked(cache: Cache) -> bool:
    """Whether Debian's daemon is in the cache."""
    return cache.find(_REQUEST) is not None


def unpacked(cache: Cache) -> DockerBinaries:
    """Debian's daemon from the cache, downloaded on first use.

    Raises UnavailableError when it cannot be had, or when its iptables cannot work here.
    """
    entry = cache.obtain(_REQUEST, _make)
    environment = iptables.working(partial(_environment, entry), "docker")
    return DockerBinaries(
        entry / "usr/sbin/dockerd", environment, f"Debian: {_versions(entry)}", _TRACES
    )


def _make(entry: Path) -> str:
    packages = debian.download(_PACKAGES, entry / "packages")
    debian.unpack(packages, entry)
    shutil.rmtree(entry / "packages")
    iptables.link(entry, "usr/sbin")
    facts = "\n".join(f"{package.name} {package.identity}" for package in packages)
    (entry / "packages.txt").write_text(facts + "\n")
    return f"docker-{packages[0].upstream}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"


def _environment(entry: Path, variant: str) -> Mapping[str, str]:
    programs = (iptables.directory(entry, variant), entry / "usr/sbin", entry / "usr/bin")
    libraries = sorted({path.parent for path in entry.rglob("lib*.so.*") if path.is_file()})
    extensions = sorted(entry.rglob("libxt_tcp.so"))
    return {
        "PATH": ":".join([*map(str, programs), search_path()]),
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "XTABLES_LIBDIR": str(extensions[0].parent),
    }


def _told_by(daemon: DockerBinaries) -> str:
    try:
        done = run([str(daemon.dockerd), "--version"], _ASKED_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _versions(entry: Path) -> str:
    """`docker.io 20.10.24…, containerd …`: the packages that are programs."""
    lines = [line.split() for line in (entry / "packages.txt").read_text().splitlines()]
    return ", ".join(f"{name} {version}" for name, version, *_ in lines if name[:3] != "lib")


def search_path() -> str:
    """PATH, and the directories for administrators that some users lack in theirs."""
    return os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
