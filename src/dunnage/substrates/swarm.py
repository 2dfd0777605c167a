"""A Docker Swarm of our own, on daemons of our own: its manager on the control host.

Every other host is a worker. It is gone when its daemons are: nothing has to leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import docker

from dunnage.contracts.docker import Daemon
from dunnage.contracts.host import Host
from dunnage.contracts.testbed import Testbed
from dunnage.docker_api import Refused, connect, explanation
from dunnage.errors import HostLostError, UnavailableError
from dunnage.model.study import CONTROL_GROUP
from dunnage.model.value import Scalar
from dunnage.substrates.daemons import HINT, Daemons
from dunnage.substrates.late import still_late
from dunnage.substrates.membership import in_a_swarm, not_ready, own_node, swarm_facts
from dunnage.substrates.ranges import SUBNET_SIZE, container_ranges
from dunnage.substrates.side_by_side import side_by_side

PORT = 2377
"""Where a manager listens, Docker's own."""
_READY = 60.0
_STEADY = 0.5
"""Seconds for which nodes must have been ready: a manager that was held still believes them so
until it finds that their heartbeats are missing, which it does in the first tenth of a second."""
_INTERVAL = 0.02

_T = TypeVar("_T")


GATEWAY = "docker_gwbridge"


@contextmanager
def open_swarm(
    testbed: Testbed, below: Daemons, hosts: Sequence[Host], *, keep: bool = False
) -> Iterator[Swarm]:
    """Make one Swarm of the daemons of these hosts, one of which is the control host.

    With `keep` its services live on for as long as the daemons. Raises UnavailableError when there
    is no control host, or when a node does not become ready.
    """
    swarm = Swarm(testbed, below, hosts)
    swarm.form()
    try:
        yield swarm
    finally:
        if not keep:
            swarm.dismiss()


class Swarm:
    """The Swarm that we formed. Hosts that are lost are passed over until they are mended."""

    def __init__(self, testbed: Testbed, below: Daemons, hosts: Sequence[Host]) -> None:
        self._testbed = testbed
        self._below = below
        self._hosts = {host.name: host for host in hosts}
        self._control = _control(hosts)
        self._nodes: dict[str, str] = {}
        self._facts: Mapping[str, Scalar] = {}

    def form(self) -> None:
        """Make the control host's daemon a manager, and have all others join; all at once."""
        self._nodes.clear()
        living = self._living()
        side_by_side(living, self._leave)
        control = self._control
        pool = container_ranges(host.address for host in self._testbed.hosts).overlay
        with self._asked(control, "no Swarm can be begun") as client:
            _give_gateway(client)
            client.swarm.init(
                advertise_addr=control.address,
                listen_addr=f"{control.address}:{PORT}",
                default_addr_pool=[pool],
                subnet_size=SUBNET_SIZE,
            )
        self._note(control)
        self._join([host for host in living if host is not control])
        self._wait()
        with self._asked(control, "the manager tells nothing of its Swarm") as client:
            self._facts = swarm_facts(client.info())

    @property
    def manager(self) -> Daemon:
        return self._below.daemon(self._control.name)

    def daemon(self, host: str) -> Daemon:
        return self._below.daemon(self._hosts[host].name)

    def node(self, host: str) -> str:
        return self._nodes[host]

    def units(self, host: str) -> tuple[str, ...]:
        return self._below.units(host) if host in self._hosts else ()

    def rules(self, host: str) -> int | None:
        return self._below.rules(host) if host in self._hosts else None

    def wake(self) -> None:
        """Let the daemons go on, and wait until every node is ready and stays so.

        Raises UnavailableError when one does not become so.
        """
        self._below.wake()
        if self._control.name not in self._testbed.lost():
            self._wait(_STEADY)

    def freeze(self, hosts: Collection[str] | None = None) -> None:
        """Hold the daemons still, and so the manager and what it tells nodes to do."""
        self._below.freeze(self._hosts if hosts is None else self._hosts.keys() & hosts)

    def mend(self, host: str) -> None:
        """Have a restored host join anew; where it was the manager's, form a new Swarm."""
        self._below.wake()
        self._below.mend(host)
        there = self._hosts.get(host)
        if there is None or self._control.name in self._testbed.lost() or self._is_node(there):
            return
        if there is self._control:
            self.form()
            return
        dead = self._nodes.pop(host, None)
        self._join([there])
        if dead is not None:
            with self._asked(self._control, f"the lost node of `{host}` cannot be removed") as it:
                it.api.remove_node(dead, force=True)
        self._wait()

    def facts(self) -> Mapping[str, Scalar]:
        """What the daemons told of themselves, and the manager of the Swarm."""
        return {**self._below.facts(), **self._facts, "ours": True}

    def dismiss(self) -> None:
        """Remove all services, so that no container comes back while the daemons end."""
        if self._control.name in self._testbed.lost():
            return
        self._below.wake()
        with self._asked(self._control, "services were not removed", "dunnage clean") as client:
            api: Any = client.api  # the SDK has typed neither of these
            for service in api.services():
                api.remove_service(service["ID"])

    def _leave(self, host: Host) -> None:
        with self._asked(host, "this host cannot leave the Swarm that it was in") as client:
            if in_a_swarm(client.info()):
                client.swarm.leave(force=True)

    def _join(self, hosts: Sequence[Host]) -> None:
        control = self._control
        with self._asked(control, "the manager has no token for workers") as client:
            token = client.swarm.attrs["JoinTokens"]["Worker"]

        def join(host: Host) -> None:
            with self._asked(host, "this host cannot join the Swarm") as client:
                _give_gateway(client)
                client.swarm.join(
                    remote_addrs=[f"{control.address}:{PORT}"],
                    join_token=token,
                    advertise_addr=host.address,
                    listen_addr=f"{host.address}:{PORT}",
                )
            self._note(host)

        side_by_side(hosts, join)

    def _note(self, host: Host) -> None:
        """Keep the id of a host's node, as soon as its daemon knows it."""

        def asked() -> str | None:
            with self._asked(host, "the daemon does not tell which node it is") as client:
                return own_node(client.info())

        node = self._until(asked)
        if node is None:
            what = f"its daemon is no active node of the Swarm{self._below.logged(host.name)}"
            raise UnavailableError(what, where=host.name, hint=HINT)
        self._nodes[host.name] = node

    def _is_node(self, host: Host) -> bool:
        with self._asked(host, "the daemon does not tell which node it is") as client:
            return own_node(client.info()) == self._nodes.get(host.name, "")

    def _wait(self, steady: float = 0.0) -> None:
        """Wait until all nodes of living hosts are ready, for `steady` seconds without a break."""
        with self._asked(self._control, "the manager does not answer") as client:
            late = still_late(
                lambda: self._late(client),
                self._testbed.clock,
                seconds=_READY,
                interval=_INTERVAL,
                steady=steady,
            )
            if late:
                raise self._lagging(late)

    def _lagging(self, late: Mapping[str, str]) -> UnavailableError:
        told = ", ".join(f"`{host}` is {state}" for host, state in late.items())
        where = next(iter(late))
        return UnavailableError(
            f"nodes of the Swarm are not ready within {_READY:g} s: {told}"
            f"{self._below.logged(where)}",
            where=where,
            hint=HINT,
        )

    def _late(self, client: docker.DockerClient) -> Mapping[str, str]:
        wanted = {host.name: self._nodes[host.name] for host in self._living()}
        try:
            return not_ready(client.api.nodes(), wanted)
        except Refused as refusal:  # for a moment after waking nobody leads
            return {self._control.name: f"not to be asked: {explanation(refusal)}"}

    def _until(self, found: Callable[[], _T]) -> _T:
        """Ask until there is an answer, or time is up; return the last answer."""
        clock = self._testbed.clock
        ends = clock.now() + _READY
        while not (answer := found()) and clock.now() < ends:
            clock.sleep(_INTERVAL)
        return answer

    def _living(self) -> list[Host]:
        lost = set(self._testbed.lost())
        return [host for name, host in self._hosts.items() if name not in lost]

    @contextmanager
    def _asked(self, host: Host, what: str, hint: str = HINT) -> Iterator[docker.DockerClient]:
        """A connection to a host's daemon; a refusal says `what`, and what the daemon logged."""
        try:
            with closing(connect(self._below.daemon(host.name))) as client:
                yield client
        except Refused as refusal:
            if host.name in self._testbed.lost():
                raise HostLostError("the host no longer answers", where=host.name) from refusal
            said = f"{what}: {explanation(refusal)}{self._below.logged(host.name)}"
            raise UnavailableError(said, where=host.name, hint=hint) from refusal


def _control(hosts: Sequence[Host]) -> Host:
    for host in hosts:
        if host.group == CONTROL_GROUP:
            return host
    raise UnavailableError(
        f"a Swarm of our own needs a host of the group `{CONTROL_GROUP}` for its manager",
        where="swarm",
        hint="dunnage plan STUDY",
    )


def _give_gateway(client: docker.DockerClient) -> None:
    """Make the bridge by which containers on an overlay reach their host, and it them.

    A node makes it by itself with the first such container, which is too late for a member that is
    told of its range before. The options are those of libnetwork's `setup_linux.go`.
    """
    if not client.networks.list(names=[GATEWAY]):
        name = "com.docker.network.bridge"
        options = {
            f"{name}.name": GATEWAY,
            f"{name}.enable_icc": "false",
            f"{name}.enable_ip_masquerade": "true",
        }
        client.networks.create(GATEWAY, driver="bridge", options=options)
