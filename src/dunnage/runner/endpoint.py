"""The addresses that a database's endpoint stands for, as they are resolved where clients run."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping, Sequence

from dunnage.contracts.host import Host
from dunnage.errors import TO_LOOK, StayError
from dunnage.model.layout import Address, Target

_SECONDS = 30.0
"""For the resolver, which gives up earlier and says why."""


def resolved(target: Target, clients: Sequence[Host]) -> Mapping[str, tuple[str, ...]]:
    """Name → addresses, of all names in the endpoint; clients must agree on them.

    Raises StayError where a name means nothing on a client, or means another address on another.
    """
    names = sorted({each.host for each in target.endpoint if not _is_number(each.host)})
    if not names:
        return {}
    found = {client.name: _resolve(client, names) for client in clients}
    first, *others = found.items()
    for name, addresses in others:
        if addresses != first[1]:
            raise StayError(
                f"names of the endpoint mean other addresses than on `{first[0]}`: "
                f"{addresses} and {first[1]}",
                where=name,
                hint=TO_LOOK,
            )
    return first[1]


def allowed(target: Target, names: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Every `address:port` that a connection may go to."""
    return frozenset(
        str(Address(host, each.port))
        for each in target.endpoint
        for host in names.get(each.host, (each.host,))
    )


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _resolve(client: Host, names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    asked = client.run([client.engine, "resolve", *names], timeout=_SECONDS, unit="resolve")
    if asked.code != 0:
        raise StayError(
            f"the endpoint has no address here: {asked.stderr.strip()}",
            where=client.name,
            hint=TO_LOOK,
        )
    answers: Mapping[str, Sequence[str]] = json.loads(asked.stdout)
    return {name: tuple(sorted(addresses)) for name, addresses in answers.items()}
