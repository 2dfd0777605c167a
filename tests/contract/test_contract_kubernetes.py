"""What a Kubernetes of ours must be: every host but control's a node, and nobody a stranger."""

from __future__ import annotations

import shlex
import ssl
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from cases import SubstrateCase, lose_and_mend, unique
from lab_traces import eventually
from lightkube.resources.core_v1 import Node
from real_cases import CONTROLLED, kubernetes

from dunnage.contracts.host import Host
from dunnage.contracts.kubernetes import ContainerRuntime, HasKubernetes
from dunnage.contracts.substrate import TellsRestarts
from dunnage.kubernetes_api import Refused, connect, told
from dunnage.model.study import CONTROL_GROUP
from dunnage.platforms.kubernetes.network import before_pods
from dunnage.substrates.kubernetes.control_plane import API, CONTROLLERS, SCHEDULER
from dunnage.substrates.kubernetes.node import CONTAINERD, KUBELET
from dunnage.substrates.kubernetes.on_control import FORWARDER
from dunnage.substrates.kubernetes.own import OwnKubernetes

if TYPE_CHECKING:  # at run time pytest would take it for a class of tests
    from dunnage.contracts.testbed import Testbed

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

OWN = SubstrateCase(CONTROLLED, kubernetes)
KERNEL = ("vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops")
"""What a kubelet would set, of this machine."""


KILL_CHILDREN = r"""
found=
for parent in "$@"; do
    for each in $(grep -l "^PPid:[[:space:]]$parent\$" /proc/[0-9]*/status 2> /dev/null); do
        each=${each%/status}
        found="$found ${each#/proc/}"
    done
done
exec kill -KILL $found
"""


def kill(own: OwnKubernetes, host: Host, *units: str) -> None:
    """Kill programs, all at once, and not what restarts them."""
    parents = [str(own._running[host.name].pid(unit)) for unit in units]
    assert host.run(["sh", "-c", KILL_CHILDREN, "sh", *parents]).code == 0


def programs(own: OwnKubernetes, host: Host) -> list[tuple[str, int]]:
    """What was restarted on a host, and how it had ended."""
    return [(each.program, each.code) for each in own.restarts()[host.name]]


def are_restarted(own: OwnKubernetes, host: Host, wanted: list[tuple[str, int]]) -> bool:
    return programs(own, host) == wanted


def answers(own: OwnKubernetes, node: str) -> bool:
    """Whether a node's kubelet says, by way of the API server, that it is well."""
    try:
        return told(own.api, f"/api/v1/nodes/{node}/proxy/healthz") == "ok"
    except Refused:
        return False


def settings() -> Mapping[str, str]:
    return {name: (Path("/proc/sys") / name).read_text() for name in KERNEL}


@pytest.fixture(scope="module")
def laid() -> Iterator[tuple[Testbed, OwnKubernetes]]:
    before = settings()
    with CONTROLLED.open(unique()) as testbed, kubernetes(testbed) as opened:
        assert settings() == before
        yield testbed, opened


def nodes(kubernetes: HasKubernetes) -> Mapping[str, Mapping[str, str]]:
    """Node → type of condition or of address → what is said of it."""
    with closing(connect(kubernetes.api)) as client:
        found = {}
        for node in client.list(Node):
            assert node.metadata is not None
            assert node.status is not None
            conditions = {each.type: each.status for each in node.status.conditions or ()}
            addresses = {each.type: each.address for each in node.status.addresses or ()}
            found[str(node.metadata.name)] = {**conditions, **addresses}
        return found


_STRANGER = """
import http.client, ssl, sys
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
address, path, scheme = sys.argv[1:]
asked = http.client.HTTPConnection(address, timeout=10)
if scheme == "https":
    asked = http.client.HTTPSConnection(address, timeout=10, context=context)
try:
    asked.request("GET", path)
    print(asked.getresponse().status)
except (ssl.SSLError, ConnectionResetError, http.client.RemoteDisconnected):
    print("refused")
"""


def told_to_a_stranger(host: Host, address: str, path: str, scheme: str = "https") -> str:
    """The status that a server gives who has no certificate, or `refused`."""
    python = str(Path(sys.executable).resolve())  # a host has a `/tmp` of its own
    return host.run([python, "-c", _STRANGER, address, path, scheme]).stdout.strip()


def listening(host: Host) -> Mapping[str, frozenset[str]]:
    """Program → the addresses where it takes connections, as the host's kernel tells."""
    found: dict[str, set[str]] = {}
    for line in host.run(["ss", "-H", "-ltnp"]).stdout.splitlines():
        _, _, _, address, _, users = line.split(maxsplit=5)
        found.setdefault(users.partition('"')[2].partition('"')[0], set()).add(address)
    return {program: frozenset(addresses) for program, addresses in found.items()}


class TestKubernetes:
    def test_every_host_but_controls_is_a_ready_node_by_its_own_name_and_address(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        known = dict(nodes(own))
        for host in testbed.hosts:
            if host.group == CONTROL_GROUP:
                with pytest.raises(KeyError):
                    own.node(host.name)
                continue
            told_of = known.pop(own.node(host.name))
            assert (told_of["Ready"], told_of["InternalIP"]) == ("True", host.address)
        assert known == {}
        with pytest.raises(KeyError):
            own.node("nowhere")

    def test_its_programs_are_in_units_of_their_hosts(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        for host in testbed.hosts:
            first = "etcd" if host.group == CONTROL_GROUP else "kubelet"
            assert first in own.units(host.name)
        assert own.units("nowhere") == ()

    def test_it_tells_what_is_in_force(self, laid: tuple[Testbed, OwnKubernetes]) -> None:
        testbed, own = laid
        facts = own.facts()
        assert facts["nodes"] == len(testbed.hosts) - 1
        assert facts["kubelet_version"] == "v1.34.4"
        assert (facts["pod_range"], facts["service_range"]) == ("10.67.0.0/16", "10.68.0.0/16")

    def test_each_node_tells_what_leads_services_to_pods(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        for host in testbed.hosts:
            if host.group != CONTROL_GROUP:
                runtime = own.runtime(host.name)
                found = before_pods(host, runtime.environment)
                assert found["proxy"] == "iptables"
                assert int(found["translations"]) > 0

    def test_each_node_has_a_containerd_that_can_be_asked(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        host = testbed.group("db")[0]
        runtime = own.runtime(host.name)
        assert isinstance(runtime, ContainerRuntime)
        words = [f"{name}={value}" for name, value in runtime.environment.items()]
        listed = host.run(["env", *words, *runtime.ctr, "-n", "k8s.io", "images", "list", "-q"])
        assert "docker.io/dunnage/pause:1" in listed.stdout.split()
        with pytest.raises(KeyError):
            own.runtime(testbed.group(CONTROL_GROUP)[0].name)

    def test_nobody_is_served_without_a_certificate(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        _, own = laid
        assert told(own.api, "/readyz") == "ok"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        transport = httpx2.HTTPTransport(uds=own.api.socket, verify=context)
        with httpx2.Client(transport=transport, base_url="https://stranger") as stranger:
            assert stranger.get("/readyz").status_code == httpx2.codes.UNAUTHORIZED
            assert stranger.get("/api/v1/nodes").status_code == httpx2.codes.UNAUTHORIZED

    def test_no_kubelet_and_no_etcd_serves_anybody_without_a_certificate(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        for host in testbed.hosts:
            if host.group == CONTROL_GROUP:
                assert told_to_a_stranger(host, "127.0.0.1:2379", "/version") == "refused"
            else:
                address = f"{host.address}:10250"
                assert told_to_a_stranger(host, address, "/pods") == "401"
                assert told_to_a_stranger(host, address, "/healthz") == "401"
        assert KUBELET in own.units(testbed.group("db")[0].name)

    def test_nothing_listens_on_a_node_but_what_is_known_to_and_streams_are_by_tls(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, _ = laid
        for host in testbed.hosts:
            if host.group == CONTROL_GROUP:
                continue
            there = dict(listening(host))
            assert there.pop("kubelet") == {f"{host.address}:10250"}
            assert there.pop("kube-proxy") == {"127.0.0.1:10249", "127.0.0.1:10256"}
            (streams,) = there.pop("containerd")
            assert there == {}
            assert streams.startswith("127.0.0.1:")
            stream = f"/exec/{'0' * 8}"
            assert told_to_a_stranger(host, streams, stream) == "404", "nobody has that word"
            assert told_to_a_stranger(host, streams, stream, "http") == "400", "it speaks TLS only"

    def test_keys_are_for_root_alone(self, laid: tuple[Testbed, OwnKubernetes]) -> None:
        """Wherever they are below a Kubernetes' directory, into which nobody else can look."""
        testbed, own = laid
        for host in testbed.hosts:
            directory = f"{host.scratch}/kubernetes"
            assert host.run(["stat", "-c", "%U %a", directory]).stdout == "root 700\n"
            keys = shlex.quote("BEGIN [A-Z ]*PRIVATE KEY-----|client-key-data")
            holding = f"grep -rlE {keys} {directory} | xargs stat -c '%a %n'"
            modes = dict(
                line.split(maxsplit=1)[::-1]
                for line in host.run(["sh", "-c", holding]).stdout.splitlines()
            )
            known: tuple[str, ...]
            if host.group == CONTROL_GROUP:
                known = ("api.key", "etcd.key", "tokens.key", "admin.kubeconfig")
            else:
                known = ("kubelet.key", "streams.key", "kubelet.kubeconfig")
            assert {f"{directory}/{name}" for name in known} <= modes.keys()
            assert set(modes.values()) == {"600"}, modes
            assert own.units(host.name)

    def test_once_frozen_and_awake_again_it_is_what_it_was(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        own.freeze()
        own.freeze([testbed.hosts[0].name])
        own.wake()
        assert {each["Ready"] for each in nodes(own).values()} == {"True"}

    @pytest.mark.proof
    def test_each_of_its_programs_is_restarted_when_it_is_killed_and_that_is_told(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        assert isinstance(own, TellsRestarts)
        own.wake()
        for host in (*testbed.group(CONTROL_GROUP), testbed.group("db")[0]):
            for unit in own.units(host.name):
                before = programs(own, host)
                kill(own, host, unit)
                if unit != FORWARDER:  # it is restarted all the same: all questions go by it
                    restarted = partial(are_restarted, own, host, [*before, (unit, -9)])
                    assert eventually(restarted), unit
                own.wake()
        assert {each["Ready"] for each in nodes(own).values()} == {"True"}

    def test_programs_that_need_each_other_come_back_when_they_are_killed_at_once(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        (control,), node = testbed.group(CONTROL_GROUP), testbed.group("db")[0]
        own.wake()
        before = programs(own, control), programs(own, node)
        kill(own, control, API, CONTROLLERS, SCHEDULER)
        kill(own, node, CONTAINERD, KUBELET)
        own.wake()
        assert eventually(partial(answers, own, own.node(node.name)), 30.0, 0.5)
        assert {each["Ready"] for each in nodes(own).values()} == {"True"}
        since = programs(own, control)[len(before[0]) :], programs(own, node)[len(before[1]) :]
        assert {(API, -9), (CONTROLLERS, -9), (SCHEDULER, -9)} <= set(since[0])
        assert {(CONTAINERD, -9), (KUBELET, -9)} <= set(since[1])

    def test_a_restored_host_is_the_node_that_it_was(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        own.freeze()
        lose_and_mend(OWN, testbed, own, "db-1")
        assert nodes(own)["db-1"]["Ready"] == "True"
        own.mend("db-1")  # nothing is to be done any more

    @pytest.mark.proof
    def test_it_is_formed_anew_where_its_control_host_was_lost(
        self, laid: tuple[Testbed, OwnKubernetes]
    ) -> None:
        testbed, own = laid
        (control,) = testbed.group(CONTROL_GROUP)
        lose_and_mend(OWN, testbed, own, "db-3", control.name)
        assert {each["Ready"] for each in nodes(own).values()} == {"True"}
