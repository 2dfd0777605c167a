"""Nodes of a Kubernetes that is there already, as hosts: an agent in a pod on each."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import takewhile

import httpx2
from lightkube import Client
from lightkube.resources.core_v1 import Node

from dunnage.clusters import left
from dunnage.clusters.context import Context
from dunnage.clusters.execute import Place
from dunnage.clusters.nodes import address, machine, why_unready
from dunnage.clusters.nodes import name as name_of
from dunnage.clusters.outage import Outage
from dunnage.clusters.owned import owned
from dunnage.contracts.cluster import OF_A_TESTBED, LeftSeen, TestbedSeen
from dunnage.contracts.kubernetes import ApiServer
from dunnage.deadline import Deadline
from dunnage.errors import HostLostError, RunError, UnavailableError
from dunnage.hosts.channel.bring import bring
from dunnage.hosts.channel.channel import ChannelError, GoneError
from dunnage.hosts.channel.host import ChannelHost, Groups
from dunnage.hosts.channel.link import Link
from dunnage.hosts.channel.testbed import ChannelTestbed, answers, end
from dunnage.hosts.nodes.choose import one_machine
from dunnage.hosts.nodes.groups import groups, shared
from dunnage.hosts.nodes.host import NodeHost, PodHost
from dunnage.hosts.nodes.manifests import CONTAINER, ENGINE, SOCKET, Agent, namespace
from dunnage.hosts.nodes.owner import in_use, is_of_nobody_here, own
from dunnage.hosts.nodes.pod_channel import PodChannel
from dunnage.hosts.nodes.pods import Pods
from dunnage.model.agreement import agreed
from dunnage.model.study import TestbedSpec
from dunnage.model.value import Scalar

PREFIX = "dunnage-nodes-"
"""How the names of testbeds begin."""
_WHERE = "kubernetes"
RETURNS = 600.0
"""Seconds for which a lost host's node is waited for: machines take minutes to start again."""
_LOOKS = 2.0
"""Seconds between two looks at it."""
_LISTENS = 20.0
"""Seconds within which an agent listens whose engine was brought."""
_AGAIN = 0.1


@dataclass(frozen=True)
class Cluster:
    """How a cluster is reached."""

    context: Context
    api: ApiServer
    client: Client
    speaking: httpx2.Client
    """For streams."""


class NodesTestbed(ChannelTestbed[NodeHost]):
    """Nodes, each with an agent. `open` once, then `release` once."""

    def __init__(
        self,
        spec: TestbedSpec,
        study: str,
        cluster: Cluster,
        places: Mapping[str, Node],
        engine: bytes,
        tell: Callable[[str], None],
    ) -> None:
        """`places` are the hosts' nodes, `engine` is what is brought to each, and `tell` is told of
        what is waited for, and of what another study left that stays."""
        super().__init__(one_machine=one_machine(places))
        self.name = f"{PREFIX}{secrets.token_hex(4)}"
        """The testbed's in the cluster: that of the namespace with its agents."""
        self.confined = ""
        """Why agents see no more than their pods; empty where they see their nodes."""
        self._spec = spec
        self._study = study
        self._cluster = cluster
        self._places = places
        self._engine = engine
        self._tell = tell
        self._outage = Outage()
        self._pods = Pods(cluster.client, self.name, {OF_A_TESTBED: self.name}, cluster.context)
        self._agents: dict[str, Agent] = {}
        self._grouped: dict[str, Groups] = {}
        self._images: dict[str, str | None] = {}

    @property
    def api(self) -> ApiServer:
        """Where the cluster takes orders."""
        return self._cluster.api

    @property
    def labels(self) -> Mapping[str, str]:
        """Of every namespace that is made in the cluster for this testbed."""
        return {**self._spec.labels, OF_A_TESTBED: self.name}

    def node(self, host: str) -> str:
        """Name of a host's node; KeyError if there is no such host."""
        return name_of(self._places[host])

    def _again(self, name: str) -> Link:
        agent, most = self._agents[name], f"at most {RETURNS / 60:g} min"
        self._tell(f"waiting for node `{agent.node}` of `{name}`, {most}")
        deadline = Deadline.after(RETURNS)
        while True:
            try:
                link, self._grouped[name] = self._anew(agent)
            except UnavailableError:
                if deadline.passed:
                    raise
            else:
                return link
            deadline.pause(_LOOKS)

    def _anew(self, agent: Agent) -> tuple[Link, Groups]:
        context = self._cluster.context
        with context.spoken():
            self._insist_on_node(agent)
            self._pods.remove(agent)
            self._pods.create(agent)
            self._pods.await_running([agent])
            link = self._linked(agent, self._pods)
        try:
            return link, self._groups(agent, link)
        except (HostLostError, RunError) as error:
            link.close()
            hint = context.asking(f"describe node {agent.node}")
            raise UnavailableError(error.what, where=agent.host, hint=hint) from error

    def _insist_on_node(self, agent: Agent) -> None:
        """Raise UnavailableError where the node of an agent is gone or not ready."""
        known = {name_of(node): node for node in self._cluster.client.list(Node)}
        node = known.get(agent.node)
        if why := why_unready(node) if node is not None else "the cluster has it no more":
            raise UnavailableError(
                f"its node `{agent.node}` is not ready: {why}",
                where=agent.host,
                hint=self._cluster.context.asking("get nodes"),
            )

    def _told(self) -> Mapping[str, Scalar]:
        return {
            "hosts.kind": self._spec.kind,
            "hosts.context": self._spec.context,
            "hosts.privileged": not self.confined,
            "hosts.one_machine": self.one_machine,
            **agreed({host: {"hosts.image": image} for host, image in self._images.items()}),
        }

    def _named(self, name: str) -> tuple[str, str]:
        status = self._places[name].status
        info = status.nodeInfo if status is not None else None
        return self.node(name), info.architecture if info is not None else ""

    def open(self) -> None:
        """Make an agent on every node, and speak to it."""
        with self._cluster.context.spoken():
            self._remove_what_nobody_uses()
            self._insist_on_free_nodes()
            annotations = owned(self._study, own(), sorted(self._mine))
            self._pods.hold(namespace(self.name, self._spec.labels, annotations))
            agents = [self._agent(number, host) for number, host in enumerate(self._places, 1)]
            if why := self._pods.refusal(agents[0]):
                self.confined = f"the cluster takes no privileged pods: {why}"
                agents = [replace(agent, privileged=False) for agent in agents]
            for agent in agents:
                self._pods.create(agent)
                self._agents[agent.host] = agent
            self._pods.await_running(agents)
            self._insist_on_free_nodes()  # an older study may have begun meanwhile
            self._images = {agent.host: self._pods.image(agent) for agent in agents}
            with ThreadPoolExecutor(max_workers=len(agents)) as pool:
                list(pool.map(self._reach, agents))
        for agent in agents:
            self._grouped[agent.host] = self._groups(agent, self._links[agent.host])
            self._hosts[agent.host] = self._host(agent)

    def _reach(self, agent: Agent) -> None:
        """Note each way at once, so that it is closed though another cannot be had."""
        self._links[agent.host] = self._linked(agent, self._pods)

    def release(self) -> None:
        """End every agent, and remove what holds them; raises UnavailableError."""
        lost = self.lost()
        for link in self._links.values():
            end(link)
        with self._cluster.context.spoken():
            for name in lost:
                self._pods.forget(self._agents[name])
            self._pods.release()

    def _found(self) -> LeftSeen:
        """What Dunnage has in the cluster, whoever uses it."""
        client, context = self._cluster.client, self._cluster.context
        return self._outage.asked(lambda: left.found(client, context))

    def _remove_what_nobody_uses(self) -> None:
        """Of processes of this machine: others' may still be in use.

        What stays is only told where none of the nodes is held by it.
        """
        client, context = self._cluster.client, self._cluster.context
        unused, _ = left.parted(self._found(), lambda each: not is_of_nobody_here(each))
        elsewhere, here = left.parted(unused, lambda each: bool(self._common(each)))
        left.remove_unused(client, here, context)
        try:
            with context.spoken():
                left.remove_unused(client, elsewhere, context)
        except UnavailableError as stays:
            self._tell(f"not all that a killed study left in the cluster was removed: {stays}")
            self._tell(f"  try: {context.ours('clean')} --yes")

    def _insist_on_free_nodes(self) -> None:
        """Raise UnavailableError where an older study has one of the nodes, or another node of the
        same machine.

        Of two that begin at once, each finds the other's testbed, which names its nodes from its
        beginning. The younger one ends, so that the older one goes on.
        """
        older = takewhile(lambda each: each.testbed != self.name, self._found().testbeds)
        for each in filter(in_use, older):
            if common := self._common(each) or self._on_machines_of_ours(each):
                study = f"study `{each.study}`" if each.study else "another study"
                since = f" since {each.since}" if each.since else ""
                raise UnavailableError(
                    f"{study} has {', '.join(common)} as hosts{since}: two studies would disturb "
                    "each other",
                    where=_WHERE,
                    hint=self._cluster.context.ours("clean"),
                )

    def _common(self, other: TestbedSeen) -> list[str]:
        """Names of the nodes that are hosts of another testbed too."""
        return sorted(self._mine & {*other.agents, *other.nodes})

    def _on_machines_of_ours(self, other: TestbedSeen) -> list[str]:
        """Other nodes on the same machines that are hosts of another testbed, each with one of ours
        there: those of `kind` share a machine."""
        known = self._outage.asked(lambda: list(self._cluster.client.list(Node)))
        machines = {name_of(node): machine(node) for node in known}
        ours = {machines.get(each, each): each for each in sorted(self._mine, reverse=True)}
        theirs = sorted({*other.agents, *other.nodes})
        return [
            f"{each} (on the machine of {ours[there]})"
            for each in theirs
            if (there := machines.get(each, each)) in ours
        ]

    @property
    def _mine(self) -> set[str]:
        """Names of the nodes of all hosts."""
        return {name_of(node) for node in self._places.values()}

    def _agent(self, number: int, host: str) -> Agent:
        return Agent(
            testbed=self.name,
            host=host,
            number=number,
            node=self.node(host),
            image=str(self._spec.image),
            privileged=True,
        )

    def _linked(self, agent: Agent, pods: Pods) -> Link:
        """Bring the engine to an agent's pod, and speak to it; raises UnavailableError."""
        place = Place(agent.testbed, agent.pod, CONTAINER)
        channel = PodChannel(self._cluster.speaking, place)
        try:
            bring(channel, self._engine, ENGINE)
            deadline = Deadline.after(_LISTENS)
            while True:
                try:
                    return Link(
                        agent.host, lambda: channel.open([ENGINE, "speak", "--socket", SOCKET])
                    )
                except GoneError:
                    raise
                except ChannelError:
                    if deadline.passed:
                        raise
                deadline.pause(_AGAIN)
        except GoneError:
            raise pods.failure(agent) from None
        except ChannelError as error:
            raise UnavailableError(
                f"its agent cannot be reached: {error}",
                where=agent.host,
                hint=self._cluster.context.asking(f"describe node {agent.node}"),
            ) from error

    def _host(self, agent: Agent) -> NodeHost:
        return NodeHost(
            name=agent.host,
            group=agent.host.rpartition("-")[0],
            address=address(self._places[agent.host]),
            scratch=agent.scratch,
            groups=lambda: self._grouped[agent.host],
            confined=self.confined,
            clock=self.clock,
            link=lambda: self._links[agent.host],
            making=self._beside,
            image=agent.image,
            look_at_disks=self._cluster.context.asking(f"describe node {agent.node}"),
        )

    def _groups(self, agent: Agent, link: Link) -> Groups:
        """Control groups as the node has them; of a confined agent they are its own affair."""
        if self.confined:
            whole = f"/{agent.testbed}/{agent.host}"
            return Groups(whole, f"{whole}/{CONTAINER}", {})
        texts = [link.ask("get", path=f"/proc/{each}/cgroup")[1] for each in ("1", "self")]
        try:
            whole, own_group = groups(*(text.decode() for text in texts))
        except ValueError as error:
            reads = f"debug node/{agent.node} -it --image={agent.image} -- cat /proc/1/cgroup"
            hint = self._cluster.context.asking(reads)
            raise UnavailableError(str(error), where=agent.host, hint=hint) from None
        return Groups(whole, own_group, shared(own_group))

    def _beside(self, host: ChannelHost, place: str, labels: Mapping[str, str]) -> PodHost:
        """A pod without rights on a host's node, in the namespace `place`."""
        agent = replace(self._agents[host.name], testbed=place, privileged=False)
        pods = Pods(self._cluster.client, place, labels, self._cluster.context)
        with self._cluster.context.spoken():
            pods.create(agent)
            pods.await_running([agent])
            link = self._linked(agent, pods)

        def leave() -> None:
            lost = not answers(link)
            end(link)
            with self._cluster.context.spoken():
                if lost:
                    pods.forget(agent)
                pods.remove(agent)

        return PodHost(
            name=host.name,
            group=host.group,
            address=host.address,
            scratch=agent.scratch,
            groups=host.groups,
            confined=host.confined,
            clock=host.clock,
            link=lambda: link,
            leaving=leave,
        )
