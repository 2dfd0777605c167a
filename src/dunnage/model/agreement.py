"""Facts of several hosts as one table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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


def by_host(fact: str, hosts: Iterable[str]) -> dict[str, str]:
    """What `agreed` merged, apart again: host → its own value; under `""` a value that all share.

    `hosts` are the names that a value may begin with.
    """
    names = "|".join(map(re.escape, hosts))
    own = list(re.finditer(rf"(?:^|, )({names}): ", fact)) if names else []
    if not own or own[0].start() > 0:
        return {"": fact}
    ends = [*(each.start() for each in own[1:]), len(fact)]
    return {each[1]: fact[each.end() : end] for each, end in zip(own, ends, strict=True)}
