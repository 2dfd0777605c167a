"""Deployments with their defaults, the schedule, its length and its parts."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dunnage.errors import UnavailableError, UsageError
from dunnage.model.choices import Storage
from dunnage.model.plan import Plan, Skipped
from dunnage.model.study import Study
from dunnage.study.expected_time import estimate_seconds
from dunnage.study.matrix import deployments, named
from dunnage.study.part import filter_plan
from dunnage.study.plan import make_plan
from dunnage.study.read import read_study
from offers import OFFER


def study(**changes: object) -> Study:
    """A study of three deployments and two workloads, with some keys of its own."""
    keys: dict[str, object] = {
        "dunnage": 1,
        "name": "planned",
        "testbed": {"kind": "namespace", "hosts": {"db": 3, "other": 3, "client": 1}},
        "database": {"kind": "redis", "members": 3, "settings": {"a": 1, "b": 2}},
        "deployments": {
            "native": {"platform": "native"},
            "docker": {"platform": "docker"},
            "bridge": {"platform": "docker", "network": "bridge"},
        },
        "workloads": ["A", {"name": "big", "core": "C", "records": 50_000}],
        "load": {"threads": [32, 8], "duration": "4s"},
        "twin": "native",
        **changes,
    }
    return read_study(json.dumps(keys), "planned.yaml", OFFER)


def planned(of: Study) -> Plan:
    return make_plan(of, deployments(of, OFFER))


def test_defaults_come_from_the_platform_and_the_database() -> None:
    native, twin, docker, bridge = deployments(study(), OFFER)
    assert (native.network, native.endpoint, native.storage) == ("host", "host-port", Storage.BIND)
    assert (native.database.version, native.database.topology) == ("7.0", "replicas")
    assert (docker.network, bridge.network) == ("host", "bridge")
    assert twin.model_copy(update={"name": "native", "twin_of": None}) == native
    assert (twin.name, twin.twin_of) == ("native-twin", "native")


def test_an_older_plan_gets_the_names_and_guesses_of_its_parts() -> None:
    plan = planned(study())
    written = json.loads(plan.model_dump_json())
    for deployment in written["deployments"]:
        deployment["parts"] |= deployment.pop("guess")
    version_4 = Plan.model_validate_json(json.dumps(written))
    for deployment in written["deployments"]:
        del deployment["parts"]
    version_3 = Plan.model_validate_json(json.dumps(written))
    for old in (version_4, version_3):
        assert named(old, OFFER).model_dump() == plan.model_dump()


def test_a_deployment_overrides_only_the_database_keys_that_it_names() -> None:
    own = {"platform": "native", "database": {"settings": {"b": 3}, "topology": "cluster"}}
    (_, changed) = deployments(
        study(deployments={"plain": {"platform": "native"}, "own": own}, twin=None), OFFER
    )
    assert dict(changed.database.settings) == {"a": 1, "b": 3}
    assert (changed.database.topology, changed.database.members) == ("cluster", 3)


def test_another_kind_of_database_inherits_no_settings() -> None:
    own = {"platform": "native", "database": {"kind": "unkept"}}
    (_, changed) = deployments(
        study(deployments={"plain": {"platform": "native"}, "own": own}, twin=None), OFFER
    )
    assert dict(changed.database.settings) == {}
    assert (changed.database.version, changed.database.members) == ("1.0", 3)


def test_factors_multiply_every_deployment_and_its_name() -> None:
    factors = {"storage": ["bind", "tmpfs"], "limits.memory": ["512MiB"]}
    resolved = deployments(study(factors=factors, twin="native-storage-tmpfs-memory-512MiB"), OFFER)
    assert [each.name for each in resolved] == [
        "native-storage-bind-memory-512MiB",
        "native-storage-tmpfs-memory-512MiB",
        "native-storage-tmpfs-memory-512MiB-twin",
        "docker-storage-bind-memory-512MiB",
        "docker-storage-tmpfs-memory-512MiB",
        "bridge-storage-bind-memory-512MiB",
        "bridge-storage-tmpfs-memory-512MiB",
    ]
    assert resolved[1].storage is Storage.TMPFS
    assert resolved[1].limits.memory == 512 * 2**20


STUDIES = st.builds(
    study,
    blocks=st.integers(1, 12),
    repeat=st.integers(1, 3),
    seed=st.integers(-5, 2**40),
    order=st.sampled_from(["random", "published"]),
    load=st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True).map(
        lambda threads: {"threads": threads, "duration": "2s"}
    ),
    deployments=st.lists(
        st.sampled_from(["a", "a-b", "A", "b", "b-A", "a-A-t1"]), min_size=1, unique=True
    ).map(lambda names: {name: {"platform": "native"} for name in names}),
    workloads=st.lists(
        st.sampled_from(["A", "A-t1", "b-A", "C"]), min_size=1, max_size=3, unique=True
    ).map(lambda names: [{"name": name} for name in names]),
    twin=st.none(),
)


@settings(max_examples=60, deadline=None)
@given(STUDIES)
def test_every_block_holds_every_deployment_once_and_every_stay_every_run(of: Study) -> None:
    plan = planned(of)
    names = sorted(each.name for each in plan.deployments)
    assert [block.index for block in plan.blocks] == list(range(1, of.blocks + 1))
    for block in plan.blocks:
        assert sorted(stay.deployment for stay in block.stays) == names
        for stay in block.stays:
            cells = Counter((run.workload.name, run.level.name, run.repeat) for run in stay.runs)
            assert set(cells.values()) == {1}
            assert len(cells) == len(of.workloads) * len(of.load.threads) * of.repeat
            assert all(run.deployment == stay.deployment for run in stay.runs)
            assert all(run.block == stay.block == block.index for run in stay.runs)


@settings(max_examples=60, deadline=None)
@given(STUDIES)
def test_ids_are_unique_and_safe_in_a_path_and_positions_count_up(of: Study) -> None:
    plan = planned(of)
    ids = [run.id.casefold() for run in plan.runs()]
    stays = [stay.id.casefold() for block in plan.blocks for stay in block.stays]
    assert len(set(ids)) == len(ids)
    assert len(set(stays)) == len(stays)
    assert not any(set(each) & set("/\\: \0") or each.startswith(".") for each in ids + stays)
    assert [run.position for run in plan.runs()] == list(range(len(ids)))


@settings(max_examples=30, deadline=None)
@given(STUDIES)
def test_the_same_study_always_gives_the_same_plan(of: Study) -> None:
    assert planned(of) == planned(of)
    assert Plan.model_validate_json(planned(of).model_dump_json()) == planned(of)


def test_another_seed_gives_another_order() -> None:
    first, second = planned(study(blocks=12)), planned(study(blocks=12, seed=2))
    assert [run.id for run in first.runs()] != [run.id for run in second.runs()]


def test_every_deployment_of_a_block_gets_the_same_seed_for_the_same_work() -> None:
    for block in planned(study()).blocks:
        seeds = {
            frozenset((run.workload.name, run.level.name, run.seed) for run in stay.runs)
            for stay in block.stays
        }
        assert len(seeds) == 1


def test_the_published_order_raises_the_level_workload_by_workload() -> None:
    for block in planned(study(order="published")).blocks:
        for stay in block.stays:
            done = [(run.workload.name, run.level.threads) for run in stay.runs]
            assert done == [("A", 8), ("A", 32), ("big", 8), ("big", 32)]


def test_a_skipped_deployment_has_no_stays_and_keeps_its_reason() -> None:
    of = study()
    skip = Skipped(deployment="bridge", reason="no Docker here")
    plan = make_plan(of, deployments(of, OFFER), [skip])
    assert plan.skipped == (skip,)
    assert "bridge" not in {run.deployment for run in plan.runs()}
    assert [each.name for each in plan.deployments] == ["native", "native-twin", "docker"]


def test_a_plan_takes_at_least_the_time_that_is_measured() -> None:
    of = study(blocks=2)
    plan = planned(of)
    runs = sum(1 for _ in plan.runs())
    assert estimate_seconds(plan, of) > runs * (4.0 + of.load.warmup)
    assert estimate_seconds(filter_plan(plan, ["native"]), of) < estimate_seconds(plan, of) / 3


def test_only_some_runs_keep_their_ids_and_places() -> None:
    plan = planned(study())
    part = filter_plan(plan, ["nat*", "big", "t8"])
    assert {run.deployment for run in part.runs()} == {"native", "native-twin"}
    assert {(run.workload.name, run.level.name) for run in part.runs()} == {("big", "t8")}
    whole = {run.id: run for run in plan.runs()}
    assert all(whole[run.id] == run for run in part.runs())
    assert [each.name for each in part.deployments] == ["native", "native-twin"]


def test_names_of_one_kind_widen_a_choice() -> None:
    part = filter_plan(planned(study()), ["docker", "bridge"])
    assert {run.deployment for run in part.runs()} == {"docker", "bridge"}


def test_a_choice_that_fits_nothing_is_told_with_what_was_meant() -> None:
    with pytest.raises(UsageError) as raised:
        filter_plan(planned(study()), ["native", "brigde"])
    assert "brigde" in raised.value.what
    assert "did you mean `bridge`?" in raised.value.what


SHARED: dict[str, object] = {
    "load": {"threads": [8, 32], "rate": [2000, "60%", "120%"], "duration": "4s"},
    "questions": {"Q1": {"baseline": "native", "against": ["bridge"]}},
    "blocks": 2,
}


def test_a_share_is_planned_as_a_share_with_a_calibration_before_block_one() -> None:
    of = study(**SHARED)
    plan = planned(of)
    levels = {run.level.name: run.level for run in plan.runs()}
    assert sorted(levels) == ["r2000", "s120", "s60", "t32", "t8"]
    assert (levels["s60"].share, levels["s60"].of, levels["s60"].rate) == (0.6, "native", None)
    assert plan.calibration is not None
    stay = plan.calibration.stay
    assert (plan.calibration.deployment.name, stay.block) == ("native", 0)
    assert [(run.workload.name, run.level.threads, run.repeat) for run in stay.runs] == [
        (name, 32, repeat) for name in ("A", "big") for repeat in (1, 2, 3)
    ]
    assert not {run.id for run in stay.runs} & {run.id for run in plan.runs()}
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


def test_the_calibration_takes_time_and_is_only_planned_for_what_needs_it() -> None:
    of = study(**SHARED)
    plan = planned(of)
    part = filter_plan(plan, ["bridge", "big", "s60"])
    assert part.calibration is not None
    assert {run.workload.name for run in part.calibration.stay.runs} == {"big"}
    assert filter_plan(plan, ["t8"]).calibration is None
    assert estimate_seconds(plan, of) > estimate_seconds(
        plan.model_copy(update={"calibration": None}), of
    ) + 6 * (3.0 + of.load.warmup)


def test_the_calibration_can_be_said_otherwise() -> None:
    load = {
        "rate": ["50%"],
        "connections": 48,
        "duration": "4s",
        "calibration": {"runs": 1, "duration": "2s"},
    }
    plan = planned(study(load=load, twin="native"))
    assert plan.calibration is not None
    assert [run.level.threads for run in plan.calibration.stay.runs] == [48, 48]


def test_a_baseline_that_is_a_twin_or_cannot_run_is_told_apart() -> None:
    asked = {"Q1": {"baseline": "native-twin", "against": ["bridge"]}}
    of = study(**{**SHARED, "questions": asked})
    plan = planned(of)
    assert plan.calibration is not None
    assert plan.calibration.deployment.name == "native"
    with pytest.raises(UnavailableError, match="capacity of `native`, which cannot run here: no x"):
        make_plan(of, deployments(of, OFFER), [Skipped(deployment="native", reason="no x")])


def test_a_search_is_a_level_of_its_own_and_takes_its_probes() -> None:
    of = study(load={"search": {"probes": 10, "probe": "2s"}}, workloads=["A"], blocks=1)
    plan = planned(of)
    assert {run.level.name for run in plan.runs()} == {"search"}
    assert estimate_seconds(plan, of) > 4 * 10 * 2.0


def test_a_search_is_expected_to_make_what_bisection_needs_and_no_more_than_it_may() -> None:
    def seconds(**search: object) -> float:
        of = study(load={"search": search}, workloads=["A"], blocks=1)
        return estimate_seconds(planned(of), of)

    assert seconds(precision="20%") < seconds(precision="5%") < seconds(precision="1%")
    assert seconds(probes=100) == seconds(probes=20) > seconds(probes=6)
