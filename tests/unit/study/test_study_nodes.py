"""Studies whose hosts are nodes of someone else's Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest

from dunnage.errors import Problem, StudyError
from dunnage.model.study import Study
from dunnage.study.brought import with_brought
from dunnage.study.read import read_study
from offers import OFFER

TEXT = """\
dunnage: 1
name: theirs
testbed: {kind: nodes, context: mine, hosts: {db: 2, client: 1}}
database: {kind: redis, topology: single, image: "redis:7.0"}
deployments:
  port: {platform: kubernetes}
  name: {platform: kubernetes, endpoint: container-dns, client: container}
workloads: [A]
load: {threads: [32], duration: 4s}
"""


def read(text: str) -> Study:
    return read_study(text, "study.yaml", OFFER)


def problem(old: str, new: str) -> Problem:
    assert old in TEXT
    with pytest.raises(StudyError) as raised:
        read(TEXT.replace(old, new))
    (found,) = raised.value.problems
    return found


def test_the_hosts_bring_their_kubernetes_with_them() -> None:
    study = read(TEXT)
    assert study.substrate["kubernetes"].kind == "nodes"
    assert OFFER.substrate("kubernetes", study.substrate)[1].theirs
    assert (study.testbed.context, study.testbed.nodes, study.testbed.image) == ("mine", {}, None)
    named = "context: mine, image: busy, labels: {a: b}, nodes: {db: [n1, n2], client: [n3]}"
    spec = read(TEXT.replace("context: mine", named)).testbed
    assert spec.nodes == {"db": ("n1", "n2"), "client": ("n3",)}
    assert (spec.image, spec.labels) == ("busy", {"a": "b"})


def test_soft_interrupts_of_hosts_that_are_machines_cannot_be_charged() -> None:
    found = problem("workloads: [A]", "workloads: [A]\nsampler: {soft_interrupts: true}")
    assert "a testbed of the kind `nodes` cannot charge soft interrupts" in found.what
    assert found.hint == "remove `soft_interrupts`"


def test_a_question_about_them_is_refused_there_and_not_told_to_have_them_sampled() -> None:
    asked = "questions: {Q: {baseline: port, against: [name], metric: soft.database}}"
    found = problem("workloads: [A]", f"workloads: [A]\n{asked}")
    assert "`soft.database` is not measured here" in found.what
    assert "the testbed `namespace`" in found.hint


def test_what_is_malformed_is_left_to_others() -> None:
    malformed: tuple[Any, ...] = (
        None,
        [],
        {"testbed": "nodes"},
        {"testbed": {"kind": 7}},
        {"testbed": {"kind": "mist"}},
        {"testbed": {"kind": "namespace"}},
        {"testbed": {"kind": "nodes"}, "substrate": 3},
    )
    for data in malformed:
        assert with_brought(data, OFFER) == data
    told = with_brought({"testbed": {"kind": "nodes"}, "substrate": {"kubernetes": 3}}, OFFER)
    assert told["substrate"] == {"kubernetes": 3}


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        (", context: mine", "", 3, "need a context of your kubeconfig"),
        ("context: mine", "context: mine, memory: 1GiB", 3, "`memory` cannot be chosen"),
        ("context: mine", "context: mine, cores: shared", 3, "`cores` cannot be chosen"),
        ("context: mine", "context: mine, steer: false", 3, "`steer` cannot be chosen"),
        ("context: mine", "context: mine, nodes: {db: [n1]}", 3, "has 2 hosts, and 1 nodes are"),
        ("context: mine", "context: mine, nodes: {bd: [n1]}", 3, "unknown group of hosts `bd`"),
        (
            "context: mine",
            "context: mine, nodes: {db: [n1, n1]}",
            3,
            "named more than once: `n1`",
        ),
        (', image: "redis:7.0"', "", 4, "none is named that they can pull"),
        ("  port: {platform: kubernetes}", "  port: {platform: native}", 6, "cannot run on"),
        (
            "duration: 4s}",
            "duration: 4s}\nsubstrate: {docker: {}}",
            10,
            "no `docker` is made on hosts that are someone else's",
        ),
        (
            "duration: 4s}",
            "duration: 4s}\nsubstrate: {kubernetes: {kind: own}}",
            10,
            "nodes of a `kubernetes` already",
        ),
    ],
)
def test_what_cannot_be_done_with_someone_elses_hosts_is_told(
    old: str, new: str, line: int, what: str
) -> None:
    found = problem(old, new)
    assert (found.line, what in found.what) == (line, True), found
    assert found.hint


def test_someone_elses_hosts_take_no_turns() -> None:
    text = TEXT.replace("duration: 4s}", "turns: 200ms, duration: 4s}\nsampler: {rate: 20Hz}")
    with pytest.raises(StudyError) as raised:
        read(text.replace(", endpoint: container-dns, client: container", ""))
    (found,) = raised.value.problems
    assert (found.line, found.hint) == (9, "remove `turns`")
    assert "someone else's cannot be held still" in found.what


def test_an_image_may_be_each_deployments_own() -> None:
    text = TEXT.replace(', image: "redis:7.0"', "")
    own = "database: {image: 'redis:7.0'}"
    text = text.replace("{platform: kubernetes}", f"{{platform: kubernetes, {own}}}")
    study = read(text.replace("client: container}", f"client: container, {own}}}"))
    assert study.database.image is None


def test_keys_of_nodes_are_refused_for_hosts_that_are_made_here() -> None:
    lab = TEXT.replace("kind: nodes", "kind: namespace")
    with pytest.raises(StudyError) as raised:
        read(lab)
    (found,) = raised.value.problems
    assert "`context` is for hosts that are nodes of a Kubernetes" in found.what
    assert found.hint == "write `kind: nodes`, or remove `context`"
    with pytest.raises(StudyError) as raised:
        read(
            lab.replace(", context: mine", "") + "substrate: {kubernetes: {kind: nodes}}\n",
        )
    (found,) = raised.value.problems
    assert "part of no `kubernetes` of the kind `nodes`" in found.what
