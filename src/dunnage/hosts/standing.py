"""Labs that stand on this machine, whoever owns them: their hosts, and a way into each."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from dunnage.contracts.kubernetes import ADMIN, CONTAINERD_SOCKET, DIRECTORY, IMAGES, PROGRAMS
from dunnage.errors import UnavailableError, UsageError
from dunnage.hosts.clean import Leftover, leftovers, remove
from dunnage.hosts.control_groups.groups import Shape
from dunnage.hosts.control_groups.here import control_groups
from dunnage.hosts.first_process import Identity
from dunnage.hosts.lab import LABS, SCRATCH, SWITCH, Owner, become_root, is_lab, machine_id_file
from dunnage.hosts.namespace.enter import ENVIRONMENT

_UNIT = "shell"
_PATIENCE = 1.0
"""Seconds that a socket may take; the kernel itself accepts while a daemon stands still."""


@dataclass(frozen=True)
class StandingHost:
    """One host of a lab."""

    name: str
    address: str
    first: Identity
    daemon: Path | None
    """Socket of its Docker daemon; None if it has none."""
    kubernetes: Path | None = None
    """Directory of a Kubernetes whose control plane it has; None if it has none."""
    containerd: Path | None = None
    """Socket of its containerd, where it is a node of a Kubernetes; None if it is none."""

    @property
    def kubeconfig(self) -> Path | None:
        """Kubeconfig of who may do everything in that Kubernetes; the host's own programs can use
        it."""
        return None if self.kubernetes is None else self.kubernetes / ADMIN

    @property
    def alive(self) -> bool:
        """Whether it lives."""
        return self.first.alive()

    @property
    def listens(self) -> bool:
        """Whether its Docker daemon takes connections."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.settimeout(_PATIENCE)
            return self.daemon is not None and asked.connect_ex(str(self.daemon)) == 0


@dataclass(frozen=True)
class StandingLab:
    """A lab with its hosts, in their order."""

    name: str
    purpose: str
    kept: bool
    """Whether it was left standing on purpose; else a living process owns it, or it is debris."""
    hosts: tuple[StandingHost, ...]

    @property
    def directory(self) -> Path:
        """Where its state lies, and what `lab up --expose` writes."""
        return LABS / self.name

    def machine_id(self, host: str) -> Path:
        """What a host sees as `/etc/machine-id`."""
        return machine_id_file(self.directory, host)

    def host(self, name: str) -> StandingHost:
        """One of its hosts; raises UsageError naming all."""
        for host in self.hosts:
            if host.name == name:
                return host
        known = ", ".join(host.name for host in self.hosts)
        raise UsageError(
            f"lab `{self.name}` has no host `{name}`; it has {known}", hint="dunnage lab status"
        )


def standing() -> tuple[StandingLab, ...]:
    """All labs on this machine that have hosts; raises UnavailableError without root."""
    if os.geteuid() != 0:
        raise UnavailableError("only root can look into labs", hint=become_root())
    names = sorted(path.name for path in LABS.iterdir()) if LABS.is_dir() else []
    found = [_read(name) for name in names if is_lab(name)]
    return tuple(lab for lab in found if lab is not None and lab.hosts)


def chosen(name: str | None) -> StandingLab:
    """The lab of this name, or the only one that was left standing, or else the only one.

    Raises UsageError where that is not clear.
    """
    labs = standing()
    kept = [lab for lab in labs if lab.kept] or labs
    if name is None and len(kept) == 1:
        return kept[0]
    for lab in labs:
        if lab.name == name:
            return lab
    if not labs:
        raise UsageError("no lab stands on this machine", hint="dunnage lab up")
    known = ", ".join(f"`{lab.name}`" for lab in kept)
    what = f"there is no lab `{name}`" if name is not None else f"{len(kept)} labs stand here"
    raise UsageError(
        f"{what}; name one of {known}: `--lab {kept[0].name}`", hint="dunnage lab status"
    )


def take_down(lab: StandingLab) -> Leftover:
    """End a kept lab and remove all of it; raises UsageError while somebody uses it."""
    for each in leftovers():
        if each.lab == lab.name:
            remove(each)
            return each
    raise UsageError(
        f"lab `{lab.name}` is in use by {lab.purpose}", hint="dunnage lab status  # who uses what"
    )


def enter(lab: StandingLab, host: StandingHost, argv: Sequence[str]) -> NoReturn:
    """Become a program inside a host: a shell without a command.

    It lives in a control group of the host and ends with it. Raises UnavailableError when the host
    is gone.
    """
    if not host.alive:
        hint = f"dunnage lab down --lab {lab.name}"
        raise UnavailableError("the host is gone", where=host.name, hint=hint)
    nsenter = shutil.which("nsenter")
    if nsenter is None:
        raise UnavailableError("`nsenter` is not on PATH", hint="apt-get install util-linux")
    groups = control_groups()
    group = f"/dunnage/{lab.name}/{host.name}/{_UNIT}"
    groups.make(group, Shape())
    for file in groups.join_files(group):
        file.write_text("0")
    namespaces = ("--net", "--mount", "--pid", "--uts", "--ipc")
    words = [nsenter, f"--target={host.first.pid}", *namespaces, "--wd=/", "--"]
    os.execve(nsenter, [*words, *(argv or (_shell(),))], _environment(host))  # noqa: S606


def _environment(host: StandingHost) -> Mapping[str, str]:
    terminal = {
        name: os.environ[name] for name in ("TERM", "LINES", "COLUMNS") if name in os.environ
    }
    own = {} if host.daemon is None else {"DOCKER_HOST": f"unix://{host.daemon}"}
    if host.kubernetes is not None:
        own |= {"KUBECONFIG": str(host.kubeconfig), "PATH": _with_programs(host.kubernetes)}
    if host.containerd is not None:
        own |= {"CONTAINERD_ADDRESS": str(host.containerd), "CONTAINERD_NAMESPACE": IMAGES}
        own |= {"PATH": _with_programs(host.containerd.parent)}
    return {**ENVIRONMENT, **terminal, **own, "PS1": f"{host.name}:\\w# "}


def _with_programs(kubernetes: Path) -> str:
    """Where a shell finds programs, the machine's own first; then those of a Kubernetes."""
    return f"{ENVIRONMENT['PATH']}:{kubernetes / PROGRAMS}"


def _shell() -> str:
    return shutil.which("bash") or "/bin/sh"


def _read(name: str) -> StandingLab | None:
    """A lab by its state; None when it is half made or half gone."""
    try:
        owner = Owner.read((LABS / name / "owner.json").read_text())
        addresses = _addresses((LABS / name / "hosts").read_text())
    except (OSError, ValueError, KeyError):
        return None
    hosts = tuple(
        StandingHost(
            host,
            addresses.get(host, ""),
            first,
            _socket(name, host, "docker", "sock"),
            _plane(name, host),
            _socket(name, host, DIRECTORY, CONTAINERD_SOCKET),
        )
        for host, first in owner.first.items()
        if host != SWITCH
    )
    return StandingLab(name, owner.purpose, owner.keep, hosts)


def _addresses(text: str) -> dict[str, str]:
    """Name → address, from the text of `/etc/hosts`."""
    lines = [line.split() for line in text.splitlines()]
    return {name: address for address, *names in lines for name in names}


def _plane(lab: str, host: str) -> Path | None:
    """A control plane's directory is on the disk of its host as well."""
    directory = SCRATCH / lab / host / DIRECTORY
    return directory if (directory / ADMIN).is_file() else None


def _socket(lab: str, host: str, *below: str) -> Path | None:
    """A program's socket is a file on the disk of its host, which this machine sees as well."""
    file = (SCRATCH / lab / host).joinpath(*below)
    return file if file.is_socket() else None
