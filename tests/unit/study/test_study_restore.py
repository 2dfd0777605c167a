"""Stays that start with a copy of the data: where that is refused, and what is shared by whom."""

from __future__ import annotations

import json

import pytest

from dunnage.errors import StudyError
from dunnage.model.choices import Data
from dunnage.model.study import Study
from dunnage.study.expected_time import estimate_seconds, snapshot_seconds
from dunnage.study.matrix import deployments
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from dunnage.study.snapshot import snapshot_name
from offers import OFFER

GOOD = """\
dunnage: 1
name: good
testbed: {kind: namespace, hosts: {db: 3, other: 3, client: 1}}
database: {kind: redis, topology: replicas, members: 3}
deployments:
  native: {platform: native}
  docker: {platform: docker, network: bridge}
workloads: [A, C]
load: {threads: [32], duration: 4s}
data: restore
"""


def test_records_are_put_in_by_every_stay_unless_a_study_says_otherwise() -> None:
    loaded = GOOD.replace("data: restore\n", "")
    assert read_study(loaded, "study.yaml", OFFER).data is Data.LOAD
    assert read_study(GOOD, "study.yaml", OFFER).data is Data.RESTORE


@pytest.mark.parametrize(
    ("old", "new", "line", "what", "hint"),
    [
        (
            "network: bridge",
            "storage: tmpfs",
            7,
            "cannot be restored on storage `tmpfs` of platform `docker`",
            "write `data: load` or `storage: bind` or `storage: volume`",
        ),
        ("network: bridge", "storage: container", 7, "on storage `container`", "`data: load`"),
        ("platform: native", "platform: native, storage: tmpfs", 6, "of platform `native`", ""),
        ("topology: replicas", "topology: cluster", 4, "hold addresses", "write `data: load`"),
        ("network: bridge", "database: {topology: cluster}", 7, "hold addresses", "`data: load`"),
        ("redis, topology: replicas", "unkept", 4, "no stay can start with a copy", ""),
        ("[A, C]", "[A, D]", 8, "`D` inserts records", "use A, B, C or F"),
        ("[A, C]", "[A, {name: scans, core: E}]", 8, "`scans` inserts records", ""),
        ("[A, C]", "[{name: in, phase: load}]", 8, "measures loading", "two"),
        ("[A, C]", "[A, {name: big, core: C, records: 50}]", 8, "`big` needs 50 records", "two"),
        ("data: restore", "data: restored", 10, "`data` cannot be `restored`", "`restore`"),
        ("data: restore", "data: [restore]", 10, "`data`", ""),
    ],
)
def test_what_cannot_be_the_same_for_all_is_refused_with_its_reason(
    old: str, new: str, line: int, what: str, hint: str
) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new)
    with pytest.raises(StudyError) as raised:
        read_study(text, "study.yaml", OFFER)
    (problem,) = raised.value.problems
    assert problem.line == line
    assert what in problem.what
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("network: bridge", "storage: tmpfs"),
        ("topology: replicas", "topology: cluster"),
        ("[A, C]", "[A, D, {name: big, core: C, records: 50}, {name: in, phase: load}]"),
    ],
)
def test_whoever_loads_may_do_all_of_it(old: str, new: str) -> None:
    text = GOOD.replace(old, new).replace("data: restore", "data: load")
    assert read_study(text, "study.yaml", OFFER).data is Data.LOAD


def test_a_number_of_records_that_is_the_studys_own_is_no_other() -> None:
    text = GOOD.replace("[A, C]", "[A, {name: again, core: C, records: 500}]") + "records: 500\n"
    assert read_study(text, "study.yaml", OFFER).records == 500


def study(**changes: object) -> Study:
    keys: dict[str, object] = {
        "dunnage": 1,
        "name": "restored",
        "testbed": {"kind": "namespace", "hosts": {"db": 3, "other": 3, "client": 1}},
        "database": {"kind": "redis", "members": 3},
        "deployments": {
            "native": {"platform": "native"},
            "bridge": {"platform": "docker", "network": "bridge", "storage": "volume"},
        },
        "workloads": ["A"],
        "load": {"threads": [8], "duration": "4s"},
        "data": "restore",
        **changes,
    }
    return read_study(json.dumps(keys), "restored.yaml", OFFER)


def names(**changes: object) -> list[str]:
    return [snapshot_name(each, 500) for each in deployments(study(**changes), OFFER)]


def test_deployments_of_one_database_share_a_snapshot_whatever_runs_it() -> None:
    native, bridge = names()
    assert native == bridge
    assert native.startswith("redis-")
    twin = names(twin="native")
    assert set(twin) == {native}
    assert len(twin) == 3


def test_other_data_other_hosts_and_other_software_have_snapshots_of_their_own() -> None:
    (native, _) = names()
    assert {native} != set(names(database={"kind": "redis", "members": 3, "settings": {"hz": 5}}))
    assert snapshot_name(deployments(study(), OFFER)[0], 501) != native
    elsewhere = {
        "native": {"platform": "native"},
        "other": {"platform": "native", "hosts": "other"},
        "tuned": {"platform": "native", "database": {"settings": {"hz": 5}}},
    }
    assert len(set(names(deployments=elsewhere))) == 3
    image = {"kind": "redis", "members": 3, "image": "redis:7.0"}
    assert len(set(names(database=image))) == 2


def test_a_plan_reckons_with_one_loading_for_each_snapshot() -> None:
    def seconds(of: Study) -> float:
        return estimate_seconds(make_plan(of, deployments(of, OFFER)), of)

    restored, loaded = study(records=200_000), study(records=200_000, data="load")
    once = snapshot_seconds(make_plan(restored, deployments(restored, OFFER)), restored)
    assert once > 200_000 / 20_000
    assert snapshot_seconds(make_plan(loaded, deployments(loaded, OFFER)), loaded) == 0.0
    assert seconds(restored) - once == pytest.approx(seconds(loaded) - 12 * 200_000 / 20_000)
