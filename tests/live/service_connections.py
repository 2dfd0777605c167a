"""How long it takes to connect to a service of a Kubernetes, beside any number of others."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kubernetes_lab import Lab, opened
from many_services import PORT, ManyServices
from paired_blocks import Blocks, Tell, measured, said
from proxy_rules import CHAINS, LANGUAGES, LISTED, Node, commented
from redis_round_trips import PROCESSOR

from dunnage.contracts.host import Host
from dunnage.model.layout import Address
from dunnage.model.proxy import ProxyMode
from dunnage.substrates.kubernetes.choices import Choices, Network

SIZES = (1, 100, 1000)
"""Services, one endpoint each. Above 1000 endpoints, some of which a Kubernetes has by itself,
kube-proxy writes chains of services without comments (`largeClusterEndpointsThreshold` of
its iptables proxier). The list of all services, which is tried rule by rule, stays as it is."""
AGAIN = "1 again"
"""One service a second time: what is seen where nothing differs."""
_LISTEN = 7000
_CONNECTIONS = 10_000
"""For one median, in about a second. That many ports are free from the program's first one on."""
_LIMIT = 120.0
_PROGRAM = Path(__file__).with_name("connection_times.py")


def beside_services(proxy: ProxyMode, blocks: int, tell: Tell) -> Blocks:
    """Microseconds to connect to the last service of a number of them, and to one once more; what
    was seen is recorded before the Kubernetes ends."""
    with opened(Choices(Network.BRIDGE, proxy), members=1, steer=False) as lab:
        (server,) = lab.members
        nodes = _node(lab, lab.client, proxy), _node(lab, server, proxy)
        tell("seen", f"{proxy}: rules by {nodes[0].version()}")
        services = ManyServices(lab.kubernetes.api, Address(server.address, _LISTEN))
        connecting: dict[str, Connecting] = {}
        for size in SIZES:
            services.grow(size)
            client, other = (each.programmed(services.addresses) for each in nodes)
            ours = frozenset(services.addresses)
            connecting[str(size)] = Connecting(lab, nodes, (client, other), ours)
            place = connecting[str(size)].place
            tell("seen", f"{proxy}, {size} of ours: to {place}{_form(proxy, client)}")
        connecting[AGAIN] = connecting[str(SIZES[0])]
        lab.kubernetes.freeze()
        measures = {name: each.microseconds for name, each in connecting.items()}
        seen = measured(measures, blocks, f"known answers: {proxy}")
        least, *more = connecting
        tell("seen", f"{proxy}: set-up with 1 service {said(seen.mean(least), '')}")
        for name in more:
            beyond = said(seen.beyond(name, least))
            tell("seen", f"{proxy}: {name} beyond 1, each time to the last of them {beyond}")
    return seen


@dataclass(frozen=True)
class Connecting:
    """From a client's node to a service that leads to another node, by rules that were in force."""

    lab: Lab
    nodes: tuple[Node, Node]
    """The client's and the server's."""
    rules: tuple[str, str]
    """Of each."""
    ours: frozenset[str]
    """Addresses of services that lead to the server."""

    @property
    def service(self) -> str:
        """The last of ours in the client's rules: where they are a list, both hosts try all."""
        client, _ = self._listed()
        return [each for each in client if each in self.ours][-1]

    @property
    def place(self) -> str:
        """Where that service stands among all that rules lead to."""
        client, server = self._listed()
        number = client.index(self.service) + 1
        first = f"number {number} of {len(client)} on the client's host"
        return f"{first}, of {len(server)} on the server's"

    def microseconds(self) -> float:
        """Median time to set up a connection."""
        for node, rules in zip(self.nodes, self.rules, strict=True):
            node.put(rules)
            assert sorted(node.services()) == sorted(node.language.services(rules))
            node.forget()
        client, server = (each.host for each in self.nodes)
        argv = (
            *(sys.executable, str(_PROGRAM), str(PROCESSOR), str(_CONNECTIONS)),
            *(self._network(host) for host in (client, server)),
            *(f"{self.service}:{PORT}", f"{server.address}:{_LISTEN}"),
        )
        done = subprocess.run(argv, capture_output=True, check=False, text=True, timeout=_LIMIT)
        assert done.returncode == 0, done.stderr
        return float(done.stdout)

    def _listed(self) -> tuple[list[str], list[str]]:
        """Services to which each node's rules lead, in their order."""
        client, server = (
            node.language.services(rules)
            for node, rules in zip(self.nodes, self.rules, strict=True)
        )
        return client, server

    def _network(self, host: Host) -> str:
        """A host's network, as this machine tells it."""
        return f"/proc/{self.lab.testbed.host(host.name).door().first.pid}/ns/net"


def _form(proxy: ProxyMode, rules: str) -> str:
    """In which form kube-proxy wrote its list of services, and their chains."""
    if proxy is not ProxyMode.IPTABLES:
        return ""
    chains = f"{'with' if commented(rules, CHAINS) else 'without'} comments in their chains"
    assert commented(rules, LISTED), "the list has another form"
    return f", {chains}"


def _node(lab: Lab, host: Host, proxy: ProxyMode) -> Node:
    """A host of a lab as a node."""
    environment = lab.kubernetes.runtime(host.name).environment
    return Node(host, environment, LANGUAGES[proxy])
