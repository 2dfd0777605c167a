"""Room on the disk of a host: read from the host, and told where a program lacked it."""

from __future__ import annotations

import pytest

from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.runner.room import failed_there, left_at

WHAT = "wrote no `result.json`"


def test_a_disk_with_room_has_no_part_in_what_failed() -> None:
    with open_fake(TestbedSpec(kind="fake"), name="room") as testbed:
        host = testbed.group("client")[0]
        assert left_at(host, "/scratch") == 2**32
        error = failed_there(host, "/scratch", WHAT)
        assert (error.where, error.what, error.hint) == ("client-1", WHAT, "")


def test_a_full_disk_is_told_with_what_failed_there_and_how_to_look() -> None:
    with open_fake(TestbedSpec(kind="fake"), name="room") as testbed:
        host = testbed.group("client")[0]
        testbed.world.fill("client-1")
        error = failed_there(host, "/scratch/a", WHAT)
        assert error.what == f"{WHAT}; only 0 B are left on the disk of `/scratch/a`"
        assert error.hint == f"df {host.scratch}"


def test_a_host_that_cannot_tell_its_room_is_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_fake(TestbedSpec(kind="fake"), name="room") as testbed:
        host = testbed.group("client")[0]
        monkeypatch.delitem(testbed.world.programs, "stat")
        assert left_at(host, "/scratch") is None
        assert failed_there(host, "/scratch", WHAT).what == WHAT
