"""The choices of a study file."""

from __future__ import annotations

from enum import StrEnum


class Cores(StrEnum):
    """How clients and database hosts divide the machine's processors."""

    APART = "apart"
    """Clients have their own processors, so they cannot slow down the servers that they measure."""
    SHARED = "shared"
    """All hosts share all processors. The work of clients then affects what is measured."""


class Storage(StrEnum):
    """Where a member stores its data."""

    BIND = "bind"
    """A directory of the host, mounted into a container or used directly."""
    VOLUME = "volume"
    """A local volume of the platform."""
    CONTAINER = "container"
    """The container's own file system (overlay2)."""
    TMPFS = "tmpfs"
    """Memory; lost when the member stops."""


class Peers(StrEnum):
    """Which address members use among themselves."""

    DIRECT = "direct"
    """Each other's own addresses."""
    ENDPOINT = "endpoint"
    """The addresses that clients use."""


class ClientPlace(StrEnum):
    """Where the generator runs on the client's host."""

    HOST = "host"
    """As a process of the host."""
    CONTAINER = "container"
    """In a container on the host."""


class ClientKind(StrEnum):
    """What a load generator is, seen from the client's host."""

    PROCESS = "a process of the host"
    CONTAINERS = "a container for each program"
    IN_NETWORK = "a process of the host in the network of a pod"
    POD = "a pod"


class Phase(StrEnum):
    """Which phase of a workload is measured."""

    LOAD = "load"
    """Loading the records."""
    RUN = "run"
    """The workload's own mix of operations."""


class Arrivals(StrEnum):
    """How the intended starts of an open load are spaced."""

    CONSTANT = "constant"
    """At equal intervals."""
    POISSON = "poisson"
    """At random, like the requests of many independent users."""


class Data(StrEnum):
    """How a deployment gets its records."""

    LOAD = "load"
    """Every stay loads them."""
    RESTORE = "restore"
    """One extra stay loads them, and every measured stay starts with a copy of the files. The
    servers then start as after a restart, in all deployments."""


class Order(StrEnum):
    """Order of workloads and levels inside a stay."""

    RANDOM = "random"
    """Random, so that drift over time does not favour one level or workload."""
    PUBLISHED = "published"
    """As written, with ascending levels: to repeat a published study."""


class Unavailable(StrEnum):
    """What to do with a deployment that cannot run here."""

    REFUSE = "refuse"
    """Nothing starts; the error gives the reason."""
    SKIP = "skip"
    """It is left out; the report gives the reason."""
