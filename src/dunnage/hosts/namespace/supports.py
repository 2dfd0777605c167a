"""What this machine can do for a lab, found out without making one."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.hosts.control_groups.groups import Shape
from dunnage.hosts.control_groups.here import control_groups
from dunnage.hosts.lab import become_root
from dunnage.hosts.namespace import ipvs
from dunnage.kernel_modules import how_to_load
from dunnage.model.offer import IP_SETS, IPVS, VXLAN, Capability, Support

ROOT = Capability("root")
NAMESPACES = Capability("namespaces")
CGROUPS = Capability("cgroups")

_TOOLS = {"ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}


def supports() -> Mapping[Capability, Support]:
    """Try, on this machine, what namespace hosts need beside the engine."""
    root = _root()
    if not root.met:
        needs_root = Support(False, "only root can test this", root.hint, ROOT)
        tried = dict.fromkeys(_TRIED, needs_root)
    else:
        tried = {one: try_it() for one, try_it in _TRIED.items()}
    return {ROOT: root, **tried}


def _root() -> Support:
    if os.geteuid() == 0:
        return Support(True)
    return Support(False, "only root can create hosts on this machine", become_root())


def _namespaces() -> Support:
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            return Support(False, f"`{tool}` is not on PATH", f"apt-get install {package}")
    kinds = ["--net", "--mount", "--pid", "--uts", "--ipc", "--fork"]
    script = "mount -t tmpfs tmpfs /run && ip link add lab0 type bridge && "
    script += "ip link add port type veth peer name plug"
    complaint = _attempt(["unshare", *kinds, "sh", "-c", script])
    if complaint is None:
        return Support(True)
    return Support(
        False,
        f"namespaces, bridges or veth pairs cannot be created here: {complaint}",
        "capsh --print  # in a container, CAP_SYS_ADMIN and CAP_NET_ADMIN are needed",
    )


def _cgroups() -> Support:
    group = f"/dunnage-probe-{os.getpid()}"
    try:
        groups = control_groups()
        groups.make(group, Shape())
        groups.remove(group)
    except UnavailableError as error:
        return Support(False, error.what, error.hint)
    except OSError as error:
        return Support(
            False,
            f"control groups cannot be created: {error}",
            "findmnt -nrRo TARGET /sys/fs/cgroup | xargs -n 1 mount -o remount,bind,rw",
        )
    return Support(True)


def _vxlan() -> Support:
    add = "ip link add tunnel type vxlan id 1 dstport 4789 dev lo"
    complaint = _attempt(["unshare", "--net", "sh", "-c", add])
    if complaint is None:
        return Support(True)
    return Support(
        False,
        f"VXLAN devices, which overlay networks are made of, cannot be created here: {complaint}",
        how_to_load("vxlan"),
    )


def _ipvs() -> Support:
    if _attempt(["unshare", "--net", "cat", "/proc/self/net/ip_vs"]) is not None:
        return Support(
            False,
            "the kernel has no IPVS, which spreads connections to service addresses over members",
            how_to_load("ip_vs"),
        )
    return _tried(
        ipvs.SERVICE,
        "the kernel's IPVS takes no service whose members get connections in turns (`rr`)",
        "ip_vs_rr",
    )


def _ip_sets() -> Support:
    return _tried(
        ipvs.SETS,
        "the kernel has no sets of addresses and ports, which kube-proxy needs beside IPVS",
        "ip_set_hash_ipport",
    )


def _tried(what: str, refusal: str, module: str) -> Support:
    """Whether the kernel does what `ipvs` asks it for; the module is the one that is missing."""
    asking = (sys.executable, "-I", "-S", str(ipvs.__file__), what)
    complaint = _attempt(["unshare", "--net", *asking])
    if complaint is None:
        return Support(True)
    return Support(False, f"{refusal}: {complaint.splitlines()[-1]}", how_to_load(module))


def sharing(kind: str) -> Support:
    """Whether the kernel has interfaces of a kind that share another one, such as `macvlan`."""
    add = f"ip link add below type bridge && ip link add beside link below type {kind}"
    complaint = _attempt(["unshare", "--net", "sh", "-c", add])
    if complaint is None:
        return Support(True)
    return Support(
        False, f"{kind} interfaces cannot be created here: {complaint}", how_to_load(kind)
    )


def inotify_room(needed: int) -> Support:
    """Whether this user can have so many more inotify instances at once; tried by having them.

    Each kubelet and each containerd watches files by several, and all hosts of all labs share the
    limit: hosts made of namespaces have no user of their own.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    had: list[int] = []
    try:
        for _ in range(needed):
            instance = libc.inotify_init1(os.O_CLOEXEC)
            if instance < 0:
                break
            had.append(instance)
    finally:
        for instance in had:
            os.close(instance)
    if len(had) == needed:
        return Support(True)
    limit = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    return Support(
        False,
        f"{needed} inotify instances are needed and this user can have {len(had)} more: its limit "
        f"is {limit}, `fs.inotify.max_user_instances`",
        f"sysctl fs.inotify.max_user_instances={limit + needed}",
    )


_TRIED = {
    NAMESPACES: _namespaces,
    CGROUPS: _cgroups,
    VXLAN: _vxlan,
    IPVS: _ipvs,
    IP_SETS: _ip_sets,
}


def _attempt(argv: Sequence[str]) -> str | None:
    """What a command complained of; None when it succeeded."""
    try:
        done = subprocess.run(
            argv, capture_output=True, check=False, timeout=10, start_new_session=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
