"""Read the way from a client to each member, all hosts side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from dunnage.contracts.host import Host, Router
from dunnage.contracts.platform import RunningMember, Seen, Unseen
from dunnage.errors import DunnageError
from dunnage.model.layout import Address
from dunnage.model.path import Hop, HopKind, NetworkPath
from dunnage.platforms.guest import Networked
from dunnage.platforms.paths.namespace import Namespace
from dunnage.platforms.paths.parse import namespaces
from dunnage.platforms.paths.script import Tools, script
from dunnage.platforms.paths.walk import Goal, walk

_SECONDS = 10.0
"""For the script of one host, which takes a fiftieth of a second where nothing else runs."""


@dataclass(frozen=True)
class Client:
    """Where connections are made: a host, or a container on it."""

    host: Host
    pid: int | None
    """A process that has the container's network, as the host sees it; None for the host's."""


@dataclass(frozen=True)
class Member:
    """Where connections shall end, and what a client is told."""

    running: RunningMember
    contact: Address
    meant: str
    """The IPv4 address that the contact stands for; empty where nobody knows it."""


def standing(client: Host) -> Client:
    """A client as its platform gave it, by the host that it stands on."""
    if isinstance(client, Networked):
        return Client(client.landlord, client.pid)
    return Client(client, None)


def read_paths(
    client: Client,
    members: Sequence[Member],
    addresses: Sequence[str],
    tools: Mapping[str, Tools],
    router: Router | None = None,
) -> tuple[NetworkPath, ...]:
    """The path to each member. One that cannot be read to its end says why, and never raises.

    `addresses` are all that a packet may be sent to on its way, `tools` has the hosts whose daemons
    translate addresses, and `router` is what translates them between hosts.
    """
    hosts = {each.running.host.name: each.running.host for each in members}
    hosts[client.host.name] = client.host
    pids: dict[str, list[int]] = {name: [] for name in hosts}
    for each in members:
        if isinstance(each.running.process, Seen):
            pids[each.running.host.name].append(each.running.process.pid)
    if client.pid is not None:
        pids[client.host.name].append(client.pid)

    with_members = {each.running.host.name for each in members}

    def look(name: str) -> tuple[Namespace, ...] | str:
        asked = script(addresses, pids[name], tools.get(name), members=name in with_members)
        return _look(hosts[name], asked)

    with ThreadPoolExecutor(max_workers=len(hosts) + 1) as pool:
        between = None if router is None else pool.submit(_look_between, router, addresses)
        seen = dict(zip(hosts, pool.map(look, hosts), strict=True))
        if router is not None and between is not None:
            seen[router.name] = between.result()
    passed = () if router is None else (router.name,)
    return tuple(_path(client, each, seen, passed) for each in members)


def _look_between(router: Router, addresses: Sequence[str]) -> tuple[Namespace, ...] | str:
    """As `_look`, of a router's own namespace."""
    found = _look(router, script(addresses, (), Tools(router.environment), members=False))
    return found if isinstance(found, str) else tuple(replace(each, router=True) for each in found)


def _look(host: Host | Router, text: str) -> tuple[Namespace, ...] | str:
    """What a host's script told, or why nothing can be told of it."""
    try:
        done = host.run(["sh", "-c", text], timeout=_SECONDS)
        return namespaces(host.name, done.stdout, done.stderr)
    except DunnageError as error:
        return str(error)
    except (ValueError, KeyError) as error:
        return f"{host.name}: the network cannot be read: {error}"


def _path(
    client: Client,
    member: Member,
    seen: Mapping[str, tuple[Namespace, ...] | str],
    passed: Sequence[str],
) -> NetworkPath:
    """`passed` are what must have been read besides the two hosts."""
    host, running = client.host, member.running
    named = "" if member.meant == member.contact.host else f", which is {member.meant}"
    first = Hop(
        kind=HopKind.CLIENT,
        host=host.name,
        name="client",
        detail=f"{'in a container, ' if client.pid else ''}connects to {member.contact}{named}",
    )

    def path(hops: Sequence[Hop], unknown: str) -> NetworkPath:
        return NetworkPath(
            client=host.name,
            member=running.member,
            address=str(member.contact),
            hops=(first, *hops),
            unknown=unknown,
        )

    if isinstance(running.process, Unseen):
        return path((), f"{running.host.name}: {running.process.reason}")
    if not member.meant:
        return path((), f"nobody has told what address `{member.contact.host}` stands for")
    for name in (host.name, *passed, running.host.name):
        if isinstance(unread := seen[name], str):
            return path((), unread)
    every = [each for found in seen.values() if not isinstance(found, str) for each in found]
    start = _start(every, client)
    if start is None:
        return path((), f"{host.name}: the network of the client's container cannot be read")
    goal = Goal(running.host.name, running.process.pid)
    return path(*walk(every, start, member.meant, member.contact.port, goal))


def _start(every: Sequence[Namespace], client: Client) -> Namespace | None:
    own = (each for each in every if each.host == client.host.name)
    return next(
        (each for each in own if (each.own if client.pid is None else client.pid in each.pids)),
        None,
    )
