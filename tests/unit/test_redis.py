"""Redis: real answers parsed, and everything that a study may ask too much of."""

from __future__ import annotations

from pathlib import Path

import pytest

from dunnage.databases.redis import answers, steps
from dunnage.databases.redis.database import Redis
from dunnage.model.study import DatabaseSpec

FIXTURES = Path(__file__).parents[1] / "fixtures" / "redis"


def fixture(name: str) -> str:
    return (FIXTURES / f"{name}.txt").read_text()


def problems(**spec: object) -> list[tuple[str, str]]:
    return list(Redis.offer.check(DatabaseSpec.model_validate({"kind": "redis", **spec})))


def test_facts_are_what_a_second_look_gives_again() -> None:
    facts = answers.server_facts("redis-1", fixture("primary-info"))
    assert facts["redis-1.redis_version"] == "7.0.15"
    assert facts["redis-1.mem_allocator"] == "jemalloc-5.3.0"
    assert facts["redis-1.role"] == "master"
    assert facts["redis-1.connected_slaves"] == "2"
    assert facts["redis-1.maxmemory"] == "0"
    passing = ("uptime", "used_memory", "process_id", "run_id", "tcp_port", "config_file")
    assert not [name for name in facts if any(word in name for word in passing)]


def test_settings_in_force_keep_empty_values_and_lists() -> None:
    facts = answers.config_facts("redis-1", fixture("config"))
    assert len(facts) == len(answers.CONFIG)
    assert facts["redis-1.save"] == ""
    assert facts["redis-1.appendonly"] == "no"
    assert str(facts["redis-1.client-output-buffer-limit"]).startswith("normal 0 0 0 slave")


def test_an_empty_value_at_the_end_of_the_settings_is_kept() -> None:
    assert answers.config_facts("m", "hz\n10\nsave\n\n") == {"m.hz": "10", "m.save": ""}


def test_a_password_is_never_a_fact() -> None:
    facts = answers.config_facts("m", "requirepass\nsecret\nmasterauth\nsecret\nhz\n10\n")
    assert facts == {"m.hz": "10"}


def test_a_primary_is_caught_up_only_when_all_replicas_have_its_offset() -> None:
    assert answers.caught_up(fixture("primary-replication"), replicas=2)
    assert not answers.caught_up(fixture("primary-replication"), replicas=3)
    assert not answers.caught_up(fixture("behind-replication"), replicas=2)
    assert not answers.caught_up(fixture("replica-replication"), replicas=0)
    assert not answers.caught_up("LOADING Redis is loading the dataset in memory", replicas=0)


def test_a_replica_follows_once_its_link_is_up() -> None:
    up = fixture("replica-replication")
    assert answers.follows(up)
    assert not answers.follows(up.replace("master_link_status:up", "master_link_status:down"))
    assert not answers.follows(up.replace("master_sync_in_progress:0", "master_sync_in_progress:1"))


def test_a_server_that_saves_is_not_at_rest() -> None:
    calm = fixture("persistence")
    assert answers.at_rest(calm)
    assert not answers.at_rest(calm.replace("rdb_bgsave_in_progress:0", "rdb_bgsave_in_progress:1"))
    assert not answers.at_rest("")


def test_the_size_of_the_data_is_that_of_all_primaries() -> None:
    assert answers.size_facts(fixture("primary-info")) == {"data_size": 235132}
    everyone = answers.size_facts(fixture("cluster-call-memory"))
    assert everyone == {"data_size": 310540 + 260668 + 254468}
    assert answers.size_facts("Could not connect to Redis") == {}


def test_a_cluster_is_formed_when_all_know_all_and_every_slot_is_served() -> None:
    told = fixture("cluster-info")
    assert answers.formed(told, members=6)
    assert not answers.formed(told, members=7)
    assert not answers.formed(told.replace("cluster_state:ok", "cluster_state:fail"), members=6)


def test_a_cluster_agrees_when_every_role_is_filled_and_reached() -> None:
    nodes = fixture("cluster-nodes")
    assert answers.agreed(nodes, primaries=3, replicas=3)
    assert not answers.agreed(nodes, primaries=6, replicas=0)
    assert not answers.agreed(nodes.replace(" master ", " master,fail? ", 1), 3, 3)
    assert not answers.agreed(nodes.replace(" connected", " disconnected", 1), 3, 3)


def test_a_member_of_a_cluster_tells_the_address_that_clients_are_told() -> None:
    assert answers.cluster_facts("redis-1", fixture("cluster-nodes")) == {
        "redis-1.cluster_role": "primary",
        "redis-1.slots": "0-5460",
        "redis-1.announced": "127.0.0.2:6379",
    }


@pytest.mark.parametrize("primaries", range(1, 20))
def test_slots_are_split_without_gap_or_overlap(primaries: int) -> None:
    ranges = [steps.slots(i, primaries) for i in range(primaries)]
    served = [slot for low, high in ranges for slot in range(low, high + 1)]
    assert served == list(range(steps.SLOTS))


def test_what_fits_has_no_problems() -> None:
    assert problems() == []
    assert problems(topology="replicas", members=3, replication=3, consistency={"write": 2}) == []
    assert problems(topology="cluster", members=6, replication=2, consistency={"write": 1}) == []
    assert problems(settings={"save": "900 1", "io-threads": 2, "appendonly": True}) == []


def test_everything_that_does_not_fit_is_said_at_once() -> None:
    found = problems(
        topology="replicas",
        members=3,
        replication=2,
        consistency={"read": "ONE", "write": 3},
        settings={
            "port": 1,
            "Bad Name": 1,
            "requirepass": "secret",
            "hz": "10\nport 1",
            "cluster-announce-ip": "10.0.0.1",
        },
    )
    keys = [key for key, _ in found]
    assert keys == ["replication", "consistency", "consistency", *["settings"] * 5]
    text = "\n".join(sentence for _, sentence in found)
    for words in ("3 copies", "leave `read` out", "from 0 to 2, not `3`", "`port` itself"):
        assert words in text
    for words in ("`Bad Name` is not a name", "without a password", "`hz` must be one line"):
        assert words in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("topology", "members", "words"),
    [
        ("single", 3, "`topology: replicas`"),
        ("replicas", 1, "at least one replica"),
        ("cluster", 4, "3 members, or 6"),
    ],
)
def test_a_topology_says_how_many_members_it_has(topology: str, members: int, words: str) -> None:
    ((key, sentence),) = problems(topology=topology, members=members)
    assert key == "members"
    assert words in sentence
