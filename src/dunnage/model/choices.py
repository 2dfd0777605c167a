"""The words between which a study file chooses."""

from __future__ import annotations

from enum import StrEnum


class Cores(StrEnum):
    """Who has which of a machine's processors in a lab."""

    APART = "apart"
    """Clients have processors of their own, so that they cannot slow the servers they measure."""
    SHARED = "shared"
    """All hosts have all processors: a client's work is then part of what is measured."""


class Storage(StrEnum):
    """What a member's data lies on."""

    BIND = "bind"
    """A directory of the host; natively that directory itself."""
    VOLUME = "volume"
    """A local volume of the platform."""
    CONTAINER = "container"
    """The container's own file system (overlay2)."""
    TMPFS = "tmpfs"
    """Memory; gone with the member."""


class Peers(StrEnum):
    """Which address members use among themselves."""

    DIRECT = "direct"
    """Each other's own addresses."""
    ENDPOINT = "endpoint"
    """The addresses that clients use."""


class ClientPlace(StrEnum):
    """Where the generator runs, on the client's own host either way."""

    HOST = "host"
    """Directly on that host."""
    CONTAINER = "container"
    """In a container on that host."""


class Phase(StrEnum):
    """Which phase of a workload is measured."""

    LOAD = "load"
    """Putting the records in."""
    RUN = "run"
    """The workload's own mix of operations."""


class Arrivals(StrEnum):
    """How the intended starts of an open load are spaced."""

    CONSTANT = "constant"
    """Evenly."""
    POISSON = "poisson"
    """At random, as many users who know nothing of one another would."""


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
