"""Facts of several hosts as one table."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.value import Scalar


def agreed(facts_by_host: Mapping[str, Mapping[str, Scalar]]) -> dict[str, Scalar]:
    """Merge host → facts into facts; where hosts differ, the value names each host's own."""
    merged: dict[str, Scalar] = {}
    for name in dict.fromkeys(name for facts in facts_by_host.values() for name in facts):
        by_host = {host: facts.get(name) for host, facts in facts_by_host.items()}
        values = list(dict.fromkeys(by_host.values()))
        merged[name] = (
            values[0]
            if len(values) == 1
            else ", ".join(f"{host}: {value}" for host, value in by_host.items())
        )
    return merged
