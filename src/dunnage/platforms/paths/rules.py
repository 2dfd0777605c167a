"""Rules that translate addresses, as `iptables --table nat --list-rules` prints them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from typing import Protocol

from dunnage.platforms.paths.packet import Packet
from dunnage.platforms.paths.sets import AddressSet


@dataclass(frozen=True)
class Translation:
    """What a rule makes of a packet. Its port is 0 where it stays."""

    rule: str
    target: str
    address: str = ""
    port: int = 0


class Known(Protocol):
    """What rules need to know of their namespace."""

    @property
    def sets(self) -> Mapping[str, AddressSet]:
        """By name, those that could be read."""

    def is_local(self, address: str) -> bool:
        """Whether an address is one of its own."""


class UnreadableRuleError(Exception):
    """Whether a rule applies cannot be told; the text is the rule."""


Words = tuple[str, ...]

_TRANSLATES = ("DNAT", "SNAT", "MASQUERADE", "REDIRECT")
_ENDS = ("ACCEPT", "RETURN")
_MARKS = "MARK"
_JUMPS, _GOES = "-j", "-g"


def chains(listing: str) -> dict[str, list[Words]]:
    """Chain → its rules in order, each in words; the built-in chains' policy is no rule."""
    found: dict[str, list[Words]] = {}
    for line in listing.splitlines():
        words = tuple(shlex.split(line))
        if len(words) > 1 and words[0] == "-A":
            found.setdefault(words[1], []).append(words[2:])
    return found


def joined(
    first: Mapping[str, Sequence[Words]], second: Mapping[str, Sequence[Words]]
) -> dict[str, list[Words]]:
    """The rules of both; in a chain of both, those of the second come later."""
    return {name: [*first.get(name, ()), *second.get(name, ())] for name in {**first, **second}}


def translation(
    rules: Mapping[str, Sequence[Words]],
    chain: str,
    packet: Packet,
    known: Known,
) -> tuple[Packet, Translation | None]:
    """What the chain makes of a packet, and the packet as it was marked on the way there.

    None if it leaves it alone. Raises UnreadableRuleError at the first rule that could apply and
    has a condition that is not known here.
    """
    packet, found = _followed(rules, chain, packet, known)
    return packet, None if found is None or found.target in _ENDS else found


def _followed(
    rules: Mapping[str, Sequence[Words]],
    chain: str,
    packet: Packet,
    known: Known,
) -> tuple[Packet, Translation | None]:
    for words in rules.get(chain, ()):
        conditions, target, option = _parts(words)
        if not _applies(words, conditions, packet, known):
            continue
        rule = _text(("-A", chain, *words))
        if target == _MARKS:
            packet = replace(packet, mark=_marked(packet.mark, option))
        elif target in _TRANSLATES:
            address, _, port = option.partition(":")
            return packet, Translation(rule, target, address, int(port.partition("-")[0] or 0))
        elif target in _ENDS:
            return packet, Translation(rule, target)
        else:
            packet, inner = _followed(rules, target, packet, known)
            if inner is not None and inner.target != "RETURN":
                return packet, inner
            if _GOES in words:  # and does not come back
                return packet, Translation(rule, "RETURN")
    return packet, None


def _parts(words: Words) -> tuple[Words, str, str]:
    """Conditions, target, and where the target sends to."""
    at = next((at for at, word in enumerate(words) if word in (_JUMPS, _GOES)), None)
    if at is None:
        return words, "", ""
    options = words[at + 2 :]
    names = ("--to-destination", "--to-source", "--to-ports", "--set-xmark")
    option = next((options[options.index(name) + 1] for name in names if name in options), "")
    return words[:at], words[at + 1], f":{option}" if "--to-ports" in options else option


def _applies(words: Words, conditions: Words, packet: Packet, known: Known) -> bool:
    """Whether all conditions hold; one that fails decides, whatever others are unknown."""
    readable = True
    for negated, name, value in _conditions(conditions):
        holds = _holds(name, value, packet, known)
        if holds is None:
            readable = False
        elif holds is negated:
            return False
    if not readable:
        raise UnreadableRuleError(_text(words))
    return True


def _conditions(words: Sequence[str]) -> list[tuple[bool, str, str]]:
    found, at = [], 0
    while at < len(words):
        negated = words[at] == "!"
        at += negated
        name = words[at]
        at += 1
        first = at
        while at < len(words) and not words[at].startswith("-") and words[at] != "!":
            at += 1
        found.append((negated, name, " ".join(words[first:at])))
    return found


def _holds(name: str, value: str, packet: Packet, known: Known) -> bool | None:
    """Whether one condition holds; None where it is not known here."""
    match name:
        case "-m" | "--comment":  # an extension by itself is no condition
            return True
        case "-p":
            return value in ("tcp", "all")
        case "-s":
            return _inside(packet.source, value)
        case "-d":
            return _inside(packet.address, value)
        case "-i":
            return _named(packet.entered, value)
        case "-o":
            return _named(packet.leaves, value)
        case "--dport":
            return _within(packet.port, value)
        case "--dports":
            return any(_within(packet.port, each) for each in value.split(","))
        case "--mark":
            wanted, mask = _masked(value)
            return packet.mark & mask == wanted
        case "--ctstate" if value == "DNAT":
            return packet.translated
        case "--dst-type" if value == "LOCAL":
            return known.is_local(packet.address)
        case "--src-type" if value == "LOCAL":
            return not packet.entered
        case "--ipvs":
            return packet.virtual
        case "--match-set":
            named, _, sides = value.partition(" ")
            found = known.sets.get(named)
            return None if found is None else found.holds(packet, sides)
        case _:
            return None


def _text(words: Words) -> str:
    """Words as `iptables` prints them; only what holds a space is quoted."""
    return " ".join(shlex.quote(word) if " " in word else word for word in words)


def _marked(mark: int, option: str) -> int:
    """A mark after `--set-xmark VALUE/MASK`: the mask's bits are cleared, the value's turned."""
    value, mask = _masked(option)
    return (mark & ~mask) ^ value


def _masked(text: str) -> tuple[int, int]:
    """Value and mask, which is all bits where it is left out."""
    value, _, mask = text.partition("/")
    return int(value, 0), int(mask or "0xffffffff", 0)


def _within(port: int, ports: str) -> bool:
    first, _, last = ports.partition(":")
    return int(first) <= port <= int(last or first)


def _inside(address: str, network: str) -> bool:
    return ip_address(address) in ip_network(network, strict=False)


def _named(interface: str, pattern: str) -> bool:
    """Whether an interface has this name; one that ends in `+` stands for all that begin so."""
    return interface.startswith(pattern[:-1]) if pattern.endswith("+") else interface == pattern
