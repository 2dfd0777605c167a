"""What must be said where stays started with a snapshot of loaded data, as sentences."""

from __future__ import annotations

from dunnage.model.analysis import Analysis
from dunnage.wording import numbers, terms


def restored(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each snapshot; none where every stay put its records in."""
    return tuple(
        f"{terms.listed([terms.plain(name) for name in found.stays])}: data restored from a "
        f"snapshot made in stay `{terms.plain(found.made_in)}` "
        f"({numbers.count(sum(found.stays.values()), 'stay')}), so servers start as after a restart"
        for found in analysis.restored
    )
