"""Rules for packets that are in force on the hosts of a stay, whoever made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dunnage.contracts.host import Host
from dunnage.contracts.substrate import Substrate, TellsRules
from dunnage.errors import HostLostError, RunError


def rules_on(hosts: Iterable[Host], substrates: Iterable[Substrate]) -> Mapping[str, int]:
    """Host → how many, as that substrate counts them which sees most, of those with a part there.

    Each counts all of a host's, whoever made them, but its tools may not see every kind. Hosts of
    which nobody tells are left out: no stay fails by that.
    """
    able = [each for each in substrates if isinstance(each, TellsRules)]
    found = ((host.name, _told(host, able)) for host in hosts)
    return {name: count for name, count in found if count is not None}


def _told(host: Host, able: Iterable[TellsRules]) -> int | None:
    try:
        counts = [count for each in able if (count := each.rules(host.name)) is not None]
    except (HostLostError, RunError):
        return None
    return max(counts, default=None)
