"""`redis.conf` of one member, from its three addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dunnage.databases.redis import demand
from dunnage.model.late import unfilled
from dunnage.model.layout import LOOPBACK, Place
from dunnage.model.study import DatabaseSpec
from dunnage.model.value import Scalar

_DEFAULTS: Mapping[str, Scalar] = {
    "save": "",
    "appendonly": False,
    # The default of 5 s only waits for more replicas to share one copy; data sets are mostly empty
    # then.
    "repl-diskless-sync-delay": 0,
}


def render(spec: DatabaseSpec, place: Place, primary: Place) -> str:
    """The configuration of the member at `place`; `primary` is the one that replicas follow."""
    lines = [*_process(place), *_topology(spec, place, primary)]
    lines += [*{**_DEFAULTS, **spec.settings}.items()]
    return "".join(f"{name} {_text(value)}\n" for name, value in lines)


def _process(place: Place) -> Iterator[tuple[str, Scalar]]:
    bind = place.ports["redis"].bind
    # A late address is not known to what runs beside the member, so it answers on loopback too.
    yield "bind", f"{bind.host} {LOOPBACK}" if unfilled(bind.host) else bind.host
    yield "port", bind.port
    yield "protected-mode", False
    yield "daemonize", False
    yield "set-proc-title", False  # arguments stay as they were given: they are compared
    yield "dir", place.data


def _topology(spec: DatabaseSpec, place: Place, primary: Place) -> Iterator[tuple[str, Scalar]]:
    kind, told = demand.topology(spec), place.ports["redis"].advertised
    if kind == "cluster":
        yield from _cluster(place)
    if kind == "replicas":
        yield "replica-announce-ip", told.host
        yield "replica-announce-port", told.port
        if place.member != primary.member:
            peer = primary.ports["redis"].peer
            yield "replicaof", f"{peer.host} {peer.port}"


def _cluster(place: Place) -> Iterator[tuple[str, Scalar]]:
    """What a member of a Redis Cluster tells about itself.

    Redis 7 announces one address to members and clients alike, except that clients may be told a
    host name besides. So members use their peer address whenever clients know the same port;
    where the port differs too, members go by the clients' address.
    """
    redis, bus = place.ports["redis"], place.ports["bus"]
    yield "cluster-enabled", True
    yield "cluster-port", bus.bind.port
    if redis.peer.port != redis.advertised.port:
        yield "cluster-announce-ip", redis.advertised.host
        yield "cluster-announce-bus-port", bus.advertised.port
    else:
        yield "cluster-announce-ip", redis.numeric_peer.host
        yield "cluster-announce-bus-port", bus.peer.port
        yield "cluster-announce-hostname", redis.advertised.host
        yield "cluster-preferred-endpoint-type", "hostname"
    yield "cluster-announce-port", redis.advertised.port


def _text(value: Scalar) -> str:
    """A value as Redis reads it; text goes in as it is, so that lists of words stay lists."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value not in (None, "") else '""'
