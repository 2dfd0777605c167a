"""Rules for packets stay while what made them is frozen, also for a native deployment."""

from __future__ import annotations

from analysis_cases import stay
from analysis_study import plan

from dunnage.findings.rules.left import rules_left
from dunnage.findings.rules.sentences import rules_stay

FROZEN = {"docker": "frozen", "kubernetes": "frozen"}


def test_a_deployment_on_nothing_that_is_awake_is_told_with_the_rules_of_its_hosts() -> None:
    stays = [
        stay("native", 1, substrates=FROZEN, rules={"db-1": 40, "client-1": 12}),
        stay("native", 2, substrates=FROZEN, rules={"db-1": 57}),
        stay("docker", 1, substrates={**FROZEN, "docker": "awake"}, rules={"db-1": 60}),
        stay("twin", 1, substrates=FROZEN, rules={"db-1": 0}),
    ]
    (found,) = rules_left(plan(), stays)
    assert (found.deployment, found.least, found.most) == ("native", 12, 57)
    (told,) = rules_stay([found])
    assert told == (
        "native: 12 to 57 rules for packets are in force on each of its hosts, though docker and "
        "kubernetes, for which they were made, are frozen. What they cost it is in no difference "
        "from it"
    )


def test_without_substrates_or_their_counts_nothing_is_told() -> None:
    assert rules_left(plan(), [stay("native"), stay("docker")]) == ()
    assert rules_left(plan(), [stay("native", substrates=FROZEN)]) == ()
