"""Conditions: what was held back from members and what ran beside them, at its worst."""

from __future__ import annotations

from typing import Any

import pytest
from analysis_cases import host, process, stay
from analysis_study import record

from dunnage.analysis.runs import Setting
from dunnage.findings.conditions.conditions import conditions
from dunnage.model.conditions import Conditions
from dunnage.model.record import HostUsage, Record, Usage

GIB = 2.0**30
MEMBER = Usage(cpu=1.0, throttled=0.2, memory_resident=GIB / 4, memory_cache=GIB / 2)
DAEMON = Usage(cpu=0.5)


def database_host(**changed: Any) -> HostUsage:
    known: dict[str, Any] = {
        "whole": Usage(cpu=2.0, throttled=0.0, swap=4096.0),
        "units": {
            "redis-1": MEMBER,
            "daemon": DAEMON,
            "daemon-shim": DAEMON,
            "sampler": Usage(cpu=0.1, throttled=9.0, memory_cache=9 * GIB),
        },
    }
    return host(**(known | changed))


def seen(*runs: Record, limit: str = str(int(GIB))) -> Conditions:
    known = stay(processes=(process(limits={"memory_limit": limit}),))
    return conditions("native", Setting("A", "threads-5"), runs, {known.stay: known})


def run(*usage: HostUsage) -> Record:
    return record(stay="b1-native", usage=(*usage, host("client-1", "client")))


def test_members_limits_and_daemons_are_told_in_si_units() -> None:
    found = seen(run(database_host()))
    assert found.throttled == pytest.approx(0.2 / 4.0)
    assert found.swap == 4096
    assert found.resident == GIB / 4
    assert found.cache == GIB / 2
    assert found.memory_limit == GIB
    assert found.charged == pytest.approx(0.75)
    assert found.daemons == pytest.approx(1.0 / 4.0)
    assert found.daemons_share == pytest.approx(0.5)
    assert found.absent == {}


def test_the_worst_run_is_told_whatever_the_order() -> None:
    calm = database_host(units={"redis-1": Usage(memory_cache=1.0)})
    for runs in ((run(calm), run(database_host())), (run(database_host()), run(calm))):
        assert seen(*runs).cache == GIB / 2
        assert seen(*runs).runs == 2


def test_without_a_limit_no_share_is_made_up() -> None:
    found = seen(run(database_host()), limit="unlimited")
    assert found.memory_limit is None
    assert found.charged is None
    assert found.absent == {"charged": "no member has a memory limit"}


def test_without_daemons_they_use_nothing() -> None:
    found = seen(run(database_host(units={"redis-1": MEMBER})))
    assert (found.daemons, found.daemons_share) == (0.0, 0.0)


def test_a_daemon_that_could_not_be_watched_is_not_taken_as_idle() -> None:
    found = seen(
        run(
            database_host(
                units={"daemon": Usage()}, absent={"daemon.cpu": "the counter ran backwards"}
            )
        )
    )
    assert found.daemons is None
    assert found.absent["daemons"] == "the counter ran backwards"


def test_the_client_is_no_part_of_it() -> None:
    busy = host("client-1", "client", units={"generator": MEMBER}, whole=Usage(swap=9e9))
    found = seen(record(stay="b1-native", usage=(database_host(), busy)))
    assert found.swap == 4096


def test_no_run_is_said() -> None:
    assert seen().absent["throttled"] == "no run was made"


def test_the_samplers_of_all_hosts_are_added_and_an_unknown_one_is_not_taken_as_idle() -> None:
    assert seen(run(database_host(sampler_cpu=0.25))).sampler == pytest.approx(0.26)
    found = seen(run(database_host(sampler_cpu=None, absent={"sampler": "it ran backwards"})))
    assert found.sampler is None
    assert found.absent["sampler"] == "it ran backwards"
