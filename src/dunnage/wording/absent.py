"""Why numbers are absent, as sentences."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.analysis.groups import grouped
from dunnage.model.analysis import AbsentMetric
from dunnage.wording import terms


def metrics(absent: Iterable[AbsentMetric]) -> tuple[str, ...]:
    """Each reason once: `CPU per operation (database hosts) of docker: its host does not see …`."""
    return tuple(
        f"{_listed(terms.phrase(found.metric) for found in every)} of "
        f"{_listed(terms.plain(found.deployment) for found in every)}: {terms.plain(reason)}"
        for reason, every in grouped(absent, lambda found: found.reason).items()
    )


def _listed(names: Iterable[str]) -> str:
    return terms.listed(list(dict.fromkeys(names)))
