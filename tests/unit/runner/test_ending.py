"""Tearing down never hides the error that ended a stay."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

import pytest

from dunnage.errors import HostLostError, RunError, StayError
from dunnage.hosts.fake.testbed import open_fake
from dunnage.model.study import TestbedSpec
from dunnage.runner.ending import ended, ending

NOTHING: Mapping[str, None] = {}


def lose() -> None:
    raise HostLostError("no longer answers", where="db-1")


def test_an_error_while_tearing_down_is_a_note_of_the_first() -> None:
    with pytest.raises(StayError, match="not ready") as raised, ExitStack() as stack:
        stack.push(ending(lose))
        stack.push(ending(lose))
        raise StayError("not ready", where="redis-1")
    assert raised.value.__notes__ == ["during clean-up: db-1: no longer answers"] * 2


def test_an_error_while_tearing_down_is_told_when_there_was_none_before() -> None:
    with pytest.raises(HostLostError, match="no longer answers"), ExitStack() as stack:
        stack.push(ending(lose))


def test_all_is_torn_down_whatever_fails_on_the_way() -> None:
    done: list[str] = []
    with pytest.raises(HostLostError), ExitStack() as stack:
        stack.push(ending(lambda: done.append("platform")))
        stack.push(ending(lose))
        stack.push(ending(lambda: done.append("logs")))
    assert done == ["logs", "platform"]


def test_an_unforeseen_error_while_tearing_down_does_not_hide_the_first_either() -> None:
    with pytest.raises(RunError, match="first") as raised, ExitStack() as stack:
        stack.push(ending(lambda: NOTHING["bug"]))
        raise RunError("first")
    assert raised.value.__notes__ == ["during clean-up: 'bug'"]


def test_an_unforeseen_error_while_tearing_down_ends_the_stay_only() -> None:
    with pytest.raises(StayError, match=r"cannot be cleaned up: KeyError"), ExitStack() as stack:
        stack.push(ending(lambda: NOTHING["bug"]))


@pytest.mark.parametrize("power", [True, False])
def test_a_process_is_gone_with_its_directory_even_if_its_host_is_lost(power: bool) -> None:
    spec = TestbedSpec(kind="fake")
    with open_fake(spec, name="ending") as testbed:
        host = testbed.hosts[0]
        host.put("/watch/plan.json", b"{}")
        process = host.start(["fake-daemon"], unit="sampler", log="/watch/log")
        with ExitStack() as stack:
            stack.push(ended(host, process, "/watch"))
            if not power:
                host.power_off()
        assert not process.alive
        assert not power or not [path for path in host.files if path.startswith("/watch")]
