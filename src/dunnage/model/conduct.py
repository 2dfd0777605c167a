"""How a study is carried out, where its file chooses between a few words."""

from __future__ import annotations

from enum import StrEnum


class Data(StrEnum):
    """How the records come into a deployment."""

    LOAD = "load"
    """Every stay puts them in."""
    RESTORE = "restore"
    """They are put in once, in a stay of its own, and every measured stay starts with a copy of the
    files. Its servers are then as after a restart, in every deployment alike."""


class Order(StrEnum):
    """Order of workloads and levels inside a stay."""

    RANDOM = "random"
    """Shuffled, so that time is no cause."""
    PUBLISHED = "published"
    """As written, levels ascending: for repeating a published study."""


class Unavailable(StrEnum):
    """What to do with a deployment that cannot run here."""

    REFUSE = "refuse"
    """Nothing is started, and the reason is told."""
    SKIP = "skip"
    """It is left out, and reported as skipped with the reason."""
