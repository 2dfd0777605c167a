"""Who else was busy on the machine while a run went on."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.contracts.testbed import OtherProcess, SeesOthers, Testbed

Seen = Mapping[tuple[int, int], OtherProcess]


def seen(testbed: Testbed) -> Seen:
    """The processes that belong to no host; none where the testbed does not see them."""
    return testbed.others() if isinstance(testbed, SeesOthers) else {}


def busy(before: Seen, after: Seen, seconds: float) -> Mapping[str, float]:
    """Name → processors that all processes of that name kept busy meanwhile.

    What had ended by then is known only by its parent, and only if that waited for it.
    """
    used: dict[str, float] = {}
    for who, process in after.items():
        earlier = before[who].cpu if who in before else 0.0
        share = max(0.0, process.cpu - earlier) / seconds
        used[process.name] = used.get(process.name, 0.0) + share
    return used
