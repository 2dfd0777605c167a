"""The versions of records: what each brought, and how what earlier ones hold is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dunnage.model.open_load import Refusal

RECORD_VERSION = 17
"""1: first. 2: over capacity, and searches. 3: the network at the uplink, inner devices
apart; a negative control of each stay. 4: gates keep readings and no sentences. 5: a negative
control after each turn; probes keep no sentences; a reading has a member beside its host. 6: probes
no longer keep the growth of a backlog, which nothing read. 7: a stay has the names of its endpoint,
late addresses, network paths, and what was held still. 8: members whose processes their hosts do
not see, with the reason. 9: restarts of the programs of a lab's Kubernetes. 10: how long a run
waited for the database to settle. 11: for how long the generator was at its limit; operations
that were late, never started or left out. 12: when each engine of a load began, and how far
apart. 13: how records were kept, consistency and encryption as the generator tells them, whether
it may have been the limit, records compared, and operations under way when a window ended.
14: soft interrupts by networks. 15: rules for packets in force on hosts, and what a client is.
16: the ports of members. 17: which member has which ports."""


def probe_from_earlier(given: Any) -> Any:
    """A probe of any version as this one has it.

    Records before version 5 hold a sentence in `why_not`, before version 6 a slope.
    """
    if not isinstance(given, Mapping):
        return given
    known = {key: value for key, value in given.items() if key != "backlog_slope"}
    if "why_not" in known:
        sentence = known.pop("why_not")
        known["refusals"] = [Refusal(what="sentence", value=sentence)] * bool(sentence)
    return known
