"""A real study on a real Kubernetes, and some that are hurt: a host, and control programs."""

from __future__ import annotations

import base64
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from orchestrated import (
    NATIVE,
    finished,
    finished_though_cut,
    insist_charged_and_inside,
    insist_nothing_else_spoilt,
    insist_the_load_did_not_care,
    written,
)
from study_process import driven, in_a_run, insist_nothing_left, started, under_way

from dunnage.findings.parity.compare import compare
from dunnage.findings.parity.factors import declared
from dunnage.model.choices import ClientKind
from dunnage.model.parity import Cause
from dunnage.model.study import CONTROL_GROUP
from dunnage.store.read import Result
from dunnage.substrates.kubernetes.control_plane import API, ETCD, SCHEDULER, UNITS
from dunnage.substrates.kubernetes.node import CONTAINERD, KUBELET, PROXY
from dunnage.wording.checks import failed

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

POD_NETWORK = "platform: kubernetes, network: flannel-vxlan"
HOST_PORT = f"port: {{{POD_NETWORK}, endpoint: host-port}}"
SERVICE_IP = f"service: {{{POD_NETWORK}, endpoint: service-ip}}"
NODE_PORT = f"node: {{{POD_NETWORK}, endpoint: node-port}}"
CONTAINER_DNS = f"dns: {{{POD_NETWORK}, endpoint: container-dns, client: container}}"
FIRST_NODE_PORT = 30000
"""Of those that a Kubernetes gives unless it is told others."""
KEYS = (b"PRIVATE KEY", b"client-key-data", base64.b64encode(b"-----BEGIN ")[:-2])


@pytest.mark.proof
def test_a_study_runs_inside_and_outside_of_pods_and_records_the_way_to_every_member(
    tmp_path: Path,
) -> None:
    every = (NATIVE, SERVICE_IP, NODE_PORT, CONTAINER_DNS)
    name, path = written("kubernetes", tmp_path, "2s", *every)
    with started(name, tmp_path, str(path), "--results", str(tmp_path)) as running:
        lab = running.until(running.lab)
        result = finished(running)
    insist_charged_and_inside(result)
    stays = {stay.deployment: stay for stay in result.stays}
    assert stays["native"].substrates == {"kubernetes": "frozen"}
    assert set(stays["native"].rules) == {"db-1", "db-2", "client-1"}
    assert all(stays["native"].rules.values()), "kube-proxy's rules stay while it is frozen"
    kinds = {name: each.client for name, each in stays.items()}
    assert kinds == {
        "native": ClientKind.PROCESS,
        "service": ClientKind.PROCESS,
        "node": ClientKind.PROCESS,
        "dns": ClientKind.IN_NETWORK,
    }
    for deployment in ("service", "node", "dns"):
        assert stays[deployment].substrates == {"kubernetes": "awake"}
        assert stays[deployment].network["encapsulation"] == "vxlan"
        assert set(stays[deployment].late) == {"redis-1", "redis-2"}
        declares = declared(result.plan.deployment("native"), result.plan.deployment(deployment))
        differences = compare(stays["native"], stays[deployment], declares)
        assert {each.cause for each in differences} <= {Cause.FACTOR, Cause.INHERENT}
    assert set(stays["dns"].names) == {"redis-1", "redis-2"}
    native, node = (stays[name].ports for name in ("native", "node"))
    assert [native[member]["redis"].bind for member in native] == [6379, 6380]
    assert all(numbers["redis"].contact >= FIRST_NODE_PORT for numbers in node.values())
    insist_programs_are_charged_where_they_ran(result)
    insist_no_key_is_told(result)
    insist_nothing_left(name, {lab})


def insist_programs_are_charged_where_they_ran(result: Result) -> None:
    """In each run on the Kubernetes it is known what its programs used, on their own hosts; those
    that never rest used some."""
    inside = [record for record in result.records if record.deployment != "native"]
    assert inside
    for record in inside:
        for host in record.usage:
            programs = UNITS if host.group == CONTROL_GROUP else (CONTAINERD, KUBELET, PROXY)
            used = {program: host.units[program].cpu for program in programs}
            busy = {API, ETCD, KUBELET} & used.keys()
            assert None not in used.values(), (record.run, host.host, used)
            assert busy
            assert all(used[program] for program in busy), (record.run, host.host, used)


def insist_no_key_is_told(result: Result) -> None:
    """No file of a result has a key of the cluster in it, as it is or as base64."""
    files = [path for path in result.layout.root.rglob("*") if path.is_file()]
    assert files
    for path in files:
        found = [word for word in KEYS if word in path.read_bytes()]
        assert not found, (path, found)


@pytest.mark.proof
def test_a_host_that_is_cut_during_a_run_is_restored_and_is_a_node_again(tmp_path: Path) -> None:
    name, path = written("kubernetes", tmp_path, "4s", HOST_PORT)
    result, _ = finished_though_cut(name, path)
    insist_charged_and_inside(result)


@pytest.mark.proof
@pytest.mark.quiet
def test_the_data_path_does_not_care_for_the_api_server(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """It stands still for a part of a run, in which as many operations are answered, and none
    fails."""
    name, path = written("kubernetes", tmp_path, "9s", SERVICE_IP)
    with under_way(name, path, driven) as running:
        server = running.until(partial(running.program, API))
        time.sleep(2.0)
        since = time.time()
        os.kill(server, signal.SIGSTOP)
        time.sleep(3.0)
        os.kill(server, signal.SIGCONT)
        until = time.time()
        result = finished(running)
    insist_charged_and_inside(result)
    (record,) = result.records
    record_property("seen", insist_the_load_did_not_care(record, since, until))
    record_property("seen", f"{record.status} {failed(record.checks)}".strip())
    insist_nothing_else_spoilt(record)
    assert "stay failed" not in {str(event["event"]) for event in result.events()}


@pytest.mark.proof
@pytest.mark.quiet
@pytest.mark.parametrize("program", [API, ETCD, SCHEDULER, CONTAINERD, KUBELET])
def test_a_run_goes_on_though_a_control_program_is_killed_and_comes_back(
    tmp_path: Path, record_property: Callable[[str, object], None], program: str
) -> None:
    """It is restarted while the run goes on, which the record tells; the stay after it is made with
    it."""
    name, path = written("kubernetes", tmp_path, "18s", HOST_PORT, SERVICE_IP)
    with under_way(name, path, driven) as running:
        killed = running.until(partial(running.program, program))
        time.sleep(2.0)
        since = time.time()
        os.kill(killed, signal.SIGKILL)
        running.until(lambda: (running.program(program) or killed) != killed)
        until = time.time()
        running.until(lambda: in_a_run(running))
        assert not running.result().finished(), f"a run had ended before {program} came back"
        result = finished(running)
    insist_charged_and_inside(result)
    assert {record.deployment for record in result.records} == {"port", "service"}
    for record in result.records:
        why = failed(record.checks)
        record_property("seen", f"{record.deployment}: {record.status} {why}".strip())
        assert record.measurement is not None
        assert not any(record.measurement.operations["all"].errors.values()), record.run
    hurt, whole = sorted(result.records, key=lambda record: record.started)
    record_property("seen", insist_the_load_did_not_care(hurt, since, until))
    (restart,) = hurt.restarts or ()
    assert (restart.program, restart.code) == (program, -signal.SIGKILL)
    assert hurt.started <= restart.time <= hurt.ended
    assert whole.restarts == ()
    events = list(result.events())
    assert "stay failed" not in {str(event["event"]) for event in events}
    (noted,) = (event for event in events if event["event"] == "programs restarted")
    assert noted["stay"] == hurt.stay
    for record in result.records:
        insist_nothing_else_spoilt(record)
