"""Events of the journal by which a reader knows what must be there."""

from __future__ import annotations

KEPT = "kept"
"""Files that are about to be written, with their checksums."""
FINISHED = "run finished"
"""A run has its record."""
ADDED = "blocks added"
"""The plan of a number exists, and the look that led to it."""
OPENED = "testbed open"
"""A study begins, or goes on."""
