"""Who coordinated the operations of a load, by the counters of the members themselves."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from typing import Any

from own_cassandra import Ring, order

from dunnage.model.level import Level
from dunnage.software.engine import engine_path

OPERATIONS = 1000
COUNTERS = {"read": "coordinator_read_latency", "update": "coordinator_write_latency"}
"""The tables that count what a member coordinated, by the kind of the operation."""

Coordinated = Mapping[str, Counter[str]]
"""By the kind of operations: how many a member coordinated."""


def half_and_half(**options: str) -> dict[str, Any]:
    """A plan of reads and updates, whose one client does the same whenever it is carried out."""
    content = order("A", level=Level(threads=1), operations=OPERATIONS, duration=None, warmup=0.0)
    content["workload"]["requests"] = {"kind": "uniform"}
    content["target"]["options"] |= options
    return content


def coordinated(ring: Ring, content: Mapping[str, Any]) -> Coordinated:
    """Make a load without an error, and return who coordinated it."""
    before = _counted(ring)
    assert ring.result(content)["errors"] == {}
    after = _counted(ring)
    return {kind: after[kind] - before[kind] for kind in COUNTERS}


def _counted(ring: Ring) -> Coordinated:
    found: dict[str, Counter[str]] = {kind: Counter() for kind in COUNTERS}
    for member in ring.members:
        for kind, table in COUNTERS.items():
            (counted,) = ring.rows(
                member,
                f"SELECT count FROM system_views.{table}"  # noqa: S608
                " WHERE keyspace_name = 'ycsb' AND table_name = 'usertable'",
            )
            found[kind][member] = int(counted[0])
    return found


def by_replicas(ring: Ring, content: Mapping[str, Any]) -> Coordinated:
    """Who would coordinate it if each operation went to the member that has its record."""
    owners = {key: _owner(ring, int(token)) for key, token in _tokens(ring)}
    plan = ring.directory / "coordinated.json"
    plan.write_text(json.dumps(content))
    argv = (str(engine_path()), "operations", "--plan", str(plan), "--count", str(OPERATIONS))
    printed = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    found: dict[str, Counter[str]] = {kind: Counter() for kind in COUNTERS}
    for line in printed.splitlines():
        kind, key, *_ = line.split("\t")
        found[kind][owners[key]] += 1
    return found


def _tokens(ring: Ring) -> list[list[Any]]:
    return ring.rows(ring.members[0], "SELECT y_id, token(y_id) FROM ycsb.usertable")


def _owner(ring: Ring, token: int) -> str:
    """Each member has the tokens up to its own, and after the last one the first one follows."""
    tokens = enumerate(ring.members)
    return next((each for number, each in tokens if token <= ring.token(number)), ring.members[0])


def the_member_with_the_record_coordinates(ring: Ring) -> None:
    """Assert that each operation is coordinated by the member that has its record."""
    content = half_and_half()
    expected = by_replicas(ring, content)
    assert sum(counts.total() for counts in expected.values()) == OPERATIONS
    assert all(set(counts) == set(ring.members) for counts in expected.values())
    assert coordinated(ring, content) == expected


def any_member_coordinates(ring: Ring) -> None:
    """Assert that each member coordinates its part of the operations on one single record."""
    content = half_and_half(coordinator="any")
    content["workload"]["records"] = 1
    (owner,) = by_replicas(ring, content)["read"]
    for kind, counts in coordinated(ring, content).items():
        share = counts[owner] / counts.total()
        # Of 500 operations; five deviations of a share that is drawn are 0.11.
        assert abs(share - 1 / len(ring.members)) < 0.11, (kind, counts)
    content["target"]["options"]["coordinator"] = "replica"
    for counts in coordinated(ring, content).values():
        assert set(counts) == {owner}
