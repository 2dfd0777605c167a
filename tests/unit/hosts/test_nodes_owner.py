"""Who uses a testbed in a cluster."""

from __future__ import annotations

from dataclasses import replace

from dunnage.contracts.cluster import Owner, TestbedSeen
from dunnage.hosts.nodes.owner import in_use, is_of_nobody_here, own

ENDED, ALIVE = {"n1": "Succeeded"}, {"n1": "Succeeded", "n2": "Running"}


def seen(owner: Owner | None, agents: dict[str, str], age: float | None = 3600.0) -> TestbedSeen:
    return TestbedSeen("T", "study", "", owner, agents, "", age)


def test_a_testbed_of_a_process_that_lives_here_is_used_whatever_its_agents_do() -> None:
    me = own()
    assert in_use(seen(me, ENDED))
    assert not is_of_nobody_here(seen(me, ENDED))


def test_a_testbed_of_a_process_that_ended_here_is_not_used_though_its_agents_live_still() -> None:
    dead = replace(own(), born=1)
    assert not in_use(seen(dead, ALIVE))
    assert is_of_nobody_here(seen(dead, ALIVE))


def test_of_owners_elsewhere_the_agents_tell() -> None:
    for elsewhere in (None, replace(own(), boot="another"), replace(own(), machine="another")):
        assert in_use(seen(elsewhere, ALIVE))
        assert in_use(seen(elsewhere, {"n1": "Pending"}))
        assert not in_use(seen(elsewhere, ENDED))
        assert not is_of_nobody_here(seen(elsewhere, ENDED))


def test_one_of_elsewhere_without_agents_is_used_only_while_it_may_be_just_made() -> None:
    """Whoever ended before the first agent, or whose agents went with their nodes, left one."""
    for elsewhere in (None, replace(own(), boot="another"), replace(own(), machine="another")):
        for age in (-30.0, 0.0, 120.0, None):
            assert in_use(seen(elsewhere, {}, age))
        assert not in_use(seen(elsewhere, {}))
        assert in_use(seen(elsewhere, ALIVE)), "an age says nothing of one that has agents"


def test_one_without_agents_of_a_process_here_is_used_as_long_as_that_lives() -> None:
    assert in_use(seen(own(), {}))
    assert not in_use(seen(replace(own(), born=1), {}, 0.0))
