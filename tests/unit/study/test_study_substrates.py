"""What substrates a study may specify, and how those of older studies are read."""

from __future__ import annotations

import pytest

from dunnage.errors import Problem, StudyError
from dunnage.model.study import SubstrateSpec
from dunnage.study.read import read_stored_study, read_study
from dunnage.study.renewed import renewed
from offers import OFFER

TEXT = """\
dunnage: 1
name: layered
testbed: {kind: namespace, hosts: {db: 2, other: 1, client: 1}}
database: {kind: redis, topology: single}
deployments:
  docker: {platform: docker, network: bridge}
  swarm: {platform: swarm}
workloads: [A]
load: {threads: [32], duration: 4s}
"""
CONTEXTS = "contexts: {db-1: one, db-2: two}"


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(StudyError) as raised:
        read_study(text, "study.yaml", OFFER)
    return raised.value.problems


def only_problem(text: str) -> Problem:
    (found,) = problems(text)
    return found


def test_without_a_word_each_family_is_of_its_first_kind() -> None:
    study = read_study(TEXT, "study.yaml", OFFER)
    assert study.substrate == {}
    assert OFFER.substrate("docker", study.substrate)[0] == "daemons"
    assert OFFER.substrate("swarm", study.substrate)[0] == "own"
    assert OFFER.layers("swarm", study.substrate) == ("docker", "swarm")


def test_both_families_may_exist_already() -> None:
    text = (
        f"{TEXT}substrate:\n  docker: {{kind: existing, {CONTEXTS}}}\n"
        f"  swarm: {{kind: existing, {CONTEXTS[:-1]}, control: boss}}}}\n"
    )
    study = read_study(text, "study.yaml", OFFER)
    assert OFFER.layers("swarm", study.substrate) == ("swarm",)
    assert study.substrate["swarm"].contexts["control"] == "boss"


def test_only_hosts_that_are_used_need_a_context() -> None:
    text = f"{TEXT}substrate: {{swarm: {{kind: existing, contexts: {{db-1: one}}}}}}\n"
    told = only_problem(text)
    assert (told.line, told.what) == (10, "there is no Docker context for `db-2`")
    inside = text.replace("platform: swarm", "platform: swarm, client: container")
    assert "`db-2`, `client-1`" in only_problem(inside).what


def test_what_a_platform_has_not_asks_for_no_context() -> None:
    theirs = f"substrate: {{swarm: {{kind: existing, {CONTEXTS}}}}}\n"
    for keys, missing in (("network: mist", "network"), ("endpoint: dove", "endpoint")):
        told = only_problem(TEXT.replace("platform: swarm", f"platform: swarm, {keys}") + theirs)
        assert told.what.startswith(f"platform `swarm` has no {missing} ")


def test_a_swarm_of_ours_is_not_begun_on_daemons_of_someone_else() -> None:
    told = only_problem(f"{TEXT}substrate: {{docker: {{kind: existing, {CONTEXTS}}}}}\n")
    assert told.line == 10
    assert "`swarm` of the kind `own` cannot stand on `docker` of the kind `existing`" in told.what
    assert told.hint == "write `substrate: {swarm: {kind: existing, contexts: …}}`"


def test_the_group_of_the_control_host_is_made_and_cannot_be_named() -> None:
    told = only_problem(TEXT.replace("other: 1", "control: 2"))
    assert told.line == 3
    assert "the group `control` is made for the substrate `swarm`" in told.what
    existing = f"substrate: {{swarm: {{kind: existing, {CONTEXTS}}}}}\n"
    read_study(TEXT.replace("other: 1", "control: 2") + existing, "study.yaml", OFFER)


@pytest.mark.parametrize(
    ("old", "family", "kind"),
    [
        ("{kind: daemons}", "docker", "daemons"),
        ("{contexts: {}}", "docker", None),
        (f"{{kind: existing, {CONTEXTS}}}", "docker", "existing"),
        ("{kind: fake}", "fake", "fake"),
    ],
)
def test_a_result_with_one_substrate_for_all_is_read_and_a_new_study_is_told(
    old: str, family: str, kind: str | None
) -> None:
    text = TEXT.replace("  swarm: {platform: swarm}\n", "") + f"substrate: {old}\n"
    study = read_stored_study(text, "study.yaml", OFFER)
    assert study.substrate.keys() == {family}
    assert study.substrate[family].kind == kind
    told = only_problem(text)
    assert (told.line, told.what) == (
        9,
        "`substrate` has keys of its own for each family by now",
    )
    assert told.hint == "write for example `substrate: {docker: {kind: existing, contexts: …}}`"


def test_what_is_wrong_with_an_old_substrate_is_told_at_its_line() -> None:
    text = TEXT + "substrate: {kind: daemons, contexts: {db-1: one}}\n"
    with pytest.raises(StudyError) as raised:
        read_stored_study(text, "study.yaml", OFFER)
    (told,) = raised.value.problems
    assert told.line == 10
    assert "`contexts` belongs to the kind `existing`" in told.what


@pytest.mark.parametrize("data", [None, [], {}, {"substrate": None}, {"substrate": {"docker": 1}}])
def test_what_is_new_or_no_study_comes_back_as_it_is(data: object) -> None:
    assert renewed(data) is data  # type: ignore[arg-type]


def test_a_specification_of_one_family_says_nothing_of_another() -> None:
    specs = {"docker": SubstrateSpec(kind="existing")}
    assert OFFER.substrate("swarm", specs)[0] == "own"


def test_a_kubernetes_is_named_by_no_contexts() -> None:
    theirs = "substrate: {kubernetes: {kind: existing, contexts: {db-1: mine}}}\n"
    told = only_problem(TEXT.replace("platform: swarm", "platform: kubernetes") + theirs)
    assert told.what == "the substrate `kubernetes` has no kind `existing`"
    told = only_problem(
        TEXT.replace("platform: swarm", "platform: kubernetes")
        + "substrate: {kubernetes: {contexts: {db-1: mine}}}\n"
    )
    assert told.what == "the substrate `kubernetes` has no contexts"
