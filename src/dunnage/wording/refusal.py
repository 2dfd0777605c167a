"""Why one load of a search was not sustained, in words."""

from __future__ import annotations

from collections.abc import Iterable

from dunnage.model.metrics import METRICS
from dunnage.model.open_load import Refusal
from dunnage.units import duration, percent
from dunnage.wording import terms


def refused(refusals: Iterable[Refusal]) -> str:
    """Every reason: `80.0 % of the offered rate; errors`."""
    return "; ".join(map(_reason, refusals))


def _reason(refusal: Refusal) -> str:
    what, value, most = refusal.what, refusal.value, refusal.most
    if isinstance(value, str):
        return terms.plain(value)
    if value is None:
        return f"{'the offered rate' if what == 'offered' else what} is not known"
    if what == "achieved":
        return f"{percent(value)} of the offered rate"
    if what == "backlog.slope":
        return f"a backlog that grows by {duration(value)} a second"
    if what not in METRICS or most is None:
        return terms.plain(what)
    scale, unit = METRICS[what].scale, METRICS[what].unit
    return f"{what} {value * scale:.3g} {unit}, over {most * scale:g} {unit}"
