"""What is said of this machine to one who is not root."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from dunnage import capabilities
from dunnage.hosts.namespace import supports as kernel
from dunnage.hosts.namespace.supports import ROOT, inotify_room, supports
from dunnage.kernel_modules import how_to_load
from dunnage.model.offer import IP_SETS, IPVS, Capability, Support

Found = Mapping[Capability, Support]


@pytest.mark.parametrize(("tool", "way"), [("/usr/bin/sudo", "sudo -s"), (None, "su -")])
def test_without_root_nothing_is_tried_and_the_way_is_shown(
    monkeypatch: pytest.MonkeyPatch, tool: str | None, way: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda _: tool)
    found = supports()
    assert not any(support.met for support in found.values())
    assert {support.hint for support in found.values()} == {way}


def test_without_root_only_that_is_missing_and_it_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = supports()
    (root,) = capabilities.missing(found, tuple(found))
    assert root == found[ROOT]


def test_inotify_instances_are_tried_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert inotify_room(3).met
    assert _ours() == 0

    class Short:
        """A machine that has two left: really to use them up would disturb others."""

        def inotify_init1(self, _: int) -> int:
            if len(given) == 2:
                return -1
            given.append(os.memfd_create("x"))
            return given[-1]

    given: list[int] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Short())
    refused = inotify_room(5)
    assert not refused.met
    assert "5 inotify instances are needed and this user can have 2 more" in refused.reason
    limit = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    assert refused.hint == f"sysctl fs.inotify.max_user_instances={limit + 5}"
    assert not any(Path(f"/proc/self/fd/{each}").exists() for each in given)


@pytest.fixture
def tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Found]:
    """What is found of IPVS where an attempt in a namespace of its own does what a script says."""

    def found(script: str) -> Found:
        (tmp_path / "unshare").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "unshare").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(kernel, "_TRIED", {IPVS: kernel._ipvs, IP_SETS: kernel._ip_sets})
        return supports()

    return found


REFUSED = "echo 'OSError: [Errno 2] No such file' >&2; exit 1"


@pytest.mark.parametrize(
    ("script", "capability", "reason", "module"),
    [
        (REFUSED, IPVS, "the kernel has no IPVS, ", "ip_vs"),
        (
            f'case "$*" in *" service") {REFUSED};; esac',
            IPVS,
            "takes no service whose members get connections in turns (`rr`): OSError: [Errno 2]",
            "ip_vs_rr",
        ),
        (
            f'case "$*" in *" sets") {REFUSED};; esac',
            IP_SETS,
            "has no sets of addresses and ports, which kube-proxy needs beside IPVS: OSError",
            "ip_set_hash_ipport",
        ),
    ],
)
def test_of_what_ipvs_needs_the_module_that_is_missing_is_named(
    tried: Callable[[str], Found],
    script: str,
    capability: Capability,
    reason: str,
    module: str,
) -> None:
    found = tried(script)[capability]
    assert not found.met
    assert reason in found.reason
    assert found.hint == how_to_load(module)


def test_where_the_kernel_does_all_that_it_is_asked_for_ipvs_is_there(
    tried: Callable[[str], Found],
) -> None:
    found = tried("exit 0")
    assert found[IPVS].met
    assert found[IP_SETS].met


def _ours() -> int:
    """Instances of inotify that this process has."""
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += str(each.readlink()) == "anon_inode:inotify"
    return found
