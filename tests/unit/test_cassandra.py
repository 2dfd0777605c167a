"""Cassandra: real answers parsed, and everything that a study may ask too much of."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from dunnage.databases.cassandra import answers, demand
from dunnage.databases.cassandra.configuration import token
from dunnage.databases.cassandra.database import Cassandra
from dunnage.model.study import DatabaseSpec

FIXTURES = Path(__file__).parents[1] / "fixtures" / "cassandra"
CLIENTS = frozenset({"10.77.0.2:9042", "10.77.0.3:9042"})


def fixture(name: str) -> str:
    return (FIXTURES / f"{name}.txt").read_text()


def spec(**keys: object) -> DatabaseSpec:
    return DatabaseSpec.model_validate({"kind": "cassandra", **keys})


def problems(**keys: object) -> list[tuple[str, str]]:
    return list(Cassandra.offer.check(spec(**keys)))


@pytest.mark.parametrize("members", range(1, 20))
def test_tokens_are_spread_evenly_over_the_whole_range(members: int) -> None:
    tokens = [token(number, members) for number in range(members)]
    assert tokens == sorted(tokens)
    assert all(-(2**63) < each < 2**63 for each in tokens)
    shares = [after - before for before, after in pairwise([*tokens, tokens[0] + 2**64])]
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(("members", "copies"), [(1, 1), (2, 2), (3, 3), (7, 3)])
def test_three_copies_are_kept_or_as_many_as_there_are_members(members: int, copies: int) -> None:
    assert demand.copies(spec(members=members)) == copies


@pytest.mark.parametrize("level", demand.LEVELS)
@pytest.mark.parametrize("copies", range(1, 6))
def test_a_level_is_refused_exactly_where_it_needs_more_copies_than_there_are(
    level: str, copies: int
) -> None:
    needed = demand.needed(level, copies)
    assert needed >= 1
    told = problems(members=5, replication=copies, consistency={"read": level})
    assert bool(told) == (needed > copies)


def test_a_quorum_is_more_than_half_of_the_copies() -> None:
    assert [demand.needed("QUORUM", copies) for copies in range(1, 6)] == [1, 2, 2, 3, 3]


def test_what_fits_has_no_problems() -> None:
    assert problems() == []
    assert problems(members=3, consistency={"read": "ONE", "write": "ALL"}) == []
    assert problems(members=2, replication=1, consistency={"read": "LOCAL_QUORUM"}) == []
    assert problems(settings={"concurrent_writes": 64, "jvm.heap": "2G", "jvm.direct": "1G"}) == []


def test_everything_that_does_not_fit_is_said_at_once() -> None:
    found = problems(
        members=2,
        replication=3,
        consistency={"read": 1, "write": "THREE"},
        settings={
            "listen_address": "10.0.0.1",
            "Bad-Name": 1,
            "sasl_password": "secret",
            "cluster_note": "a\nb",
            "jvm.heap": "lots",
            "jvm.collector": "CMS",
            "jvm.compilers": "C2",
            "jvm.processors": 0,
            "jvm.flags": "-ea",
        },
    )
    assert [key for key, _ in found] == ["replication", *["consistency"] * 2, *["settings"] * 9]
    text = "\n".join(sentence for _, sentence in found)
    for words in (
        "3 copies need as many members, and there are 2",
        "`read` is one of `ONE`, ",
        "`write: THREE` needs 3 copies to answer, and each record has 2",
        "Dunnage sets `listen_address` itself",
        "`Bad-Name` is not a name of a setting",
        "made without a password; leave `sasl_password` out",
        "`cluster_note` must be one line",
        "`jvm.heap` is a size such as `512M`",
        "`jvm.collector` is one of `G1`",
        "`jvm.compilers` is one of `C1+C2`, `C1`, not `C2`",
        "`jvm.processors` is a number",
        "unknown setting `jvm.flags`; known are `jvm.heap`",
    ):
        assert words in text
    assert "secret" not in text


def test_a_heap_that_cassandra_dies_with_is_refused() -> None:
    ((key, sentence),) = problems(settings={"jvm.heap": "100M"})
    assert key == "settings"
    assert "at least `256M`" in sentence


def test_a_member_knows_the_others_when_it_has_their_tokens_and_clients_addresses() -> None:
    told = fixture("peers")
    assert answers.knows(told, CLIENTS)
    assert not answers.knows(told, frozenset({"10.77.0.2:9042"}))
    assert not answers.knows(told, frozenset({"10.77.0.2:9042", "10.77.0.3:19042"}))
    assert not answers.knows(told.replace('["0"]', "null"), CLIENTS)


def test_members_agree_when_all_have_one_schema_and_the_table() -> None:
    told = fixture("schema")
    assert answers.agrees(told, members=3)
    assert not answers.agrees(told, members=2)
    assert not answers.agrees(told.replace("-8098bcfdcfa8", "-000000000000", 1), members=3)
    assert not answers.agrees(told.replace('[["usertable"]]', "[]"), members=3)


def test_a_member_that_compacts_or_flushes_is_not_at_rest() -> None:
    calm = fixture("rest")
    assert answers.at_rest(calm)
    for pool in ("CompactionExecutor", "MemtableFlushWriter", "MutationStage"):
        assert not answers.at_rest(calm.replace(f'["{pool}",0,0]', f'["{pool}",1,0]'))
        assert not answers.at_rest(calm.replace(f'["{pool}",0,0]', f'["{pool}",0,3]'))
    task = '["ycsb","usertable","id",0.5,"compaction",1,2,"/data",2,"bytes"]'
    assert not answers.at_rest(calm.replace('"rows":[]', f'"rows":[{task}]', 1))


def test_facts_are_what_a_second_look_gives_again() -> None:
    facts = answers.server_facts("m", fixture("local"))
    assert str(facts["m.release_version"]).startswith("5.0")
    assert facts["m.rpc_port"] == 9042
    assert not [name for name in facts if "id" in name or "schema" in name]
    table = answers.table_facts("m", fixture("table"))
    assert '"datacenter1": "3"' in str(table["m.table.replication"])
    assert "SizeTieredCompactionStrategy" in str(table["m.table.compaction"])


def test_agreement_on_the_schema_is_a_fact_that_is_the_same_in_every_stay() -> None:
    told = "".join(fixture("schema").splitlines(keepends=True)[1:])
    agreed = {"m.schema.members": 3, "m.schema.versions": 1}
    assert answers.schema_facts("m", told) == agreed
    elsewhere = told.replace("ecdf90ae", "00000000")
    assert answers.schema_facts("m", elsewhere) == agreed
    behind = told.replace("-8098bcfdcfa8", "-000000000000", 1)
    assert answers.schema_facts("m", behind) == agreed | {"m.schema.versions": 2}


def test_settings_in_force_are_those_of_the_list() -> None:
    facts = answers.settings_facts("m", fixture("settings"))
    assert {name.removeprefix("m.") for name in facts} <= set(answers.SETTINGS)
    assert facts["m.memtable_heap_space"] == "128MiB"
    assert facts["m.commitlog_sync"] == "periodic"


def test_a_setting_of_the_study_is_read_back_or_said_not_to_be_told() -> None:
    told = fixture("settings")
    own = ("hinted_handoff_enabled", "concurrent_writes", "no_such_setting")
    facts = answers.settings_facts("m", told, own)
    assert facts["m.hinted_handoff_enabled"] == "true"
    assert facts["m.no_such_setting"] == "not told"
    added = facts.keys() - answers.settings_facts("m", told).keys()
    assert added == {"m.hinted_handoff_enabled", "m.no_such_setting"}


def test_java_says_its_heap_collector_and_processors() -> None:
    facts = answers.java_facts("m", "WARN  something is not as it might be\n" + fixture("java"))
    assert facts["m.java.heap"] == 512 * 2**20
    assert facts["m.java.collectors"] == "G1 Old Generation, G1 Young Generation"
    assert facts["m.java.processors"] == 2


def test_the_size_is_that_of_one_copy() -> None:
    told = fixture("size").replace("[[0]]", "[[30]]")
    assert answers.size_facts(told, 3 / 3) == {"data_size": 30 * 2**20}
    assert answers.size_facts(told, 6 / 3) == {"data_size": 60 * 2**20}
    assert answers.size_facts(fixture("size").replace("[[0]]", "[]"), 1.0) == {}
