"""Rules for packets stay while what made them is frozen, also for a native deployment."""

from __future__ import annotations

from analysis_cases import stay
from analysis_study import plan

from dunnage.findings.rules.left import rules_left
from dunnage.findings.rules.sentences import rules_stay

FROZEN = {"docker": "frozen", "kubernetes": "frozen"}


ON_DOCKER = {**FROZEN, "docker": "awake"}


def test_a_deployment_on_nothing_that_is_awake_is_told_with_the_rules_of_its_hosts() -> None:
    stays = [
        stay("native", 1, substrates=FROZEN, rules={"db-1": 40, "client-1": 12}),
        stay("native", 2, substrates=FROZEN, rules={"db-1": 57}),
        stay("twin", 1, substrates=FROZEN, rules={"db-1": 0}),
    ]
    (found,) = rules_left(plan(), stays)
    assert (found.deployment, found.least, found.most) == ("native", 12, 57)
    (told,) = rules_stay([found])
    assert told == (
        "native: 12 to 57 rules for packets are in force on each of its hosts, also those made for "
        "docker and kubernetes, which are frozen. What those cost is in no difference from it"
    )


def test_a_deployment_passes_rules_of_what_is_frozen_though_it_stands_on_something_else() -> None:
    (found,) = rules_left(plan(), [stay("docker", 1, substrates=ON_DOCKER, rules={"db-1": 60})])
    assert (found.deployment, found.made_by) == ("docker", ("kubernetes",))
    assert rules_stay([found]) == (
        "docker: 60 rules for packets are in force on each of its hosts, also those made for "
        "kubernetes, which is frozen. What those cost is in no difference from it",
    )


def test_deployments_that_pass_rules_of_the_same_substrates_are_told_in_one_sentence() -> None:
    stays = [
        stay("native", 1, substrates=FROZEN, rules={"db-1": 40}),
        stay("twin", 1, substrates=FROZEN, rules={"db-1": 57}),
        stay("docker", 1, substrates=ON_DOCKER, rules={"db-1": 60}),
    ]
    alike, other = rules_stay(rules_left(plan(), stays))
    assert alike.startswith("native, twin: 40 to 57 rules for packets are in force on each of ")
    assert alike.endswith("which are frozen. What those cost is in no difference from them")
    assert other.startswith("docker: 60 rules")


def test_what_is_frozen_on_other_hosts_has_made_no_rules_for_a_deployment() -> None:
    on_kubernetes = {**FROZEN, "kubernetes": "awake"}
    stays = [
        stay("docker", 1, substrates=ON_DOCKER, rules={"db-1": 60}),
        stay("twin", 1, substrates=on_kubernetes, rules={"spare-1": 90}),
    ]
    assert rules_left(plan(), stays) == ()


def test_without_substrates_or_their_counts_nothing_is_told() -> None:
    assert rules_left(plan(), [stay("native"), stay("docker")]) == ()
    assert rules_left(plan(), [stay("native", substrates=FROZEN)]) == ()
    assert rules_left(plan(), [stay("native", rules={"db-1": 3})]) == ()
