"""What deployments are called whose network nobody could read back."""

from __future__ import annotations

import pytest

from dunnage import catalog
from dunnage.findings.study.found import as_found
from dunnage.findings.study.sentences import subjects
from dunnage.model.plan import Plan
from dunnage.model.record import StayRecord
from dunnage.study.matrix import deployments
from dunnage.study.read import read_study

STUDY = """\
dunnage: 1
name: theirs
testbed: {kind: nodes, context: mine, image: busy, hosts: {db: 1, client: 1}}
database: {kind: redis, topology: single, image: 'redis:7.0'}
deployments:
  routed: {platform: kubernetes, network: flannel-host-gw, endpoint: service-ip}
  ports: {platform: kubernetes, network: flannel-host-gw, endpoint: node-port}
  led: {platform: kubernetes, network: flannel-host-gw, endpoint: service-ip, client: container}
workloads: [A]
load: {threads: [1], duration: 2s}
"""
PLAN = Plan(
    study="theirs",
    seed=1,
    deployments=tuple(deployments(read_study(STUDY, "theirs.yaml", catalog.OFFER), catalog.OFFER)),
    blocks=(),
)


def stay(deployment: str, unread: str) -> StayRecord:
    return StayRecord(
        stay=deployment,
        block=1,
        deployment=deployment,
        started=0.0,
        ready=1.0,
        stages={},
        facts={},
        processes=(),
        endpoint=(),
        network={"unread": unread} if unread else {"driver": "bridge"},
    )


def test_a_deployment_whose_network_nobody_read_is_not_called_by_what_was_asked_for() -> None:
    stays = [
        stay("routed", "encapsulation, proxy: no rights"),
        stay("ports", "driver: no rights"),
        stay("led", "proxy: no rights"),
    ]
    found = as_found(PLAN, stays)
    titles = {each.name: each.title for each in found.deployments}
    before = {each.name: each.title for each in PLAN.deployments}
    assert before["routed"].endswith("ServiceIP_flannel-host-gw")
    assert titles["routed"] == before["routed"].replace("flannel-host-gw", "unknown")
    assert titles["ports"].endswith("NodePort_unknown")
    assert titles["led"] == before["led"], "how services are led to pods is no part of it"
    assert subjects(found)["led"] == ("Kubernetes with the routes of flannel's host-gw network")
    phrases = [each.parts.network for each in found.deployments]
    assert phrases[:2] == ["on a network that is not known"] * 2
    assert [each.network for each in found.deployments] == [
        each.network for each in PLAN.deployments
    ]


@pytest.mark.parametrize("unread", ["", "proxy: this host has no iptables"])
def test_a_network_that_was_read_is_called_by_its_name(unread: str) -> None:
    assert as_found(PLAN, [stay(each.name, unread) for each in PLAN.deployments]) == PLAN
