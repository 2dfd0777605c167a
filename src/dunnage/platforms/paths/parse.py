"""What the script printed, as namespaces. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dunnage.platforms.paths.namespace import ANY, Interface, Listener, Namespace, Route, Vxlan
from dunnage.platforms.paths.nftables import nft_chains
from dunnage.platforms.paths.rules import chains, joined
from dunnage.platforms.paths.script import MARK
from dunnage.platforms.paths.sets import sets
from dunnage.platforms.paths.virtual import virtuals

_USER = re.compile(r'\("([^"]*)",pid=(\d+)')
_HOLDS = ("own", "process", "overlay", "balancer")
"""Sections that begin a namespace."""


@dataclass
class _Text:
    """All that was printed of one namespace."""

    own: bool
    pids: set[int] = field(default_factory=set)
    parts: dict[str, str] = field(default_factory=dict)
    commands: dict[int, tuple[str, ...]] = field(default_factory=dict)


def namespaces(host: str, printed: str, errors: str = "") -> tuple[Namespace, ...]:
    """All that a host's script told of; `errors` is what it complained of.

    Raises ValueError with what is missing when the host's own namespace could not be read.
    """
    found: list[_Text] = []
    for name, about, text in _sections(printed):
        if name in _HOLDS:
            pids = {int(about)} if name == "process" else set()
            found.append(_Text(own=name == "own", pids=pids))
        elif name == "shared":
            found[0].pids |= found.pop().pids
        elif name == "command":
            found[-1].commands[int(about)] = tuple(text.split("\n"))
        else:
            found[-1].parts[name] = text
    if not found or not found[0].parts.get("links", "").strip():
        complaint = errors.strip().splitlines()
        raise ValueError(complaint[0] if complaint else "`ip` printed nothing")
    read = (each for each in found if each.parts.get("links", "").strip())
    return tuple(_namespace(host, each) for each in read)


def _sections(printed: str) -> Iterator[tuple[str, str, str]]:
    """Name, what it is about, and text of each section."""
    for part in re.split(rf"^{MARK} ", printed, flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        name, _, about = head.partition(" ")
        yield name, about, text


def _namespace(host: str, text: _Text) -> Namespace:
    interfaces, routes = _links(text.parts["links"] + text.parts.get("onward", ""))
    rules = text.parts.get("rules", "").strip()
    unread = "no-rules" in text.parts
    return Namespace(
        host=host,
        pids=frozenset(text.pids),
        own=text.own,
        interfaces=interfaces,
        routes=routes,
        listeners=tuple(listeners(text.parts.get("sockets", ""))),
        forwarding=forwarding(text.parts.get("forwarding", "")),
        rules={} if unread else joined(chains(rules), nft_chains(text.parts.get("nft", ""))),
        marks=chains(text.parts.get("marks", "")),
        sets=sets(text.parts.get("sets", "")),
        virtuals=virtuals(text.parts.get("virtual", "")),
        rules_unknown=f"`iptables` failed: {rules or 'it wrote nothing'}" if unread else "",
        commands=text.commands,
    )


def _links(text: str) -> tuple[tuple[Interface, ...], Mapping[str, Route]]:
    """Interfaces and routes: `ip` in a batch prints one array for each answer, a line each."""
    interfaces: list[Interface] = []
    routes: dict[str, Route] = {}
    for line in text.splitlines():
        for each in json.loads(line) if line.strip() else ():
            if "ifindex" in each:
                interfaces.append(_interface(each))
            elif "dst" in each and "dev" in each:
                routes[str(each["dst"])] = _route(each)
    return tuple(interfaces), routes


def _interface(told: Mapping[str, Any]) -> Interface:
    link: Mapping[str, Any] = told.get("linkinfo") or {}
    kind, data = str(link.get("info_kind", "")), link.get("info_data") or {}
    own = (each for each in told.get("addr_info", ()) if each.get("family") == "inet")
    wraps = kind == "vxlan" and "id" in data
    return Interface(
        name=str(told["ifname"]),
        index=int(told["ifindex"]),
        kind=kind,
        mtu=int(told["mtu"]),
        mac=str(told.get("address", "")),
        master=str(told.get("master", "")),
        peer=int(told.get("link_index", 0)) if kind == "veth" else 0,
        addresses=tuple(str(each["local"]) for each in own),
        vxlan=Vxlan(int(data["id"]), int(data.get("port", 0))) if wraps else None,
    )


def _route(told: Mapping[str, Any]) -> Route:
    return Route(
        device=str(told["dev"]),
        gateway=str(told.get("gateway", "")),
        source=str(told.get("prefsrc", "")),
        local=told.get("type") == "local",
    )


def listeners(text: str) -> Iterable[Listener]:
    """Of what `ss` printed, each socket once for each process that holds it."""
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) < 5:
            continue
        address, _, port = fields[3].rpartition(":")
        users = _USER.findall(fields[5] if len(fields) > 5 else "") or [("", "0")]
        for process, pid in users:
            yield Listener(_plain(address), int(port), process, int(pid))


def _plain(address: str) -> str:
    """An IPv4 address as such, whatever the socket's family is."""
    bare = address.strip("[]").partition("%")[0].removeprefix("::ffff:")
    return ANY if bare in ("*", "::", ANY, "") else bare


def forwarding(text: str) -> Mapping[tuple[str, str], str]:
    """Device and MAC → where it sends to, of what `bridge -json fdb` printed."""
    entries = json.loads(text) if text.strip() else []
    return {
        (str(each["ifname"]), str(each["mac"])): str(each["dst"])
        for each in entries
        if "dst" in each
    }
