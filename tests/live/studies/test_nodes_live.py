"""Studies whose hosts are nodes of someone else's Kubernetes: a lab's, by its kubeconfig."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes_lab import Lab, allowed, give_image, kubeconfig_of, opened, traces
from lab_traces import eventually
from lightkube.resources.core_v1 import Node, Pod
from orchestrated import insist_the_load_did_not_care
from study_process import StudyProcess, answered, started

from dunnage import catalog
from dunnage.clusters.nodes import why_unready
from dunnage.clusters.rights import OF_EVERY_STUDY, OF_EXPLANATIONS, OF_VOLUMES
from dunnage.errors import NoResultError
from dunnage.hosts.nodes.manifests import ON_NODES
from dunnage.hosts.nodes.planned import TESTBED
from dunnage.hosts.nodes.testbed import PREFIX
from dunnage.kubernetes_api import connect, session
from dunnage.model.check import Status, Why
from dunnage.opened import open_at
from dunnage.store.events import RUN_BEGINS, STAY_FAILED
from dunnage.store.read import Result
from dunnage.wording.checks import failed

pytestmark = [pytest.mark.live, pytest.mark.kubernetes, pytest.mark.timeout(600)]

IMAGE = "somebody/redis:1"
CONTEXT = "dunnage"
USER = "measurer"
RESTRICTED = "labels: {pod-security.kubernetes.io/enforce: restricted}"
STUDY = """
dunnage: 1
name: {name}
testbed: {{kind: nodes, context: dunnage, hosts: {{db: 2, client: 1}}, {testbed}}}
database: {{kind: redis, topology: replicas, members: 2, image: "somebody/redis:1"}}
deployments:
  {deployments}
workloads: [A]
records: 500
load: {{threads: [4], warmup: 500ms, duration: {duration}}}
blocks: 1
deadline: 60s
patience: 0s
questions:
  cost: {{baseline: {baseline}, against: [service]}}
"""
NO_TOOL = "`iptables` failed"
NETWORK = "platform: kubernetes, network: flannel-vxlan"
PORT = f"port: {{{NETWORK}, endpoint: host-port}}"
SERVICE = f"service: {{{NETWORK}, endpoint: service-ip}}"
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


def written(
    place: Path, *deployments: str, testbed: str = "", duration: str = "2s"
) -> tuple[str, Path]:
    """A study under a name of its own."""
    name, path = f"nodes-{uuid.uuid4().hex[:8]}", place / "study.yaml"
    baseline = deployments[0].partition(":")[0]
    path.write_text(
        STUDY.format(
            name=name,
            testbed=testbed,
            deployments="\n  ".join(deployments),
            baseline=baseline,
            duration=duration,
        )
    )
    return name, path


def finished(running: StudyProcess) -> Result:
    """The result of a study that ended by itself, with a record of every run."""
    assert running.wait() in (0, 5), running.said
    result = running.result()
    assert result.finished() == {run.id for run in result.plan.runs()}, running.said
    return result


def insist_nothing_left(lab: Lab) -> None:
    """Neither in the cluster nor on its nodes."""
    assert traces(lab) == []
    assert eventually(lambda: agents() == []), agents()
    assert directories(lab) == []


def directories(lab: Lab) -> list[Path]:
    """Of agents, on all nodes, as the container runtimes of these see them."""
    roots = [each / "root" for each in programs(lab, "containerd")]
    assert len(roots) == len((*lab.members, lab.client))
    return [found for root in roots for found in (root / ON_NODES[1:]).glob("*/*")]


def programs(lab: Lab, name: str) -> list[Path]:
    """Processes of a lab's cluster that are called so."""
    return [
        each
        for each in Path("/proc").glob("[0-9]*")
        if (argv := command(each))
        and Path(argv[0]).name == name
        and f"/{lab.testbed.name}/" in group(each)
    ]


def agents() -> list[str]:
    """Command lines of agents, and of what names a directory of theirs."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            said = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if PREFIX in said:
            found.append(said)
    return found


@pytest.mark.proof
def test_a_study_on_nodes_with_rights_sees_its_members_and_leaves_nothing(
    lab: Lab, tmp_path: Path
) -> None:
    name, path = written(tmp_path, PORT, SERVICE)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        result = finished(running)
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
def test_clients_in_pods_drive_load_from_a_node_with_rights(lab: Lab, tmp_path: Path) -> None:
    name, path = written(tmp_path, DNS, POD)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        result = finished(running)
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
    insist_nothing_left(lab)


def insist_planned(lab: Lab, path: Path) -> None:
    """Every pod of a study that has no rights is as `dunnage plan --restricted` shows it."""
    with session(lab.kubernetes.api) as asked:
        pods = asked.get("/api/v1/pods").json()["items"]
    ours = {
        (each["metadata"]["namespace"], each["metadata"]["name"]): each["spec"]
        for each in pods
        if each["metadata"]["namespace"].startswith("dunnage-")
    }
    spaces = {space for space, _ in ours}
    (testbed,) = (each for each in spaces if each.startswith(PREFIX))
    (stay,) = spaces - {testbed}
    kind, _, drawn = stay.rpartition("-")
    shown = json.dumps(answered("plan", str(path), "--manifests", "--restricted"))
    for stands, real in ((TESTBED, testbed), ("00000000", drawn), ("node-of-", "")):
        shown = shown.replace(stands, real)
    agents, *stays = json.loads(shown)
    (own,) = (each for each in stays if kind.endswith(each["deployment"]))
    made = [one for one in (*agents["objects"], *own["objects"]) if one["host"]]
    assert len(made) == len(ours)
    for one in made:
        planned = one["object"]
        name, space = planned["metadata"]["name"], planned["metadata"]["namespace"]
        there: dict[str, Any] = {"spec": ours.pop((space, name), None)}
        if planned["kind"] == "StatefulSet":
            there = {"spec": {"template": {"spec": ours.pop((space, f"{name}-0"))}}}
            planned = {"spec": {"template": {"spec": planned["spec"]["template"]["spec"]}}}
        unknown = {".".join(map(str, each["at"])) for each in one["unknown"]}
        wanted = {"spec": planned["spec"]}
        found = [each for each in lacking(wanted, there) if each[0].strip(".") not in unknown]
        assert [each for each in found if "tolerations" not in each[0]] == [], name


def lacking(wanted: Any, there: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where something is not as it is wanted, and both; a cluster adds what nobody asked for, such
    as tolerations, and leaves out what is false."""
    if isinstance(wanted, dict) and isinstance(there, dict):
        for key, value in wanted.items():
            yield from lacking(value, there.get(key), f"{where}.{key}")
    elif isinstance(wanted, list) and isinstance(there, list) and len(wanted) == len(there):
        for number, value in enumerate(wanted):
            yield from lacking(value, there[number], f"{where}.{number}")
    elif (wanted or None) != (there or None):
        yield where, wanted, there


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


def begun(running: StudyProcess) -> bool:
    """Whether a run goes on."""
    try:
        events = running.result().events()
    except NoResultError:  # not yet
        return False
    return any(event["event"] == RUN_BEGINS for event in events)


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


@contextmanager
def without_kubelet(lab: Lab, host: str) -> Iterator[None]:
    """While it lasts, a node has no kubelet, as nothing restarts it."""
    (kubelet,) = (each for each in programs(lab, "kubelet") if f"/{host}/" in group(each))
    status = (kubelet / "status").read_text()
    (restarting,) = re.findall(r"^PPid:\s+(\d+)$", status, re.MULTILINE)
    os.kill(int(restarting), signal.SIGSTOP)
    try:
        os.kill(int(kubelet.name), signal.SIGKILL)
        yield
    finally:
        os.kill(int(restarting), signal.SIGCONT)


def is_ready(lab: Lab, host: str) -> bool:
    with closing(connect(lab.kubernetes.api)) as client:
        return not why_unready(client.get(Node, host))


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
    assert "db-1: the host no longer answers" in str(failed["why"])
    assert [each["host"] for each in events if each["event"] == "host restored"] == ["db-1"]
    hurt = next(str(event["stay"]) for event in events if event["event"] == RUN_BEGINS)
    assert hurt not in {record.stay for record in result.records}
    insist_nothing_left(lab)


def group(process: Path) -> str:
    """The control groups of a process; none of one that has just ended."""
    try:
        return (process / "cgroup").read_text()
    except OSError:
        return ""


def command(process: Path) -> list[str]:
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


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
