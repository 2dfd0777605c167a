"""What is said of this machine to one who is not root."""

from __future__ import annotations

import ctypes
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from dunnage import capabilities
from dunnage.hosts.namespace.supports import ROOT, inotify_room, supports


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


def _ours() -> int:
    """Instances of inotify that this process has."""
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += str(each.readlink()) == "anon_inode:inotify"
    return found
