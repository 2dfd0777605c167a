"""Studies on nodes of a lab's Kubernetes, and what of them is in the cluster and on the nodes."""

from __future__ import annotations

import json
import os
import re
import signal
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from kubernetes_lab import Lab, traces
from lab_traces import eventually
from lightkube.resources.core_v1 import Node
from study_process import StudyProcess, answered, started

from dunnage.clusters.nodes import why_unready
from dunnage.errors import NoResultError
from dunnage.hosts.nodes.manifests import ON_NODES
from dunnage.hosts.nodes.planned import TESTBED
from dunnage.hosts.nodes.testbed import PREFIX
from dunnage.kubernetes_api import connect, session
from dunnage.store.events import RUN_BEGINS
from dunnage.store.read import Result

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

NETWORK = "platform: kubernetes, network: flannel-vxlan"


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


def carried_out(study: tuple[str, Path], place: Path) -> Result:
    """The result of a study that is started, ends by itself, and has a record of every run."""
    name, path = study
    with started(name, place, str(path), "--results", str(place)) as running:
        return finished(running)


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


def begun(running: StudyProcess) -> bool:
    """Whether a run goes on."""
    try:
        events = running.result().events()
    except NoResultError:  # not yet
        return False
    return any(event["event"] == RUN_BEGINS for event in events)


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
