"""Endpoints, networks and their options: what goes together, and what it is called."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dunnage import catalog
from dunnage.errors import StudyError
from dunnage.model.cni import label
from dunnage.model.deployment import Deployment
from dunnage.study.matrix import deployments
from dunnage.study.read import read_stored_study, read_study

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
        ("platform: native, endpoint: floating-ip", "Host_FloatingIPHostPort"),
        (
            "platform: docker, endpoint: floating-ip, client: container",
            "HostDockerBridgeFloatingIPHostPort",
        ),
        ("platform: swarm, endpoint: floating-ip", "HostSwarmFloatingIPHostPort"),
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


PODS = "platform: kubernetes, network: bridge"
TWO = STUDY.replace("tested: {{{keys}}}", "first: {{{first}}}\n  second: {{{second}}}")


def told(text: str) -> tuple[int | None, str, str]:
    with pytest.raises(StudyError) as raised:
        read_study(text, "study.yaml", catalog.OFFER)
    (problem,) = raised.value.problems
    return problem.line, problem.what, problem.hint


@pytest.mark.parametrize(
    ("options", "what", "hint"),
    [
        ("proxy: userspace", "network `bridge` has no proxy `userspace`", "`nftables`, `ipvs`"),
        ("proxy: true", "network `bridge` has no proxy `True`", "`iptables`, `nftables`"),
        ("proxy: {a: b}", "network `bridge` has no proxy that is a mapping", "`iptables`"),
        ("mtu: 1400", "unknown option of this network `mtu`", "known: `proxy`"),
    ],
)
def test_what_a_network_of_pods_has_not_is_told_when_a_study_is_read(
    options: str, what: str, hint: str
) -> None:
    line, said, advice = told(STUDY.format(keys=f"{PODS}, network_options: {{{options}}}"))
    assert (line, said) == (7, what)
    assert hint in advice


@pytest.mark.parametrize(
    ("second", "wants"),
    [
        ("platform: kubernetes, network: flannel-vxlan", "`network: flannel-vxlan`"),
        (f"{PODS}, network_options: {{proxy: nftables}}", "`proxy: nftables`"),
    ],
)
def test_a_second_network_of_pods_is_told_when_a_study_is_read(second: str, wants: str) -> None:
    line, what, hint = told(TWO.format(first=PODS, second=second))
    assert line == 8
    assert "`network: bridge`, `proxy: iptables`, and not" in what
    assert wants in what.partition("and not")[2]
    assert "studies of their own" in hint


def test_networks_that_ask_for_the_same_one_or_for_none_go_together() -> None:
    same = f"{PODS}, network_options: {{proxy: iptables}}"
    for second in (same, "platform: kubernetes, network: host", "platform: swarm"):
        study = read_study(TWO.format(first=PODS, second=second), "study.yaml", catalog.OFFER)
        assert len(deployments(study, catalog.OFFER)) == 2


def test_a_second_network_is_told_once_where_factors_name_it() -> None:
    factors = "factors: {network: [bridge, flannel-vxlan], client: [host, container]}\n"
    line, what, _ = told(STUDY.format(keys="platform: kubernetes") + factors)
    assert (line, "and not `network: flannel-vxlan`" in what) == (10, True)


def test_a_result_of_one_of_two_networks_is_still_read() -> None:
    second = "platform: kubernetes, network: flannel-vxlan"
    text = TWO.format(first=PODS, second=second)
    assert read_stored_study(text, "study.yaml", catalog.OFFER).name == "networks"


OWN = """
dunnage: 1
name: own-network
testbed: {{kind: namespace, hosts: {{db: 3, client: 1}}}}
database: {{kind: redis, topology: replicas, members: 3}}
deployments:
  tested:
    platform: kubernetes
    network: cni
    endpoint: {endpoint}
    network_options:
      proxy: nftables
      configuration:
        cniVersion: 1.0.0
        name: mine
        plugins:
          - {{type: {plugin}, ipam: {{type: host-local, subnet: $SUBNET}}}}
          - {more}
workloads: [A]
load: {{threads: [8], duration: 2s}}
"""
PORTS = "{type: portmap, capabilities: {portMappings: true}}"
PLUGINS = [
    {"type": "ptp", "ipam": {"type": "host-local", "subnet": "$SUBNET"}},
    {"type": "portmap", "capabilities": {"portMappings": True}},
]
"""Those of `own`."""
TUNED = "{type: tuning}"


def own(endpoint: str = "host-port", plugin: str = "ptp", more: str = PORTS) -> str:
    return OWN.format(endpoint=endpoint, plugin=plugin, more=more)


@pytest.mark.parametrize(
    ("endpoint", "plugin", "more"),
    [
        *((endpoint, "ptp", PORTS) for endpoint in ("host-port", "host-name", "floating-ip")),
        *((endpoint, "ptp", TUNED) for endpoint in ("node-port", "service-ip")),
        ("service-ip", "macvlan", TUNED),
    ],
)
def test_a_configuration_of_the_users_is_kept_as_it_is_written(
    endpoint: str, plugin: str, more: str
) -> None:
    study = read_study(own(endpoint, plugin, more), "study.yaml", catalog.OFFER)
    (found,) = deployments(study, catalog.OFFER)
    assert found.network_options["proxy"] == "nftables"
    configuration: Any = found.network_options["configuration"]
    ipam = {"type": "host-local", "subnet": "$SUBNET"}
    assert configuration["plugins"][0] == {"type": plugin, "ipam": ipam}
    again = Deployment.model_validate_json(found.model_dump_json())
    assert again.network_options == found.network_options


@pytest.mark.parametrize(
    ("text", "line", "what", "hint"),
    [
        (own(more=TUNED), 10, "endpoint `host-port` needs a plugin that publishes", "portmap"),
        (own("node-port", "macvlan"), 10, "endpoint `node-port` goes by the", "service-ip"),
        (own("floating-ip", "ipvlan"), 10, "endpoint `floating-ip` goes by the", "service-ip"),
        (own(more="{kind: tuning}"), 18, "plugin number 2 has no `type`", "type: ptp"),
        (own().replace("$SUBNET", "$SUBNT"), 17, "`subnet` has a `$` that begins no", "`$SUBNET`"),
        (own().replace("1.0.0", "1.0"), 14, "`cniVersion` must be text, not `1.0`", '"1.0.0"'),
        (own().replace("        name: mine\n", ""), 13, "`name` is missing", "`name: mine`"),
        (own().replace("mine", "[mine]"), 15, "`name` must be text, not a list", "`name: mine`"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_told_with_its_line(
    text: str, line: int, what: str, hint: str
) -> None:
    at, said, advice = told(text)
    assert (at, said[: len(what)]) == (line, what)
    assert hint in advice


@pytest.mark.parametrize("written", ["GEHEIM$", "$GEHEIM", "[GEHEIM$]", "1GEHEIM$ 2", "!GEHEIM 1"])
def test_a_secret_in_a_configuration_is_never_told(written: str) -> None:
    text = own("service-ip", more=f"{{type: mine, token: {written}}}")
    with pytest.raises(StudyError) as refused:
        read_study(text, "study.yaml", catalog.OFFER)
    (problem,) = refused.value.problems
    assert problem.line == 18
    assert "GEHEIM" not in f"{problem.what} {problem.hint}"


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ("{}", "network `cni` needs the option `configuration`"),
        ("{configuration: mine}", "a CNI configuration must be a mapping, not text"),
        ("{configuration: [mine]}", "`configuration` must be text, a number or a mapping, not a"),
    ],
)
def test_the_network_of_a_configuration_needs_one(options: str, what: str) -> None:
    keys = f"platform: kubernetes, network: cni, network_options: {options}"
    line, said, _ = told(STUDY.format(keys=keys))
    assert (line, said[: len(what)]) == (7, what)


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        (f"{PODS}, network_options: {{configuration: {{}}}}", "unknown option of this network"),
        ("platform: swarm, network_options: {a: {b: c}}", "option `a` of network `overlay` must"),
    ],
)
def test_a_configuration_on_another_network_is_told(keys: str, what: str) -> None:
    line, said, _ = told(STUDY.format(keys=keys))
    assert (line, said[: len(what)]) == (7, what)


def test_two_configurations_are_two_networks() -> None:
    second = own().split("  tested:\n")[1].split("workloads:")[0].replace("mine", "yours")
    text = own().replace("workloads:", f"  second:\n{second}workloads:")
    line, what, hint = told(text)
    assert line == 25
    one, other = (
        label({"cniVersion": "1.0.0", "name": name, "plugins": PLUGINS})
        for name in ("mine", "yours")
    )
    assert f"`network: cni`, `proxy: nftables`, `configuration: {one}`, and not" in what
    assert f"`configuration: {other}` too" in what
    assert "studies of their own" in hint


def test_two_configurations_of_one_name_are_told_apart() -> None:
    second = own().split("  tested:\n")[1].split("workloads:")[0].replace("$SUBNET", "$PODS")
    _, what, _ = told(own().replace("workloads:", f"  second:\n{second}workloads:"))
    one, other = re.findall(r"`configuration: mine \([0-9a-f]{8}\)`", what)
    assert one != other


OURS = "substrate: {kubernetes: {kind: own}}\n"


def on_nodes(text: str) -> str:
    """The same study on nodes of someone else's."""
    named = text.replace("members: 3}", "members: 3, image: 'redis:7.0'}")
    return named.replace("kind: namespace", "kind: nodes, context: mine")


def test_a_kubernetes_that_exists_already_is_given_no_configuration() -> None:
    line, what, hint = told(on_nodes(own()))
    made = "network `cni` is made for the study, and this Kubernetes exists already"
    assert (line, what) == (9, made)
    assert hint.startswith("name the network that it has; known: `flannel-vxlan`")
    assert "`cni`" not in hint
    for text in (own() + OURS, on_nodes(STUDY.format(keys=PODS))):
        assert read_study(text, "study.yaml", catalog.OFFER).substrate


EXISTING = "platform: kubernetes, network: existing, endpoint: service-ip"


def test_any_network_of_a_kubernetes_that_exists_already_can_be_named_as_what_it_is() -> None:
    study = read_study(on_nodes(STUDY.format(keys=EXISTING)), "study.yaml", catalog.OFFER)
    (tested,) = deployments(study, catalog.OFFER)
    assert tested.title.endswith("K8ServiceIP_existing")


def test_a_kubernetes_that_is_made_for_the_study_has_no_network_already() -> None:
    line, what, hint = told(STUDY.format(keys=EXISTING))
    there = "is what a Kubernetes has that exists already, and this one is made for the study"
    assert (line, what) == (7, f"network `existing` {there}")
    assert hint.startswith("known: `flannel-vxlan`") and "`existing`" not in hint
