"""Studies whose hosts are nodes of someone else's Kubernetes: a lab's, by its kubeconfig."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kubernetes_lab import Lab, allowed, give_image, kubeconfig_of, opened, traces
from lab_traces import eventually
from lightkube.resources.core_v1 import Pod
from nodes_studies import (
    NETWORK,
    begun,
    carried_out,
    command,
    directories,
    finished,
    insist_nothing_left,
    insist_planned,
    is_ready,
    programs,
    without_kubelet,
    written,
)
from orchestrated import insist_the_load_did_not_care
from study_process import answered, started

from dunnage import catalog
from dunnage.clusters.rights import OF_EVERY_STUDY, OF_EXPLANATIONS, OF_VOLUMES
from dunnage.hosts.nodes.testbed import PREFIX
from dunnage.kubernetes_api import connect
from dunnage.model.check import Status, Why
from dunnage.opened import open_at
from dunnage.store.events import RUN_BEGINS, STAY_FAILED
from dunnage.wording.checks import failed

pytestmark = [pytest.mark.live, pytest.mark.kubernetes, pytest.mark.timeout(600)]

IMAGE = "somebody/redis:1"

CONTEXT = "dunnage"

USER = "measurer"

RESTRICTED = "labels: {pod-security.kubernetes.io/enforce: restricted}"

NO_TOOL = "`iptables` failed"

PORT = f"port: {{{NETWORK}, endpoint: host-port}}"

SERVICE = f"service: {{{NETWORK}, endpoint: service-ip}}"

EXISTING = "platform: kubernetes, network: existing"
POD = f"service: {{{NETWORK}, endpoint: service-ip, client: container}}"

DNS = f"dns: {{{NETWORK}, endpoint: container-dns, client: container}}"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with opened(members=2) as made:
        give_image(made, IMAGE, tmp_path_factory.mktemp("image"))
        yield made


@pytest.fixture(autouse=True)
def kubeconfig(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What somebody would be given who may do in the cluster what is asked for where no data lies
    on volumes, and no more."""
    control = lab.testbed.host(lab.kubernetes.control)
    url = f"https://127.0.0.1:{control.listen_outside(lab.kubernetes.address)}"
    file = tmp_path / "kubeconfig"
    file.touch(0o600)
    file.write_bytes(kubeconfig_of(lab, USER, url))
    monkeypatch.setenv("KUBECONFIG", str(file))
    with allowed(lab, USER, OF_EVERY_STUDY, file):
        yield file


@pytest.mark.proof
def test_a_study_on_nodes_with_rights_sees_its_members_and_leaves_nothing(
    lab: Lab, tmp_path: Path
) -> None:
    result = carried_out(written(tmp_path, PORT, SERVICE), tmp_path)
    facts = json.loads(result.layout.environment.read_text())
    assert facts["hosts.privileged"] is True
    assert facts["hosts.one_machine"] is True  # all nodes of a lab are
    assert facts["node"] == "db-1: db-1, db-2: db-2, client-1: client-1"
    assert facts["kubernetes.ours"] is False
    assert "sha256:" in facts["hosts.image"]
    assert facts["cpu.count"]
    stays = {stay.deployment: stay for stay in result.stays}
    assert stays.keys() == {"port", "service"}
    for stay in stays.values():
        assert {each.member for each in stay.processes} == {"redis-1", "redis-2"}
        assert stay.unseen == ()
        assert stay.network["encapsulation"] == "vxlan"
        assert {way.member for way in stay.paths} == {"redis-1", "redis-2"}
        assert all(way.hops for way in stay.paths)
        # The lab's own tools, which are elsewhere, are nothing that someone else's nodes have.
        assert all(not way.unknown or NO_TOOL in way.unknown for way in stay.paths)
        assert stay.control
    for record in result.records:
        gates = {check.check: check for check in record.checks}
        assert gates["connections"].status is Status.VALID
        assert Why.UNSEEN not in {check.why for check in record.checks}
        assert Status.UNKNOWN not in {check.status for check in record.checks}, record.checks
        used = {host.host: host for host in record.usage}
        assert used["db-1"].units["redis-1"].cpu
        assert used["client-1"].units["generator"].cpu
        assert used["client-1"].units["sampler"].cpu is not None
        assert used["db-1"].whole.received
        pods = used["db-1"].units["pods"].cpu
        assert pods is not None
        assert pods >= used["db-1"].units["redis-1"].cpu
    insist_nothing_left(lab)


@pytest.mark.proof
def test_a_network_that_is_only_called_existing_is_read_back(lab: Lab, tmp_path: Path) -> None:
    port, service = (each.replace(NETWORK, EXISTING) for each in (PORT, SERVICE))
    result = carried_out(written(tmp_path, port, service), tmp_path)
    assert result.plan.deployment("service").title.endswith("K8ServiceIP_existing")
    assert {stay.deployment for stay in result.stays} == {"port", "service"}
    for stay in result.stays:
        assert stay.network["plugin"] == "flannel, vxlan"
        assert (stay.network["driver"], stay.network["encapsulation"]) == ("bridge", "vxlan")
    insist_nothing_left(lab)


@pytest.mark.proof
def test_clients_in_pods_drive_load_from_a_node_with_rights(lab: Lab, tmp_path: Path) -> None:
    result = carried_out(written(tmp_path, DNS, POD), tmp_path)
    for stay in result.stays:
        assert all(way.hops for way in stay.paths)
        assert stay.processes
    for record in result.records:
        gates = {check.check: check for check in record.checks}
        assert gates["connections"].status is Status.VALID
    insist_nothing_left(lab)


@pytest.mark.proof
def test_a_study_on_nodes_without_rights_has_throughput_and_says_what_it_does_not_see(
    lab: Lab, tmp_path: Path
) -> None:
    """Pod Security is enforced by a label that the study gives to its namespaces."""
    name, path = written(tmp_path, DNS, POD, testbed=RESTRICTED)
    with started(name, tmp_path, str(path), "--results", str(tmp_path), "--format", "json") as now:
        now.until(lambda: begun(now))
        insist_planned(lab, path)
        result = finished(now)
    why = 'the cluster takes no privileged pods: pods "agent-1" is forbidden: violates PodSecurity'
    facts = json.loads(result.layout.environment.read_text())
    assert facts["hosts.privileged"] is False
    for stay in result.stays:
        assert stay.processes == ()
        assert {each.member for each in stay.unseen} == {"redis-1", "redis-2"}
        assert all(each.reason.startswith(why) for each in stay.unseen)
        assert stay.facts
        assert all(why in way.unknown for way in stay.paths)
        assert stay.network["driver"].startswith(f"unknown: {why}")
        told = "flannel, vxlan or none"
        assert stay.network["encapsulation"] == f"unknown: {told}", "its node tells of a tunnel"
        assert stay.network["unread"].startswith(f"encapsulation, proxy: {told} and {why}")
    for record in result.records:
        unseen = {check.check for check in record.checks if check.why is Why.UNSEEN}
        assert {"swap", "steal", "samples", "other load", "throttled"} <= unseen
        others = {check.status for check in record.checks if check.why is not Why.UNSEEN}
        assert Status.UNKNOWN not in others, record.checks
        gates = {check.check: check for check in record.checks}
        assert gates["connections"].status is Status.VALID
        assert all(host.unseen for host in record.usage)
    analysis = open_at(result.layout.root).analysis
    for run in analysis.runs:
        assert run.values["throughput"] > 0
        assert why in run.absent["cpu.database"]
        assert "cpu.client" in run.values  # the engine knows what it used itself
    assert "violates PodSecurity" in now.said
    page = (result.layout.report / "index.html").read_text()
    assert "violates PodSecurity" in page
    assert "The network of dns and service is not known (encapsulation, proxy: " in page
    insist_nothing_left(lab)


@pytest.mark.proof
def test_a_network_that_the_cluster_has_not_is_refused_where_a_study_has_no_rights(
    lab: Lab, tmp_path: Path
) -> None:
    """Nobody may look at the nodes, but flannel tells of its tunnel there."""
    routed = [each.replace("flannel-vxlan", "flannel-host-gw") for each in (DNS, POD)]
    name, path = written(tmp_path, *routed, testbed=RESTRICTED)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as now:
        assert now.wait() == 4
        result = now.result()
    asked = "the plugin of its network should be `flannel, host-gw` and is `flannel, vxlan` on db-1"
    assert asked in " ".join(now.said.split())
    assert result.stays == ()
    insist_nothing_left(lab)


@pytest.mark.proof
def test_what_the_cluster_told_of_a_stay_that_failed_is_kept_and_named(
    lab: Lab, tmp_path: Path
) -> None:
    """No node has so much memory."""
    full = [each.replace("}", ", limits: {memory: 4096GiB}}") for each in (DNS, POD)]
    name, path = written(tmp_path, *full, testbed=RESTRICTED)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as now:
        assert now.wait() == 4
        result = now.result()
    kept = sorted(result.layout.stays.glob("*/account.txt"))
    assert len(kept) == 4, "two deployments, each tried twice"
    for each in kept:
        told = each.read_text()
        assert "pod redis-1-0 on no node: Pending" in told
        assert "PodScheduled is False: Unschedulable: " in told
    assert any(f"less {each}" in "".join(now.said.split("\n")) for each in kept)
    insist_nothing_left(lab)


@pytest.mark.proof
def test_what_only_a_node_has_is_refused_where_a_study_has_no_rights(
    lab: Lab, tmp_path: Path
) -> None:
    name, path = written(tmp_path, PORT, SERVICE, testbed=RESTRICTED)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        assert running.wait() == 3, running.said
    said = " ".join(running.said.split())
    assert "a client on its host (write `client: container`)" in said
    insist_nothing_left(lab)


@pytest.mark.proof
@pytest.mark.parametrize("cleaned", [True, False])
def test_kill_9_leaves_what_clean_removes_and_resume_goes_on(
    lab: Lab, tmp_path: Path, cleaned: bool
) -> None:
    name, path = written(tmp_path, PORT, SERVICE, duration="6s")
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        running.until(lambda: begun(running))
        running.kill()
    left = answered("clean", "--context", CONTEXT)
    (testbed,) = left["testbeds"]
    assert set(testbed["agents"].values()) == {"Running"}
    assert testbed["study"] == name
    assert [each["testbed"] for each in left["stays"]] == [testbed["testbed"]]
    assert traces(lab)
    if cleaned:
        answer = answered("clean", "--context", CONTEXT, "--yes")
        assert [each["testbed"] for each in answer["removed"]["testbeds"]] == [testbed["testbed"]]
        assert (answer["left"]["stays"], answer["left"]["testbeds"]) == ([], [])
        insist_nothing_left(lab)
    before = running.result().finished()
    with started(name, tmp_path, "--resume", str(tmp_path / name)) as resumed:
        result = finished(resumed)
    assert before <= result.finished()
    insist_nothing_left(lab)


@pytest.mark.proof
def test_what_agents_left_that_were_killed_is_removed_by_the_next_ones(
    lab: Lab, tmp_path: Path
) -> None:
    """As when their nodes lose power: nothing on a node can remove it then."""
    name, path = written(tmp_path, PORT, SERVICE, duration="6s")
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        running.until(lambda: begun(running))
        running.kill()
    for process in Path("/proc").glob("[0-9]*"):
        argv = command(process)
        if argv[1:2] == ["agent"] and any(PREFIX in word for word in argv):
            os.kill(int(process.name), signal.SIGKILL)
    answered("clean", "--context", CONTEXT, "--yes")
    assert traces(lab) == []
    assert directories(lab)
    with started(name, tmp_path, "--resume", str(tmp_path / name)) as resumed:
        finished(resumed)
    insist_nothing_left(lab)


@pytest.mark.proof
def test_a_host_whose_agent_is_gone_gets_a_new_one_and_the_study_goes_on(
    lab: Lab, tmp_path: Path
) -> None:
    name, path = written(tmp_path, PORT, SERVICE, duration="4s")
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        running.until(lambda: begun(running))
        with closing(connect(lab.kubernetes.api)) as client:
            (space,) = (each for each in traces(lab) if each.startswith(PREFIX))
            client.delete(Pod, "agent-1", namespace=space, grace_period=0)
        result = finished(running)
    events = [(str(event["event"]), event.get("host")) for event in result.events()]
    assert ("host restored", "db-1") in events
    last = [record for record in result.records if record.usage][-1]
    used = {host.host: host for host in last.usage}
    assert used["db-1"].units["agent"].cpu  # the new one's, in another control group
    assert used["db-1"].units["redis-1"].cpu
    insist_nothing_left(lab)


@pytest.mark.proof
@pytest.mark.quiet
def test_a_run_goes_on_while_the_api_server_is_killed_and_comes_back(
    lab: Lab, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """All streams break with it, and are opened again. No operation fails meanwhile."""
    name, path = written(tmp_path, PORT, SERVICE, duration="14s")
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        running.until(lambda: begun(running))
        time.sleep(4.0)
        (server,) = programs(lab, "kube-apiserver")
        since = time.time()
        os.kill(int(server.name), signal.SIGKILL)
        running.until(lambda: [each for each in programs(lab, "kube-apiserver") if each != server])
        until = time.time()
        result = finished(running)
    hurt = min(result.records, key=lambda record: record.started)
    assert hurt.started <= since and until <= hurt.ended
    record_property("seen", insist_the_load_did_not_care(hurt, since, until))
    for record in result.records:
        record_property("seen", f"{record.deployment}: {record.status} {failed(record.checks)}")
    assert "stay failed" not in {str(event["event"]) for event in result.events()}
    insist_nothing_left(lab)


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_a_node_that_is_not_ready_during_a_run_is_waited_for_and_nothing_is_lost(
    lab: Lab, tmp_path: Path
) -> None:
    """Its members live on, and nobody can ask it for anything."""
    name, path = written(tmp_path, PORT, SERVICE, duration="8s")
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        running.until(lambda: begun(running))
        with without_kubelet(lab, "db-1"):
            said = "waiting for node `db-1` of `db-1`, at most 10 min"
            running.until(lambda: said in " ".join(running.said.split()))
            assert eventually(lambda: not is_ready(lab, "db-1"), seconds=120.0, every=1.0)
        result = finished(running)
    events = list(result.events())
    (failed,) = (event for event in events if event["event"] == STAY_FAILED)
    assert failed["attempt"] == 1
    lost = r"db-1: the (host no longer answers|connection to its agent broke)"
    assert re.search(lost, str(failed["why"]))
    assert [each["host"] for each in events if each["event"] == "host restored"] == ["db-1"]
    hurt = next(str(event["stay"]) for event in events if event["event"] == RUN_BEGINS)
    assert hurt not in {record.stay for record in result.records}
    insist_nothing_left(lab)


@pytest.mark.proof
def test_doctor_and_clean_tell_of_a_cluster_that_nothing_is_in(lab: Lab) -> None:
    told = answered("doctor", "--context", CONTEXT)
    assert told["missing"] == list(map(str, (*OF_VOLUMES, *OF_EXPLANATIONS)))
    purposes = {each["purpose"] for each in told["rights"] if not each["held"]}
    assert purposes == {"`storage: volume`", "telling why a pod does not start"}
    left = answered("clean", "--context", CONTEXT)
    assert (left["stays"], left["testbeds"]) == ([], [])
    assert "persistentvolumes is forbidden" in left["volumes_unread"]
    assert catalog.clean_cluster(CONTEXT)[0].testbeds == ()
