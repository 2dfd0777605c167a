"""How long and how full a run must be: with less, no gate can tell whether the database is steady.

Then the run is not valid whatever happens, and that is known before anything starts. Pure.
"""

from __future__ import annotations

import math

from dunnage.model.load import STEADY_OPERATIONS, STEADY_WINDOWS, WINDOW
from dunnage.units import duration

LEAST_SECONDS = round(STEADY_WINDOWS * WINDOW, 3)
"""Seconds of a run that may be valid."""
LEAST_OPERATIONS = STEADY_WINDOWS * STEADY_OPERATIONS
"""Operations of a run that may be valid, however long it is."""
_ROUNDING = 1e-6


def operations_needed(seconds: float) -> int:
    """Operations of a run of at least `LEAST_SECONDS`.

    Neighbouring windows are joined until they hold enough operations, and as many as are needed
    must be left then.
    """
    windows = math.floor(seconds / WINDOW + _ROUNDING)
    return math.ceil(STEADY_OPERATIONS * windows / (windows // STEADY_WINDOWS) - _ROUNDING)


def never_valid(rate: float, seconds: float) -> str:
    """Why no run at this rate could be valid, as a sentence; empty where one could."""
    operations = math.floor(rate * seconds + _ROUNDING)
    said = f"{operations:,} operation{'' if operations == 1 else 's'}"
    if seconds < LEAST_SECONDS:
        least = duration(LEAST_SECONDS)
        return f"{said} at {rate:g} op/s take {seconds:.2g} s; a run is valid from {least} on"
    needed = operations_needed(seconds)
    if operations >= needed:
        return ""
    return (
        f"a run of {duration(seconds)} at {rate:g} op/s has {said}; fewer than {needed} cannot "
        "tell whether the database is steady, so no run would be valid"
    )
