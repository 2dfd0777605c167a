"""Why numbers are absent, as sentences."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import AbsentMetric
from dunnage.wording import terms


def metrics(absent: Iterable[AbsentMetric]) -> tuple[str, ...]:
    """Each reason once: `docker: its host does not see … (CPU per operation)`."""
    return tuple(
        f"{terms.listed(list(dict.fromkeys(terms.plain(found.deployment) for found in every)))}: "
        f"{terms.plain(reason)} "
        f"({', '.join(dict.fromkeys(terms.phrase(found.metric) for found in every))})"
        for reason, every in grouped(absent, lambda found: found.reason).items()
    )
