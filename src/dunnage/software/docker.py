"""Docker's daemon and all it calls, from PATH or from Debian's packages; never installed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from dunnage.contracts import DockerBinaries
from dunnage.errors import UnavailableError
from dunnage.software import debian
from dunnage.software.cache import Cache
from dunnage.software.program import last_words, run

_REQUEST = f"docker-debian-recipe1-{platform.machine()}"
_CALLED = ("dockerd", "containerd", "runc", "iptables")
_PACKAGES = (
    "docker.io",
    "containerd",
    "runc",
    "tini",
    "iptables",
    "libdevmapper1.02.1",
    "libip4tc2",
    "libip6tc2",
    "libmnl0",
    "libnetfilter-conntrack3",
    "libnfnetlink0",
    "libnftnl11",
    "libpcre2-8-0",
    "libseccomp2",
    "libselinux1",
    "libsystemd0",
    "libudev1",
    "libxtables12",
)
_TRACES = (
    "/etc/docker/key.json",
    "/etc/docker",
    "/opt/containerd/bin",
    "/opt/containerd/lib",
    "/opt/containerd",
)
# Debian's own preference first; the other for kernels without nf_tables.
_VARIANTS = ("nft", "legacy")


def on_path() -> DockerBinaries | None:
    """The daemon on PATH, if everything that it calls is there too."""
    search = _search_path()
    dockerd, *others = (shutil.which(program, path=search) for program in _CALLED)
    if dockerd is None or None in others:
        return None
    return DockerBinaries(Path(dockerd), {"PATH": search}, f"on PATH: {dockerd}")


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
    refusals = []
    for variant in _VARIANTS:
        environment = _environment(entry, variant)
        refusal = _try_iptables(environment)
        if refusal is None:
            return DockerBinaries(
                entry / "usr/sbin/dockerd", environment, f"Debian: {_versions(entry)}", _TRACES
            )
        refusals.append(f"{variant}: {refusal}")
    raise UnavailableError(
        f"iptables does not work in a new network namespace ({'; '.join(refusals)})",
        where="docker",
        hint="unshare --net iptables -t nat -L",
    )


def _make(entry: Path) -> str:
    packages = debian.download(_PACKAGES, entry / "packages")
    debian.unpack(packages, entry)
    shutil.rmtree(entry / "packages")
    for variant in _VARIANTS:
        names = entry / f"iptables-{variant}"
        names.mkdir()
        for family in ("iptables", "ip6tables"):
            for verb in ("", "-save", "-restore"):
                target = Path("..", "usr", "sbin", f"xtables-{variant}-multi")
                (names / f"{family}{verb}").symlink_to(target)
    facts = "\n".join(f"{package.name} {package.identity}" for package in packages)
    (entry / "packages.txt").write_text(facts + "\n")
    return f"docker-{packages[0].upstream}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"


def _environment(entry: Path, variant: str) -> Mapping[str, str]:
    programs = (entry / f"iptables-{variant}", entry / "usr/sbin", entry / "usr/bin")
    libraries = sorted({path.parent for path in entry.rglob("lib*.so.*") if path.is_file()})
    extensions = sorted(entry.rglob("libxt_tcp.so"))
    return {
        "PATH": ":".join([*map(str, programs), _search_path()]),
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "XTABLES_LIBDIR": str(extensions[0].parent),
    }


def _try_iptables(environment: Mapping[str, str]) -> str | None:
    """What keeps iptables from adding a translation, or None."""
    return _refusal("iptables -w 5 -t nat -A POSTROUTING -p tcp -j MASQUERADE", environment)


def refuses_floating(environment: Mapping[str, str]) -> str | None:
    """What keeps iptables from translating floating addresses in a new network namespace, or None.

    `environment` are the variables under which it runs.
    """
    rules = (
        "echo 1 > /proc/sys/net/ipv4/ip_forward",
        "iptables -w 5 -t nat -A PREROUTING -d 10.77.1.1/32 -j DNAT --to-destination 10.77.0.1",
        "iptables -w 5 -t nat -A POSTROUTING -s 10.77.0.1/32 -m conntrack --ctstate DNAT "
        "-j SNAT --to-source 10.77.1.1",
    )
    return _refusal(" && ".join(rules), environment)


def _refusal(script: str, environment: Mapping[str, str]) -> str | None:
    """What fails of a script in a network namespace that vanishes at once, or None.

    Its iptables has a lock of its own: the usual one is a file of the whole machine, which a busy
    Docker holds. Older versions know no other, and wait for it.
    """
    argv = ["unshare", "--net", "sh", "-c", script]
    with TemporaryDirectory() as directory:
        lock = {"XTABLES_LOCKFILE": f"{directory}/xtables.lock"}
        try:
            done = run(argv, 30, env={**os.environ, **environment, **lock})
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    return last_words(done) if done.returncode else None


def _versions(entry: Path) -> str:
    """`docker.io 20.10.24…, containerd …`: the packages that are programs."""
    lines = [line.split() for line in (entry / "packages.txt").read_text().splitlines()]
    return ", ".join(f"{name} {version}" for name, version, *_ in lines if name[:3] != "lib")


def _search_path() -> str:
    """PATH, and the directories for administrators that some users lack in theirs."""
    return os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
