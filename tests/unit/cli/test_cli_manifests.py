"""`dunnage plan --manifests`: every object in a Kubernetes, as `kubectl` takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Command
from ruamel.yaml import YAML

from dunnage.software import engine

STUDIES = Path(__file__).parents[3] / "studies"
STUDY = STUDIES / "kubernetes.yaml"
OF_KUBERNETES = {"lightkube", "httpx2", "cryptography"}


@pytest.fixture(autouse=True)
def nothing_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No software was made here yet, and the engine is not built."""
    monkeypatch.setenv("DUNNAGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv(engine.VARIABLE, str(tmp_path / "nowhere"))


def documents(text: str, version: str) -> list[dict[str, Any]]:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = version
    return [each for each in yaml.load_all(text) if each is not None]


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_every_deployment_on_kubernetes_is_written_as_yaml_that_anyone_reads(
    dunnage: Command, version: str
) -> None:
    told = dunnage("plan", STUDY, "--format", "json", "--manifests")
    shown = dunnage("plan", STUDY, "--manifests")
    assert (told.code, shown.code) == (0, 0)
    answer = json.loads(told.out)
    assert [each["deployment"] for each in answer] == [
        "host-port",
        "node-port",
        "service-ip",
        "host-port-inside",
        "container-dns",
    ]
    expected = [each["object"] for one in answer for each in one["objects"]]
    assert documents(shown.out, version) == expected
    assert [each["kind"] for each in expected].count("StatefulSet") == 15
    assert "not on Kubernetes: native" in shown.err


def test_what_is_not_known_yet_is_marked_where_it_stands(dunnage: Command) -> None:
    shown = dunnage("plan", STUDY, "--manifests", "--only", "node-port").out
    head, *_ = shown.partition("---")
    assert head.splitlines()[0].startswith("# Deployment node-port: what its stay b")
    assert [line.split()[1] for line in head.splitlines()[1:]] == ["00000000", "LAB", "HASH"]
    ports = [line for line in shown.splitlines() if "containerPort" in line]
    why = "# unknown yet: the cluster chooses it when the services are there"
    assert len(ports) == 3
    assert all(line.endswith(why) for line in ports)
    assert "# put on db-1 before: image dunnage/redis:7.0-HASH\n" in shown
    assert "unknown yet" not in dunnage("plan", STUDY, "--manifests", "--only", "host-port").out


def test_a_clients_pod_comes_last_with_an_engine_that_is_not_built(dunnage: Command) -> None:
    shown = dunnage("plan", STUDY, "--manifests", "--only", "container-dns")
    last = documents(shown.out, "1.2")[-1]
    assert (last["kind"], last["metadata"]["name"]) == ("Pod", "client-client-1")
    assert last["spec"]["containers"][0]["image"] == "dunnage/engine:HASH"


def test_a_study_without_kubernetes_has_no_objects(dunnage: Command) -> None:
    for study, only in ((STUDIES / "quickstart.yaml", ()), (STUDY, ("--only", "native"))):
        refused = dunnage("plan", study, "--manifests", *only)
        assert refused.code == 2
        assert refused.out == ""
        assert "no deployment of this plan is on Kubernetes" in refused.err
        assert f"try: dunnage plan {study}" in refused.err


def test_one_answer_is_shown_at_a_time(dunnage: Command) -> None:
    refused = dunnage("plan", STUDY, "--manifests", "--runs")
    assert refused.code == 2
    assert "`--manifests` and `--runs` are two answers" in refused.err


STANDING = """
dunnage: 1
name: standing
testbed: {kind: namespace, hosts: {db: 1, client: 1}}
database:
  kind: redis
  topology: single
  image: https://me:hunter2@registry.example/redis:7
deployments:
  native: {platform: native}
  pods: {platform: kubernetes, network: bridge}
workloads: [A]
records: 100
load: {threads: [8], duration: 4s}
blocks: 6
questions:
  Q1: {baseline: native, against: [pods]}
"""


def test_secrets_are_not_shown(dunnage: Command, tmp_path: Path) -> None:
    study = tmp_path / "secret.yaml"
    study.write_text(STANDING)
    for words in ((), ("--format", "json")):
        shown = dunnage("plan", study, "--manifests", *words)
        assert shown.code == 0
        assert "registry.example/redis:7" in shown.out
        assert "hunter2" not in shown.out + shown.err


NODES = """
dunnage: 1
name: theirs
testbed:
  kind: nodes
  context: mine
  hosts: {db: 1, client: 1}
  nodes: {db: [worker-7]}
  labels: {team: t}
database: {kind: redis, topology: single, image: "redis:7.0"}
deployments:
  ports: {platform: kubernetes, network: bridge}
  names: {platform: kubernetes, network: bridge, endpoint: container-dns, client: container}
workloads: [A]
records: 100
load: {threads: [8], duration: 4s}
blocks: 6
questions:
  Q1: {baseline: ports, against: [names]}
"""


def test_on_nodes_that_are_named_their_addresses_only_are_not_known_yet(
    dunnage: Command, tmp_path: Path
) -> None:
    study = tmp_path / "nodes.yaml"
    study.write_text(NODES)
    shown = dunnage("plan", study, "--manifests")
    assert shown.code == 0, shown.err
    assert "# TESTBED stands for what the testbed is called in the cluster" in shown.out
    why = "# unknown yet: the cluster tells it of the node that is chosen"
    unknown = [line.strip() for line in shown.out.splitlines() if why in line]
    assert {line.split()[0] for line in unknown} == {"hostIP:", "-"}
    opened = "# unknown yet: it tells the process that opens the testbed"
    (owner,) = (line.strip() for line in shown.out.splitlines() if opened in line)
    assert owner.startswith("dunnage/owner: ")
    assert json.loads(spaces_of(shown.out)[0]["annotations"]["dunnage/owner"])["study"] == "theirs"
    assert "- worker-7\n" in shown.out
    spaces = spaces_of(shown.out)
    assert {each["labels"]["team"] for each in spaces} == {"t"}
    assert {each["labels"]["dunnage.testbed"] for each in spaces} == {"TESTBED"}
    pods = [each for each in documents(shown.out, "1.2") if each["kind"] == "Pod"]
    agents = [each for each in pods if each["metadata"]["namespace"] == "TESTBED"]
    assert [each["metadata"]["annotations"]["dunnage/host"] for each in agents] == [
        "db-1",
        "client-1",
    ]
    assert all(each["spec"]["hostPID"] for each in agents)
    (client,) = (each for each in pods if each not in agents)
    assert client["spec"]["containers"][0]["image"] == "redis:7.0"
    told = json.loads(dunnage("plan", study, "--manifests", "--format", "json").out)
    assert [each["deployment"] for each in told] == ["", "ports", "names"]
    assert [each["object"]["kind"] for each in told[0]["objects"]] == ["Namespace", "Pod", "Pod"]


def spaces_of(written: str) -> list[Any]:
    """What is told of each namespace."""
    found = (each for each in documents(written, "1.2") if each["kind"] == "Namespace")
    return [each["metadata"] for each in found]


def test_where_a_cluster_refuses_privileged_pods_no_object_has_anything_of_a_node(
    dunnage: Command, tmp_path: Path
) -> None:
    study = tmp_path / "nodes.yaml"
    study.write_text(NODES)
    words = ("plan", study, "--manifests", "--restricted")
    shown = dunnage(*words, "--only", "names")
    assert shown.code == 0, shown.err
    made = documents(shown.out, "1.2")
    agents = [each for each in made if each["metadata"].get("namespace") == "TESTBED"]
    assert [each["metadata"]["name"] for each in agents] == ["agent-1", "agent-2"]
    (member,) = (each for each in made if each["kind"] == "StatefulSet")
    (client,) = (each for each in made if each["kind"] == "Pod" and each not in agents)
    space = member["metadata"]["namespace"]
    assert (client["metadata"]["name"], client["metadata"]["namespace"]) == ("agent-2", space)
    stay = "dunnage.stay"
    assert client["metadata"]["labels"][stay] == member["metadata"]["labels"][stay]
    pod = member["spec"]["template"]["spec"]
    assert pod["initContainers"][0]["name"] == "carrier"
    for spec in (pod, client["spec"], *(each["spec"] for each in agents)):
        assert spec["securityContext"]["runAsNonRoot"]
        assert not spec.get("hostPID")
        assert all(set(volume) == {"name", "emptyDir"} for volume in spec["volumes"])
    assert "put on db-1" not in shown.out
    assert shown.out.count("# written into its pod before its member starts: file ") == 2
    refused = dunnage(*words)
    assert refused.code == 3
    assert "it needs ports of hosts" in refused.err


def test_restricted_objects_are_those_of_a_cluster_that_exists_already(dunnage: Command) -> None:
    unasked = dunnage("plan", STUDY, "--restricted")
    assert (unasked.code, "`--manifests` does not ask for them" in unasked.err) == (2, True)
    lab = dunnage("plan", STUDY, "--manifests", "--restricted")
    assert (lab.code, "is for one that exists" in lab.err) == (2, True)


def test_in_turns_a_deployment_has_hosts_of_its_own(dunnage: Command, tmp_path: Path) -> None:
    study = tmp_path / "turns.yaml"
    turns = STANDING.replace("duration: 4s}", "duration: 20s, turns: 200ms}\nsampler: {rate: 20Hz}")
    study.write_text(turns)
    told = json.loads(dunnage("plan", study, "--manifests", "--format", "json").out)
    plan = json.loads(dunnage("plan", study, "--format", "json").out)["plan"]
    stays = [stay for block in plan["blocks"] for stay in block["stays"]]
    first = next(stay for stay in stays if stay["deployment"] == "pods")
    hosts = {each["host"] for each in told[0]["objects"]} - {""}
    assert hosts == {f"{first['hosts']}-1"}


def test_it_is_shown_without_what_speaks_to_a_cluster() -> None:
    code = f"""
import sys
from dunnage.cli.command_line import main
sys.argv = ["dunnage", "plan", {str(STUDY)!r}, "--manifests", "--only", "service-ip"]
try:
    main(lambda: None, lambda: None)
finally:
    print(*sys.modules, file=sys.stderr)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "kind: StatefulSet" in ended.stdout
    loaded = set(ended.stderr.split())
    assert "dunnage.platforms.kubernetes.foreseen" in loaded
    assert not loaded & OF_KUBERNETES
