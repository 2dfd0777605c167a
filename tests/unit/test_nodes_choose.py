"""Which node of a cluster each host is, and what its agent's pod is made of."""

from __future__ import annotations

from typing import Any

import pytest
from restricted import insist_restricted
from stand_in_cluster import node

from dunnage.clusters.nodes import name
from dunnage.errors import UnavailableError
from dunnage.hosts.nodes.choose import chosen, insist_on_architecture, one_machine
from dunnage.hosts.nodes.groups import groups, shared
from dunnage.hosts.nodes.manifests import Agent, agent_pod, namespace
from dunnage.hosts.nodes.planned import (
    hostname_of_node,
    labels_of_nodes,
    named_node,
    planned_nodes,
)
from dunnage.model.study import TestbedSpec

SPEC = TestbedSpec(kind="nodes", hosts={"db": 2, "client": 1}, context="mine")


def labelled(named: str, group: str, boot: str = "", address: str = "10.0.0.1") -> Any:
    made = node(named, f"id-{named}", boot or f"boot-{named}", address)
    made.metadata.labels = {"dunnage/group": group}
    return made


LABELLED = (labelled("n3", "db"), labelled("n1", "db"), labelled("n2", "db"))
CLIENT = labelled("n4", "client")


def asking(words: str) -> str:
    return f"kubectl --context mine {words}"


def told(spec: TestbedSpec, *nodes: Any) -> str:
    with pytest.raises(UnavailableError) as raised:
        chosen(spec, nodes, asking)
    hint = raised.value.hint
    assert "kubectl" in hint
    assert hint.count("kubectl") == hint.count("kubectl --context mine"), "each in that cluster"
    return str(raised.value)


def test_labels_say_which_nodes_are_hosts_in_the_order_of_their_names() -> None:
    found = chosen(SPEC, (*LABELLED, CLIENT, node("n0", "x")), asking)
    assert {host: name(each) for host, each in found.items()} == {
        "db-1": "n1",
        "db-2": "n2",
        "client-1": "n4",
    }


def test_a_study_may_name_its_nodes_in_its_own_order() -> None:
    spec = SPEC.model_copy(update={"nodes": {"db": ("n3", "n4")}})
    found = chosen(spec, (*LABELLED, labelled("n4", "db"), labelled("n5", "client")), asking)
    assert [name(each) for each in found.values()] == ["n3", "n4", "n5"]
    assert "the cluster has no node `n4`" in told(spec, *LABELLED)


def test_too_few_nodes_are_told_with_what_is_wrong_with_the_others() -> None:
    late = labelled("n2", "db")
    late.status.conditions[0].status = "False"
    late.status.conditions[0].message = "no network plugin"
    nowhere = labelled("n5", "db", address="")
    found = told(SPEC, LABELLED[1], late, nowhere, CLIENT)
    assert "group `db` needs 2 nodes, and 1 with the label `dunnage/group=db` can be used" in found
    assert "n2: it is not ready: no network plugin; n5: it tells no IPv4 address" in found
    spec = SPEC.model_copy(update={"nodes": {"db": ("n1", "n2")}})
    assert told(spec, LABELLED[1], late, CLIENT).startswith("db-2: its node `n2` cannot be used")


def test_a_node_is_one_host_only() -> None:
    spec = SPEC.model_copy(update={"nodes": {"client": ("n1",)}})
    assert "node `n1` cannot be two hosts" in told(spec, *LABELLED)


def test_nodes_that_share_a_start_of_their_kernel_are_one_machine() -> None:
    alone = dict(zip("abc", LABELLED, strict=True))
    assert not one_machine(alone)
    assert not one_machine({"a": node("x", "i", ""), "b": node("y", "i", "")})
    shared = {each: labelled(each, "db", "same") for each in "abc"}
    assert one_machine(shared)
    with pytest.raises(UnavailableError, match="nodes a, b share a machine, and others do not"):
        one_machine({**shared, "c": labelled("c", "db")})


def test_a_node_of_another_architecture_is_refused() -> None:
    arm = node("n1", "x", architecture="arm64")
    arm.status.nodeInfo.architecture = "arm64"
    insist_on_architecture({"a": arm, "b": LABELLED[0]}, "aarch64")
    with pytest.raises(UnavailableError, match="`n1` is arm64, and the engine was built for amd64"):
        insist_on_architecture({"a": arm}, "x86_64")


@pytest.mark.parametrize(
    ("first", "agent", "found"),
    [
        ("0::/init.scope\n", "0::/kubepods.slice/p/c\n", ("/", "/kubepods.slice/p/c")),
        (
            "3:memory:/dunnage/lab/db-1/init\n1:cpu:/dunnage/lab/db-1/init\n",
            "3:memory:/dunnage/lab/db-1/pods/p/c\n1:cpu:/\n",
            ("/dunnage/lab/db-1", "/dunnage/lab/db-1/pods/p/c"),
        ),
    ],
)
def test_the_group_of_a_node_holds_its_first_process_and_its_agent(
    first: str, agent: str, found: tuple[str, str]
) -> None:
    assert groups(first, agent) == found


@pytest.mark.parametrize(
    ("agent", "pods"),
    [
        ("/kubepods.slice/kubepods-besteffort.slice/p/c", "/kubepods.slice"),
        ("/dunnage/lab/db-1/pods/kubepods/besteffort/p/c", "/dunnage/lab/db-1/pods/kubepods"),
        (
            "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/p/c",
            "/kubelet.slice/kubelet-kubepods.slice",
        ),
        ("/elsewhere/p/c", None),
    ],
)
def test_the_group_of_all_pods_is_known_by_its_name(agent: str, pods: str | None) -> None:
    assert shared(agent) == ({} if pods is None else {"agent": agent, "pods": pods})


def test_processes_without_a_common_hierarchy_are_told() -> None:
    with pytest.raises(ValueError, match="in no control group"):
        groups("1:cpu:/\n", "0::/\n")


# What is made in the cluster.


def agent(*, privileged: bool) -> Agent:
    return Agent("dunnage-nodes-1", "db-1", 3, "n1", "redis:7.0", privileged)


def test_an_agent_with_rights_is_on_its_node_and_one_without_in_its_pod() -> None:
    pod = agent_pod(agent(privileged=True), {"a": "b"})
    assert pod["metadata"]["name"] == "agent-3"
    assert pod["metadata"]["labels"] == {"a": "b", "app.kubernetes.io/managed-by": "dunnage"}
    spec = pod["spec"]
    assert (spec["hostPID"], spec["hostNetwork"]) == (True, True)
    (container,) = spec["containers"]
    assert container["securityContext"]["privileged"] is True
    assert container["args"][-1] == "--node"
    assert "/var/lib/dunnage/nodes/dunnage-nodes-1/db-1" in container["args"]
    assert spec["restartPolicy"] == "Never"
    bare = agent_pod(agent(privileged=False), {})["spec"]
    assert "--node" not in bare["containers"][0]["args"]
    assert "/dunnage/db-1" in bare["containers"][0]["args"]


def test_a_pod_without_rights_is_fit_for_the_strictest_standard() -> None:
    insist_restricted(agent_pod(agent(privileged=False), {})["spec"])


def test_the_namespace_has_the_labels_of_the_study_and_never_loses_our_own() -> None:
    asked = {"team": "t", "dunnage.testbed": "another"}
    made = namespace("dunnage-nodes-1", asked, {"dunnage/owner": "me"})["metadata"]
    assert made["labels"] == {
        "team": "t",
        "dunnage.testbed": "dunnage-nodes-1",
        "app.kubernetes.io/managed-by": "dunnage",
    }
    assert made["annotations"] == {"dunnage/owner": "me"}


def test_hosts_are_known_before_anything_is_asked() -> None:
    spec = SPEC.model_copy(update={"nodes": {"db": ("n3", "n4")}, "labels": {"team": "t"}})
    hosts = planned_nodes(spec)
    assert [host.name for host in hosts] == ["db-1", "db-2", "client-1"]
    assert len({host.address for host in hosts}) == 3
    assert hosts[0].engine.startswith(f"{hosts[0].scratch}/")
    assert [named_node(spec, host.name) for host in hosts] == ["n3", "n4", "node-of-client-1"]
    others = planned_nodes(spec, others=True)
    assert not {host.address for host in others} & {host.address for host in hosts}
    assert named_node(spec, "db-1", others=True) == "n3"
    assert named_node(spec, "client-1", others=True) != "node-of-client-1"
    assert hostname_of_node("db-1", others=True) != hostname_of_node("db-1")
    assert labels_of_nodes(spec) == {"team": "t", "dunnage.testbed": "TESTBED"}
