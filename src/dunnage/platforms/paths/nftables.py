"""Rules of nftables that translate addresses, in the words of iptables. Pure.

What has no such word becomes a condition that nobody knows, so that no way is guessed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dunnage.platforms.paths.rules import Words

_OF_IPTABLES = ("filter", "mangle", "nat", "raw", "security")
"""Tables that `iptables` tells of itself, where it makes its rules by nftables."""
_CHAINS = {"prerouting": "PREROUTING", "output": "OUTPUT", "postrouting": "POSTROUTING"}
_FIELDS = {("ip", "saddr"): "-s", ("ip", "daddr"): "-d"}
_PORTS = ("th", "tcp", "udp")
_ALL = "0xffffffff"
_Expression = Mapping[str, Any]


def nft_chains(text: str) -> dict[str, list[Words]]:
    """Chain → its rules in order, of what `nft -j list ruleset ip` printed.

    Chains of a table are called by its name and theirs; the hooks of address translation by
    iptables' names for them, each with a jump to what nftables has there.
    """
    told: list[_Expression] = json.loads(text)["nftables"] if text.strip() else []
    found: dict[str, list[Words]] = {}
    for each in (entry["chain"] for entry in told if "chain" in entry):
        hook = _CHAINS.get(str(each.get("hook")))
        if each.get("type") == "nat" and hook and each["table"] not in _OF_IPTABLES:
            found.setdefault(hook, []).append(("-j", _name(each["table"], each["name"])))
    sets = {
        (each["table"], each["name"]): each.get("elem", ())
        for entry in told
        for kind, each in entry.items()
        if kind in ("set", "map")
    }
    for rule in (entry["rule"] for entry in told if "rule" in entry):
        table = str(rule["table"])
        if table not in _OF_IPTABLES:
            words = _Rule(table, sets).words(rule["expr"])
            found.setdefault(_name(table, rule["chain"]), []).extend(words)
    return found


def _name(table: str, chain: str) -> str:
    return f"{table}/{chain}"


class _Rule:
    """One rule, which may be several of iptables': one for each element of a set or a map."""

    def __init__(self, table: str, sets: Mapping[tuple[str, str], Sequence[Any]]) -> None:
        self._table = table
        self._sets = sets

    def words(self, expressions: Iterable[_Expression]) -> list[Words]:
        """Conditions, and at most one verdict, in all combinations of elements."""
        rules: list[Words] = [()]
        for expression in expressions:
            (kind, about), *_ = expression.items()
            if kind != "counter":
                parts = list(self._parts(kind, about, expression))
                rules = [(*rule, *part) for rule in rules for part in parts]
        return rules

    def _parts(self, kind: str, about: Any, expression: _Expression) -> Iterator[Words]:
        """The alternatives of one expression."""
        match kind:
            case "match":
                yield from self._conditions(about)
            case "vmap":
                for key, verdict in self._elements(about["data"]):
                    for keyed in self._keyed(about["key"], key):
                        yield (*keyed, *self._verdict(verdict))
            case "mangle" if about["key"] == {"meta": {"key": "mark"}}:
                yield "-j", "MARK", "--set-xmark", _mark(about["value"])
            case _:
                yield self._verdict(expression)

    def _conditions(self, about: _Expression) -> Iterator[Words]:
        negated = ("!",) if about["op"] == "!=" else ()
        if about["op"] not in ("==", "!=", "in"):
            yield _unknown(about)
        elif negated and isinstance(about["right"], str) and about["right"].startswith("@"):
            yield _unknown(about)  # of several elements none may be it
        else:
            for right in self._elements(about["right"]):
                yield (*negated, *_condition(about["left"], right))

    def _keyed(self, key: _Expression, value: Any) -> Iterator[Words]:
        """A map's key as conditions; a number by chance is none where there is only one."""
        if "numgen" in key:
            yield () if key["numgen"]["mod"] == 1 else _unknown(key)
        elif "concat" in key:
            pairs = zip(key["concat"], value["concat"], strict=True)
            yield tuple(word for left, right in pairs for word in _condition(left, right))
        else:
            yield _condition(key, value)

    def _elements(self, data: Any) -> Sequence[Any]:
        """What a set or a map holds, by its name or in place; anything else is itself."""
        if isinstance(data, str) and data.startswith("@"):
            return self._sets.get((self._table, data[1:]), ())
        return data["set"] if isinstance(data, dict) and "set" in data else (data,)

    def _verdict(self, verdict: _Expression) -> Words:
        (kind, about), *_ = verdict.items()
        match kind:
            case "jump":
                return "-j", _name(self._table, about["target"])
            case "goto":
                return "-g", _name(self._table, about["target"])
            case "return" | "accept":
                return "-j", kind.upper()
            case "masquerade":
                return "-j", "MASQUERADE"
            case "dnat" | "snat" if isinstance(about.get("addr"), str):
                to = "--to-destination" if kind == "dnat" else "--to-source"
                port = f":{about['port']}" if isinstance(about.get("port"), int) else ""
                return "-j", kind.upper(), to, f"{about['addr']}{port}"
            case _:
                return (*_unknown(verdict), "-j", kind.upper())


def _condition(left: _Expression, right: Any) -> Words:
    match left:
        case {"payload": {"protocol": protocol, "field": field}}:
            if (protocol, field) in _FIELDS:
                return _FIELDS[protocol, field], _address(right)
            if protocol in _PORTS and field == "dport" and isinstance(right, int):
                return "--dport", str(right)
        case {"meta": {"key": "l4proto"}}:
            return "-p", str(right)
        case {"meta": {"key": "mark"}} if isinstance(right, int):
            return "--mark", f"{right:#x}/{_ALL}"
        case {"&": [{"meta": {"key": "mark"}}, int(mask)]} if isinstance(right, int):
            return "--mark", f"{right:#x}/{mask:#x}"
        case {"fib": {"result": "type", "flags": ["daddr"]}} if right == "local":
            return "--dst-type", "LOCAL"
    return _unknown({"left": left, "right": right})


def _address(right: Any) -> str:
    match right:
        case {"prefix": {"addr": address, "len": length}}:
            return f"{address}/{length}"
        case _:
            return str(right)


def _mark(value: Any) -> str:
    """What is made of a mark, as value and mask of `--set-xmark`."""
    match value:
        case {"|": [{"meta": {"key": "mark"}}, int(bits)]}:
            return f"{bits:#x}/{bits:#x}"
        case {"^": [{"meta": {"key": "mark"}}, int(bits)]}:
            return f"{bits:#x}/0x0"
        case {"&": [{"meta": {"key": "mark"}}, int(bits)]}:
            return f"0x0/{bits ^ int(_ALL, 0):#x}"
        case int(bits):
            return f"{bits:#x}/{_ALL}"
        case _:
            return "0x0/0x0"


def _unknown(expression: _Expression) -> Words:
    return "--nft", json.dumps(expression, sort_keys=True)
