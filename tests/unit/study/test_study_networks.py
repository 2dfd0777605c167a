"""Endpoints, networks and their options: what goes together, and what it is called."""

from __future__ import annotations

import pytest

from dunnage import catalog
from dunnage.errors import StudyError
from dunnage.model.deployment import Deployment
from dunnage.study.matrix import deployments
from dunnage.study.read import read_study

STUDY = """
dunnage: 1
name: networks
testbed: {{kind: namespace, hosts: {{db: 3, client: 1}}}}
database: {{kind: redis, topology: replicas, members: 3}}
deployments:
  tested: {{{keys}}}
workloads: [A]
load: {{threads: [8], duration: 2s}}
"""


def resolved(keys: str) -> Deployment:
    study = read_study(STUDY.format(keys=keys), "study.yaml", catalog.OFFER)
    return deployments(study, catalog.OFFER)[0]


@pytest.mark.parametrize(
    ("keys", "title"),
    [
        ("platform: native", "Host_HostPort"),
        ("platform: native, endpoint: host-name", "Host_HostNameHostPort"),
        ("platform: docker, endpoint: host-name", "HostDockerBridgeHostNameHostPort"),
        ("platform: swarm", "HostSwarmHostPort"),
        ("platform: swarm, endpoint: host-name", "HostSwarmHostNameHostPort"),
        ("platform: swarm, network: host", "HostSwarmHostNetworkHostPort"),
        (
            "platform: swarm, endpoint: container-dns, client: container",
            "HostSwarmContainerDNSName_overlay",
        ),
        (
            "platform: swarm, endpoint: service-ip, client: container",
            "HostSwarmServiceIP_overlay",
        ),
        ("platform: swarm, endpoint: node-port", "HostSwarmNodePort_overlay"),
    ],
)
def test_a_deployment_is_called_as_the_grammar_of_endpoints_says(keys: str, title: str) -> None:
    assert resolved(keys).title == title


@pytest.mark.parametrize(
    ("keys", "what", "hint"),
    [
        (
            "platform: swarm, endpoint: container-dns",
            "endpoint `container-dns` cannot be reached from a host",
            "write `client: container`",
        ),
        (
            "platform: docker, endpoint: host-name, client: container",
            "endpoint `host-name` cannot be reached from a container",
            "write `client: host`",
        ),
        (
            "platform: docker, network: bridge, network_options: {mtu: 1400}",
            "network `bridge` of platform `docker` is not made for a deployment",
            "networks that take options: `user-defined`",
        ),
        (
            "platform: native, network_options: {mtu: 1400}",
            "network `host` of platform `native` is not made for a deployment",
            "remove `network_options`",
        ),
    ],
)
def test_what_does_not_go_together_is_told_with_what_to_write(
    keys: str, what: str, hint: str
) -> None:
    with pytest.raises(StudyError) as raised:
        resolved(keys)
    (problem,) = raised.value.problems
    assert problem.what.startswith(what)
    assert problem.hint.startswith(hint)
    assert problem.line == 7


def test_options_of_a_network_are_kept_as_they_are_written() -> None:
    keys = "platform: swarm, network_options: {driver: weave, com.docker.network.driver.mtu: 1400}"
    options = {"driver": "weave", "com.docker.network.driver.mtu": 1400}
    assert resolved(keys).network_options == options
