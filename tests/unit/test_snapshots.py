"""What Redis and Cassandra say of their files: which, when they are whole, when of no use."""

from __future__ import annotations

import pytest

from dunnage.contracts.database import HasSnapshot
from dunnage.databases.cassandra import answers, steps
from dunnage.databases.cassandra.database import Cassandra
from dunnage.databases.redis.database import Redis
from dunnage.model.layout import Address, Addresses, Place, Reservation, Snapshot
from dunnage.model.study import DatabaseSpec


def spec(kind: str, **keys: object) -> DatabaseSpec:
    return DatabaseSpec.model_validate({"kind": kind, **keys})


def reservation(database: Redis | Cassandra, of: DatabaseSpec) -> Reservation:
    places = []
    for seat in database.layout(of).seats:
        host = f"10.0.0.{seat.slot + 1}"
        ports = {name: Address(host, port) for name, port in seat.ports.items()}
        places.append(
            Place(
                member=seat.member,
                role=seat.role,
                host=f"db-{seat.slot + 1}",
                home=f"/scratch/{seat.member}/home",
                data=f"/scratch/{seat.member}/data",
                prefix="/opt/tree",
                ports={name: Addresses(each, each, each, each) for name, each in ports.items()},
            )
        )
    return Reservation(tuple(places))


def snapshot(database: Redis | Cassandra, of: DatabaseSpec) -> Snapshot:
    assert isinstance(database, HasSnapshot)
    return database.snapshot(of, reservation(database, of))


def test_redis_keeps_the_file_of_the_primary_that_it_has_just_saved() -> None:
    found = snapshot(Redis(), spec("redis", topology="replicas", members=3))
    assert found.files == {"redis-1": ("dump.rdb",)}
    (save,) = found.complete
    assert (save.member, save.argv[-1]) == ("redis-1", "SAVE")
    assert save.done("OK\n")
    assert not save.done("ERR Background save already in progress\n")
    assert found.adopt == ()


def test_redis_keeps_the_file_by_the_name_that_a_study_gives_it() -> None:
    found = snapshot(Redis(), spec("redis", settings={"dbfilename": "all.rdb"}))
    assert found.files == {"redis-1": ("all.rdb",)}


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"topology": "cluster", "members": 3}, "topology", "`nodes.conf`"),
        ({"settings": {"appendonly": True}}, "settings", "`appendonly`"),
        ({"settings": {"appendonly": "yes"}}, "settings", "`appendonly`"),
    ],
)
def test_redis_says_where_files_of_another_stay_would_not_do(
    keys: dict[str, object], key: str, words: str
) -> None:
    ((found, sentence),) = Redis.offer.check_restore(spec("redis", **keys))
    assert found == key
    assert words in sentence


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"topology": "replicas", "members": 3},
        {"settings": {"appendonly": "no", "save": "900 1"}},
        {"settings": {"appendonly": False}},
    ],
)
def test_redis_can_start_with_its_file_otherwise(keys: dict[str, object]) -> None:
    assert Redis.offer.check_restore(spec("redis", **keys)) == ()


def test_every_member_of_a_ring_keeps_its_part_of_the_table_and_nothing_else() -> None:
    of = spec("cassandra", members=3)
    assert Cassandra.offer.check_restore(of) == ()
    found = snapshot(Cassandra(), of)
    assert set(found.files) == {"cassandra-1", "cassandra-2", "cassandra-3"}
    (files,) = set(found.files.values())
    assert files == ("data/ycsb/usertable-6b9b3c7e5d0f4c8e9a5564756e6e6167",)
    assert [step.member for step in found.complete] == ["cassandra-1", "cassandra-2", "cassandra-3"]
    assert all(step.argv[-1] == "drain" for step in found.complete)


def test_the_table_gets_the_id_by_which_its_files_are_found_and_is_dropped_only_before() -> None:
    drop, make, *agree = snapshot(Cassandra(), spec("cassandra", members=3)).adopt
    assert drop.argv[-1].startswith("DROP TABLE IF EXISTS ycsb.usertable")
    assert make.argv[-1].startswith("CREATE TABLE IF NOT EXISTS ycsb.usertable (y_id varchar")
    assert make.argv[-1].endswith(f"WITH id = '{steps.TABLE_ID}'")
    assert not any("DROP" in word for step in (make, *agree) for word in step.argv)
    assert [step.member for step in agree] == ["cassandra-1", "cassandra-2", "cassandra-3"]


def answer(table: str, *versions: str) -> str:
    own, *others = versions
    rows = ", ".join(f'["{version}"]' for version in others)
    return (
        f'{{"columns": ["id"], "rows": [["{table}"]]}}\n'
        f'{{"columns": ["schema_version"], "rows": [["{own}"]]}}\n'
        f'{{"columns": ["schema_version"], "rows": [{rows}]}}\n'
    )


def test_members_agree_on_the_files_when_all_have_the_table_of_that_id() -> None:
    *_, agree = snapshot(Cassandra(), spec("cassandra", members=3)).adopt
    assert agree.done(answer(steps.TABLE_ID, "a", "a", "a"))
    assert not agree.done(answer("00000000-0000-0000-0000-000000000000", "a", "a", "a"))
    assert not agree.done(answer(steps.TABLE_ID, "a", "b", "a"))
    assert not agree.done(answer(steps.TABLE_ID, "a", "a"))
    assert not answers.agrees_on(
        answer(steps.TABLE_ID, "a").replace(f'["{steps.TABLE_ID}"]', ""), 1, steps.TABLE_ID
    )
