"""Room on the disk of a host: read from the host, and told where a program lacked it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dunnage.hosts.fake.testbed import open_fake
from dunnage.hosts.namespace.host import NamespaceHost
from dunnage.hosts.nodes.host import NodeHost
from dunnage.model.study import TestbedSpec
from dunnage.runner.room import failed_there, left_at

WHAT = "wrote no `result.json`"


def test_a_disk_with_room_has_no_part_in_what_failed() -> None:
    with open_fake(TestbedSpec(kind="fake"), name="room") as testbed:
        host = testbed.group("client")[0]
        assert left_at(host, "/scratch") == 2**32
        error = failed_there(host, "/scratch", WHAT)
        assert (error.where, error.what, error.hint) == ("client-1", WHAT, "")


def test_a_full_disk_is_told_with_what_failed_there() -> None:
    with open_fake(TestbedSpec(kind="fake"), name="room") as testbed:
        host = testbed.group("client")[0]
        testbed.world.fill("client-1")
        error = failed_there(host, "/scratch/a", WHAT)
        assert error.what == f"{WHAT}; only 0 B are left on the disk of `/scratch/a`"
        assert (error.where, error.hint) == ("client-1", "")  # nobody can look at a fake disk


def test_a_full_disk_of_a_host_is_looked_at_where_the_host_sees_it() -> None:
    full = SimpleNamespace(stdout="3 4096", code=0)
    for host in (of_a_lab(), a_node()):
        seen = cast("Any", SimpleNamespace(name=host.name, run=lambda _: full))
        seen.look_at_disks = host.look_at_disks
        error = failed_there(seen, "/scratch/a", WHAT)
        assert error.what == f"{WHAT}; only 12.0 KiB are left on the disk of `/scratch/a`"
        assert error.hint == host.look_at_disks
    assert of_a_lab().look_at_disks.endswith("# then: dunnage lab shell db-1 -- df")
    assert a_node().look_at_disks == "kubectl describe node worker"


def of_a_lab() -> NamespaceHost:
    """A host of a lab that there is not."""
    return NamespaceHost(**_known("groups", "clock", "door", "before", top="/dunnage/lab/db-1"))


def a_node() -> NodeHost:
    """A node of a cluster that there is not."""
    looked = "kubectl describe node worker"
    unknown = ("groups", "clock", "link", "making")
    return NodeHost(**_known(*unknown, confined="", image="redis", look_at_disks=looked))


def _known(*unknown: str, **known: str) -> dict[str, Any]:
    """What is known of a host, and what nobody asks for."""
    place = {"name": "db-1", "group": "db", "address": "10.0.0.1", "scratch": "/scratch"}
    return {**dict.fromkeys(unknown), **place, **known}


def test_a_host_that_cannot_tell_its_room_is_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_fake(TestbedSpec(kind="fake"), name="room") as testbed:
        host = testbed.group("client")[0]
        monkeypatch.delitem(testbed.world.programs, "stat")
        assert left_at(host, "/scratch") is None
        assert failed_there(host, "/scratch", WHAT).what == WHAT
